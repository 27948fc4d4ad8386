// SPDX-License-Identifier: GPL-2.0-or-later
#include "ui/theme.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/ini.h"
#include "base/mem.h"
#include "base/text.h"

#ifndef FLAMETOP_THEME_DIR
#define FLAMETOP_THEME_DIR "/usr/local/share/flametop/themes"
#endif

static const struct {
    const char *name, *spec[THEME_DEPTHS];
} style_table[STYLE_COUNT] = {
#define STYLE(id, name, rich, eight, mono) { name, { rich, eight, mono } },
#include "ui/style.def"
#undef STYLE
};
static const char *const depth_sections[THEME_DEPTHS] = { "styles", "styles.8", "styles.mono" };

static const char *const color_names[] = { "black", "red",     "green", "yellow",
                                           "blue",  "magenta", "cyan",  "white" };
#define N_COLORS 8

/* --- parsing styles --- */

static bool parse_color(const char *word, int32_t *color)
{
    uint64_t n;
    *color = -1;
    if (strcmp(word, "default") == 0)
        return true;
    bool bright = strncmp(word, "bright-", 7) == 0;
    for (int i = 0; i < N_COLORS; i++) {
        if (strcmp(bright ? word + 7 : word, color_names[i]) == 0) {
            *color = bright ? i + 8 : i;
            return true;
        }
    }
    if (word[0] == '#' && strlen(word) == 7 && strspn(word + 1, "0123456789abcdefABCDEF") == 6) {
        *color = THEME_RGB | (int32_t)strtol(word + 1, NULL, 16);
        return true;
    }
    if (!text_parse_u64(word, 0, 255, &n))
        return false;
    *color = (int32_t)n;
    return true;
}

static unsigned parse_attribute(const char *word)
{
    static const char *const names[] = { "bold", "dim", "reverse", "underline" };
    for (unsigned i = 0; i < 4; i++)
        if (strcmp(word, names[i]) == 0)
            return 1u << i;
    return 0;
}

static bool parse_style(const char *spec, struct theme_style *s, struct error *e)
{
    char words[128], *save = NULL;
    bool background = false;
    *s = (struct theme_style){ -1, -1, 0 };
    text_clean(words, sizeof words, spec, strlen(spec));
    for (char *w = strtok_r(words, " \t", &save); w; w = strtok_r(NULL, " \t", &save)) {
        unsigned attribute = parse_attribute(w);
        if (attribute) {
            s->attributes |= (uint8_t)attribute;
        } else if (strcmp(w, "on") == 0 && !background) {
            background = true;
        } else if (!parse_color(w, background ? &s->bg : &s->fg)) {
            return error_set(e, ERROR_ARGUMENT,
                             "\"%s\" is no colour or attribute: colours are default, black to white, "
                             "bright-black to bright-white, 0-255, "
                             "#rrggbb; attributes are bold, dim, reverse, underline",
                             w);
        }
    }
    return true;
}

/* --- fewer colours --- */

static struct theme_style style_to_8(struct theme_style s)
{
    /* a bright colour */
    if (s.fg >= 8 && s.fg < 16)
        s.attributes |= THEME_BOLD;
    s.fg = theme_color_8(s.fg);
    s.bg = theme_color_8(s.bg);
    if (s.fg >= 0 && s.fg == s.bg)
        s.fg = s.bg == 0 ? 7 : 0;
    return s;
}

static struct theme_style style_to_mono(struct theme_style s)
{
    if (s.bg >= 0)
        s.attributes |= THEME_REVERSE;
    s.fg = s.bg = -1;
    return s;
}

/* --- themes --- */

void theme_builtin(struct theme *t)
{
    memset(t, 0, sizeof *t);
    (void)snprintf(t->name, sizeof t->name, "%s", THEME_DEFAULT);
    for (int i = 0; i < STYLE_COUNT; i++) {
        const char *const *spec = style_table[i].spec;
        (void)parse_style(spec[THEME_256], &t->styles[THEME_256][i], NULL);
        t->styles[THEME_8][i] = style_to_8(t->styles[THEME_256][i]);
        if (*spec[THEME_8])
            (void)parse_style(spec[THEME_8], &t->styles[THEME_8][i], NULL);
        (void)parse_style(spec[THEME_MONO], &t->styles[THEME_MONO][i], NULL);
    }
}

struct parser {
    struct theme *theme;
    bool seen[THEME_DEPTHS][STYLE_COUNT];
};

static int find_style(const char *name)
{
    for (int i = 0; i < STYLE_COUNT; i++)
        if (strcmp(name, style_table[i].name) == 0)
            return i;
    return -1;
}

static bool unknown_style(const char *key, struct error *e)
{
    const char *names[STYLE_COUNT];
    for (int i = 0; i < STYLE_COUNT; i++)
        names[i] = style_table[i].name;
    int near = text_nearest(key, names, STYLE_COUNT);
    error_set(e, ERROR_ARGUMENT, "unknown style \"%s\"", key);
    return near >= 0 ? error_hint(e, "did you mean \"%s\"?", names[near]) : false;
}

static bool on_setting(void *ctx, const char *section, const char *key, const char *value, struct error *e)
{
    struct parser *p = ctx;
    if (strcmp(section, "theme") == 0) {
        if (strcmp(key, "name") != 0)
            return error_set(e, ERROR_ARGUMENT, "unknown key \"%s\" in [theme]: only name is known", key);
        text_clean(p->theme->name, sizeof p->theme->name, value, strlen(value));
        return true;
    }
    for (int depth = 0; depth < THEME_DEPTHS; depth++) {
        if (strcmp(section, depth_sections[depth]) != 0)
            continue;
        int style = find_style(key);
        if (style < 0)
            return unknown_style(key, e);
        p->seen[depth][style] = true;
        return parse_style(value, &p->theme->styles[depth][style], e);
    }
    return error_set(e, ERROR_ARGUMENT,
                     "unknown section [%s]: there are [theme], [styles], [styles.8], [styles.mono]", section);
}

/* Derives the styles that a file sets for 256 colours only. */
static void derive(struct parser *p)
{
    for (int i = 0; i < STYLE_COUNT; i++) {
        if (!p->seen[THEME_256][i])
            continue;
        if (!p->seen[THEME_8][i])
            p->theme->styles[THEME_8][i] = style_to_8(p->theme->styles[THEME_256][i]);
        if (!p->seen[THEME_MONO][i])
            p->theme->styles[THEME_MONO][i] = style_to_mono(p->theme->styles[THEME_256][i]);
    }
}

bool theme_parse(struct theme *t, const char *label, const char *text, struct error *e)
{
    struct theme fresh;
    theme_builtin(&fresh);
    struct parser p = { .theme = &fresh };
    if (!ini_read_text(label, text, on_setting, &p, e))
        return false;
    derive(&p);
    *t = fresh;
    return true;
}

static bool read_theme(struct theme *t, const char *path, struct error *e)
{
    struct buf text = { 0 };
    bool ok = ini_read_file(path, &text, e) && theme_parse(t, path, buf_str(&text), e);
    buf_done(&text);
    return ok;
}

/* --- locations: the user's folder, the installed one, and the program itself --- */

struct theme_text {
    const char *name, *text;
};

/* Written by the Makefile from themes/; without it the program has only the default theme. */
static const struct theme_text theme_texts[] = {
#if __has_include("theme_text.h")
#include "theme_text.h"
#endif
    { NULL, NULL }
};

static const char *find_text(const char *name)
{
    for (const struct theme_text *t = theme_texts; t->name; t++)
        if (strcmp(t->name, name) == 0)
            return t->text;
    return NULL;
}

static bool theme_dir(int which, char *dst, size_t cap)
{
    if (which == 0)
        return ini_user_path("themes", dst, cap);
    return (size_t)snprintf(dst, cap, "%s", FLAMETOP_THEME_DIR) < cap;
}

static bool theme_file(const char *name, char *path, size_t cap)
{
    char dir[3800];
    for (int which = 0; which < 2; which++) {
        if (!theme_dir(which, dir, sizeof dir))
            continue;
        int n = snprintf(path, cap, "%s/%s.theme", dir, name);
        if (n > 0 && (size_t)n < cap && access(path, F_OK) == 0)
            return true;
    }
    return false;
}

static bool unknown_theme(const char *name, struct error *e)
{
    char safe[64], (*names)[64];
    struct buf all = { 0 };
    uint32_t n = theme_list(&names);
    for (uint32_t i = 0; i < n; i++)
        buf_printf(&all, "%s%s", i ? ", " : "", names[i]);
    text_clean(safe, sizeof safe, name, strlen(name));
    error_set(e, ERROR_MISSING, "unknown theme \"%s\": there are %s", safe, buf_str(&all));
    buf_done(&all);
    mem_free(names);
    return false;
}

static bool load_by_name(struct theme *t, const char *name, struct error *e)
{
    char path[4096];
    const char *text = find_text(name);
    if (theme_file(name, path, sizeof path))
        return read_theme(t, path, e);
    if (text)
        return theme_parse(t, name, text, e);
    if (strcmp(name, THEME_DEFAULT) != 0)
        return unknown_theme(name, e);
    theme_builtin(t);
    return true;
}

bool theme_load(struct theme *t, const char *name, struct error *e)
{
    if (!name)
        name = THEME_DEFAULT;
    if (strchr(name, '/'))
        return read_theme(t, name, e);
    if (!load_by_name(t, name, e))
        return false;
    /* setup finds the theme again by this name */
    (void)text_clean(t->name, sizeof t->name, name, strlen(name));
    return true;
}

static int compare_names(const void *a, const void *b)
{
    bool first_a = strcmp(a, THEME_DEFAULT) == 0, first_b = strcmp(b, THEME_DEFAULT) == 0;
    return first_a != first_b ? first_b - first_a : strcmp(a, b);
}

struct names {
    VEC(char[64]);
};

static void add_name(struct names *names, const char *name, size_t len)
{
    char clean[64];
    text_clean(clean, sizeof clean, name, len);
    for (size_t i = 0; i < names->n; i++)
        if (strcmp(names->items[i], clean) == 0)
            return;
    memcpy(VEC_PUSH(names), clean, sizeof clean);
}

static void add_names_of(struct names *names, const char *dir)
{
    DIR *d = opendir(dir);
    for (struct dirent *entry; d && (entry = readdir(d)) != NULL && names->n < 200;) {
        const char *dot = strrchr(entry->d_name, '.');
        if (dot && dot > entry->d_name && strcmp(dot, ".theme") == 0)
            add_name(names, entry->d_name, (size_t)(dot - entry->d_name));
    }
    if (d)
        (void)closedir(d);
}

uint32_t theme_list(char (**list)[64])
{
    struct names names = { 0 };
    char dir[3800];
    add_name(&names, THEME_DEFAULT, strlen(THEME_DEFAULT));
    for (const struct theme_text *t = theme_texts; t->name; t++)
        add_name(&names, t->name, strlen(t->name));
    for (int which = 0; which < 2; which++)
        if (theme_dir(which, dir, sizeof dir))
            add_names_of(&names, dir);
    qsort(names.items, names.n, sizeof *names.items, compare_names);
    *list = names.items;
    return (uint32_t)names.n;
}
