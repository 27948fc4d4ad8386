// SPDX-License-Identifier: GPL-2.0-or-later
#include <string.h>

#include "ui/prompt.h"
#include "ui/term.h"
#include "unit_test.h"

static void type_text(struct prompt *p, const char *ascii)
{
    for (; *ascii; ascii++)
        assert_int_equal(prompt_key(p, (uint32_t)*ascii), PROMPT_CHANGED);
}

TEST(typing_inserts_at_the_cursor)
{
    struct prompt p = { 0 };
    type_text(&p, "ac");
    assert_int_equal(prompt_key(&p, TK_LEFT), PROMPT_MOVED);
    type_text(&p, "b");
    assert_string_equal(p.text, "abc");
    assert_int_equal(p.at, 2);
}

TEST(multibyte_characters_move_and_are_deleted_as_one)
{
    struct prompt p = { 0 };
    prompt_set(&p, "x");
    assert_int_equal(prompt_key(&p, 0xe9), PROMPT_CHANGED);
    assert_int_equal(prompt_key(&p, 0x65e5), PROMPT_CHANGED);
    assert_int_equal(prompt_key(&p, 0x1f525), PROMPT_CHANGED);
    assert_string_equal(p.text, "xé日🔥");
    prompt_key(&p, TK_LEFT);
    prompt_key(&p, TK_BACKSPACE);
    assert_string_equal(p.text, "xé🔥");
    prompt_key(&p, TK_DELETE);
    assert_string_equal(p.text, "xé");
    prompt_key(&p, TK_BACKSPACE);
    assert_string_equal(p.text, "x");
}

TEST(control_keys_edit_like_a_shell)
{
    struct prompt p = { 0 };
    prompt_set(&p, "one two  ");
    assert_int_equal(prompt_key(&p, 23), PROMPT_CHANGED); /* ^W */
    assert_string_equal(p.text, "one ");
    prompt_key(&p, 1); /* ^A */
    type_text(&p, "x");
    assert_string_equal(p.text, "xone ");
    prompt_key(&p, 11); /* ^K */
    assert_string_equal(p.text, "x");
    prompt_key(&p, 5);  /* ^E */
    prompt_key(&p, 21); /* ^U */
    assert_string_equal(p.text, "");
    assert_int_equal(prompt_key(&p, TK_BACKSPACE), PROMPT_IGNORED);
}

TEST(unprintable_characters_cannot_be_typed)
{
    struct prompt p = { 0 };
    assert_int_equal(prompt_key(&p, 0x202e), PROMPT_IGNORED); /* right-to-left override */
    assert_int_equal(prompt_key(&p, 0x9b), PROMPT_IGNORED);   /* C1: CSI */
    assert_int_equal(prompt_key(&p, 2), PROMPT_IGNORED);
    assert_string_equal(p.text, "");
}

TEST(the_line_stays_within_its_buffer)
{
    struct prompt p = { 0 };
    for (int i = 0; i < 1000; i++)
        prompt_key(&p, 0x65e5);
    assert_true(p.len < sizeof p.text);
    assert_int_equal(p.len % 3, 0);
    assert_int_equal(strlen(p.text), p.len);
}

TEST(enter_accepts_and_escape_cancels)
{
    struct prompt p = { 0 };
    assert_int_equal(prompt_key(&p, TK_ENTER), PROMPT_ACCEPT);
    assert_int_equal(prompt_key(&p, TK_ESC), PROMPT_CANCEL);
}

TEST(typing_replaces_the_proposed_text)
{
    struct prompt p = { 0 };
    prompt_propose(&p, "99");
    assert_true(p.selected);
    type_text(&p, "4");
    assert_string_equal(p.text, "4");
    assert_false(p.selected);
    type_text(&p, "97");
    assert_string_equal(p.text, "497");
}

TEST(the_proposed_text_is_deleted_at_once_or_edited)
{
    struct prompt p = { 0 };
    prompt_propose(&p, "a.data");
    assert_int_equal(prompt_key(&p, TK_BACKSPACE), PROMPT_CHANGED);
    assert_string_equal(p.text, "");
    prompt_propose(&p, "a.data");
    assert_int_equal(prompt_key(&p, TK_HOME), PROMPT_MOVED);
    type_text(&p, "x");
    assert_string_equal(p.text, "xa.data");
    prompt_propose(&p, "");
    assert_false(p.selected);
}

TEST_MAIN(NULL, NULL)
