// SPDX-License-Identifier: GPL-2.0-or-later
/* Descriptions of terminals inside the program, for machines whose terminfo lacks this one, or that have none at all. */
#pragma once

struct term_type {
    const char *name;     /* of the description, which is what ncurses has to be asked for */
    const char *terminfo; /* compiled, as text that ncurses takes as the value of TERMINFO */
};

/* The description for TERM=type: its own, or that of the terminal that it imitates. NULL: there is none. What is returned
 * lives as long as the program. */
const struct term_type *term_type_find(const char *type);
