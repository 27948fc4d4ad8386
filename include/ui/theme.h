// SPDX-License-Identifier: GPL-2.0-or-later
/* Themes: colours and attributes for every style, read from INI files:
 *     [styles]       cursor = black on cyan bold      fg [on bg] [bold] [dim] [reverse] [underline]
 *     [styles.8]     the same, for terminals with fewer than 256 colours
 *     [styles.mono]  the same, without colours
 * Colours: default, black … white, bright-black … bright-white, 0 … 255, #rrggbb. Styles that a file does
 * not set are as in the built-in theme (style.def). */
#ifndef FLAMETOP_UI_THEME_H
#define FLAMETOP_UI_THEME_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "ui/theme_color.h"

enum style {
#define STYLE(id, name, rich, eight, mono) STYLE_##id,
#include "ui/style.def"
#undef STYLE
    STYLE_COUNT
};

enum theme_depth { THEME_256, THEME_8, THEME_MONO, THEME_DEPTHS };
enum theme_attribute { THEME_BOLD = 1, THEME_DIM = 2, THEME_REVERSE = 4, THEME_UNDERLINE = 8 };
struct theme_style {
    int32_t fg, bg; /* as in theme_color.h; in THEME_8: -1 to 7 */
    uint8_t attributes;
};
struct theme {
    char name[64];
    struct theme_style styles[THEME_DEPTHS][STYLE_COUNT];
};

#define THEME_DEFAULT "default"

void theme_builtin(struct theme *t);
/* Loads a theme by name ("light": from $XDG_CONFIG_HOME/flametop/themes, the installed themes, or those in
 * the program) or by path (with a '/'). NULL: "default". The error for an unknown name lists all themes. */
bool theme_load(struct theme *t, const char *name, struct error *e);
/* text: of a theme file */
bool theme_parse(struct theme *t, const char *label, const char *text, struct error *e);
/* Lists the names of all themes, sorted and unique, default first. The caller frees *names with mem_free
 * (one block). */
uint32_t theme_list(char (**names)[64]);

#endif
