// SPDX-License-Identifier: GPL-2.0-or-later
#include "ui/term_types.h"

#include <stddef.h>
#include <string.h>

/* Written by the Makefile from the build system's terminfo database; without it the table is empty. */
static const struct term_type types[] = {
#if __has_include("terminfo_text.h")
#include "terminfo_text.h"
#endif
    { NULL, NULL }
};

/* The description for types that imitate another terminal, by prefix; the first match is used. */
static const struct {
    const char *prefix, *name;
} alike[] = {
    { "xterm", "xterm-256color" },
    { "screen", "screen-256color" },
    { "tmux", "tmux-256color" },
    { "linux", "linux" },
    { "rxvt", "rxvt" },
    { "vt1", "vt100" },
    { "vt", "vt220" },
    { "alacritty", "xterm-256color" },
    { "contour", "xterm-256color" },
    { "foot", "xterm-256color" },
    { "gnome", "xterm-256color" },
    { "iterm", "xterm-256color" },
    { "kitty", "xterm-256color" },
    { "konsole", "xterm-256color" },
    { "putty", "xterm-256color" },
    { "st-", "xterm-256color" },
    { "vte", "xterm-256color" },
    { "wezterm", "xterm-256color" },
};

static const struct term_type *find(const char *name)
{
    for (const struct term_type *t = types; t->name; t++)
        if (strcmp(t->name, name) == 0)
            return t;
    return NULL;
}

const struct term_type *term_type_find(const char *type)
{
    const struct term_type *own = find(type);
    for (size_t i = 0; !own && i < sizeof alike / sizeof *alike; i++)
        if (strncmp(type, alike[i].prefix, strlen(alike[i].prefix)) == 0)
            own = find(alike[i].name);
    return own;
}
