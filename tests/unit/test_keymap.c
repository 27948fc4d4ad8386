// SPDX-License-Identifier: GPL-2.0-or-later
#include <string.h>

#include "ui/action.h"
#include "ui/term.h"
#include "unit_test.h"

static struct keymap *keymap_with(const char *action, const char *keys)
{
    const struct key_binding b = { action, keys };
    struct error e = { 0 };
    struct keymap *km = keymap_new(&b, 1, &e);
    if (!km)
        print_message("%s\n", e.text);
    assert_non_null(km);
    return km;
}

static void expect_refused(const struct key_binding *b, size_t n, const char *words)
{
    struct error e = { 0 };
    assert_null(keymap_new(b, n, &e));
    if (!strstr(e.text, words))
        print_message("\"%s\" does not contain \"%s\"\n", e.text, words);
    assert_non_null(strstr(e.text, words));
}

TEST(every_default_key_parses_and_is_unique_in_its_scope)
{
    struct keymap *km = keymap_new(NULL, 0, NULL);
    assert_non_null(km);
    for (enum action a = 1; a < ACTION_COUNT; a++) {
        char keys[64], *save = NULL;
        strncpy(keys, action_row(a)->keys, sizeof keys - 1);
        keys[sizeof keys - 1] = '\0';
        for (char *w = strtok_r(keys, " ", &save); w; w = strtok_r(NULL, " ", &save)) {
            uint32_t key;
            assert_true(key_parse(w, &key));
            if (keymap_find(km, action_row(a)->scope, key) != a)
                print_message("%s: key %s has another action\n", action_row(a)->name, w);
            assert_int_equal(keymap_find(km, action_row(a)->scope, key), a);
        }
    }
    keymap_free(km);
}

TEST(view_keys_override_global_keys)
{
    struct keymap *km = keymap_new(NULL, 0, NULL);
    assert_int_equal(keymap_find(km, SCOPE_KEYS_FUNCTIONS, 'c'), ACTION_CGROUP);
    assert_int_equal(keymap_find(km, SCOPE_KEYS_FLAME, 'c'), ACTION_FLAME_COLOUR);
    assert_int_equal(keymap_find(km, SCOPE_KEYS_FLAME, 'C'), ACTION_CGROUP);
    keymap_free(km);
}

TEST(letters_in_pickers_go_to_the_filter)
{
    struct keymap *km = keymap_new(NULL, 0, NULL);
    for (uint32_t key = '!'; key < 127; key++)
        assert_int_equal(keymap_find(km, SCOPE_KEYS_PICKER, key), ACTION_NONE);
    assert_int_equal(keymap_find(km, SCOPE_KEYS_PICKER, TK_ENTER), ACTION_PICK_TAKE);
    keymap_free(km);
}

TEST(a_rebound_action_loses_its_default_keys)
{
    struct keymap *km = keymap_with("freeze", "F11 ^T");
    assert_int_equal(keymap_find(km, SCOPE_KEYS_FUNCTIONS, TK_F11), ACTION_FREEZE);
    assert_int_equal(keymap_find(km, SCOPE_KEYS_FUNCTIONS, 20), ACTION_FREEZE);
    assert_int_equal(keymap_find(km, SCOPE_KEYS_FUNCTIONS, 'z'), ACTION_NONE);
    assert_string_equal(keymap_keys(km, ACTION_FREEZE), "F11 ^T");
    keymap_free(km);
}

TEST(a_user_key_is_removed_from_its_default_action)
{
    struct keymap *km = keymap_with("freeze", "x");
    assert_int_equal(keymap_find(km, SCOPE_KEYS_FUNCTIONS, 'x'), ACTION_FREEZE);
    assert_string_equal(keymap_keys(km, ACTION_CLEAR), "");
    keymap_free(km);
    km = keymap_with("freeze", "/");
    assert_string_equal(keymap_keys(km, ACTION_SEARCH), "F3");
    keymap_free(km);
}

TEST(default_keys_can_be_cleared_but_quit_needs_a_key)
{
    struct keymap *km = keymap_with("clear", "");
    const struct key_binding no_quit = { "quit", "" };
    assert_int_equal(keymap_find(km, SCOPE_KEYS_FUNCTIONS, 'x'), ACTION_NONE);
    keymap_free(km);
    expect_refused(&no_quit, 1, "quit");
}

TEST(invalid_bindings_are_refused_with_the_nearest_name)
{
    const struct key_binding action = { "freze", "z" }, key = { "freeze", "Entr" },
                             none = { "qqqqqqqq", "z" };
    const struct key_binding twice[] = { { "freeze", "F12" }, { "write", "F12" } };
    const struct key_binding many = { "freeze", "1 2 3 4 5 6 7" };
    expect_refused(&action, 1, "\"freeze\"");
    expect_refused(&key, 1, "\"Enter\"");
    expect_refused(&none, 1, "unknown action");
    expect_refused(twice, 2, "two actions");
    expect_refused(&many, 1, "too many");
}

TEST(key_names_are_parsed_and_formatted)
{
    static const char *const names[] = { "F1", "F12", "Space", "S-Tab", "PgUp", "^L", "a", "A", "\\", "?" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        uint32_t key;
        char back[16];
        assert_true(key_parse(names[i], &key));
        key_name(key, back);
        assert_string_equal(back, names[i]);
    }
    uint32_t key;
    assert_true(key_parse("é", &key));
    assert_int_equal(key, 0xe9);
    assert_false(key_parse("^C", &key)); /* a signal */
    assert_false(key_parse("^I", &key)); /* Tab */
    assert_false(key_parse("", &key));
    assert_false(key_parse("ab", &key));
    assert_false(key_parse("F13", &key));
}

TEST(the_manual_lists_every_action)
{
    struct buf mdoc = { 0 }, markdown = { 0 };
    action_document(&mdoc, ACTION_MDOC);
    action_document(&markdown, ACTION_MARKDOWN);
    for (enum action a = 1; a < ACTION_COUNT; a++) {
        assert_non_null(strstr(buf_str(&mdoc), action_row(a)->help));
        assert_non_null(strstr(buf_str(&markdown), action_row(a)->help));
    }
    assert_non_null(strstr(buf_str(&mdoc), "F4 \\e")); /* a roff escape */
    buf_done(&mdoc);
    buf_done(&markdown);
}

TEST_MAIN(NULL, NULL)
