// SPDX-License-Identifier: GPL-2.0-or-later
/* Colours of themes: conversion between 256 colours, 8 colours and RGB; shades of a colour.
 * The 256 colours are xterm's: 16 that the terminal defines, a cube of 6x6x6 from 16 on, 24 greys from 232
 * on. */
#ifndef FLAMETOP_UI_THEME_COLOR_H
#define FLAMETOP_UI_THEME_COLOR_H

#include <stdbool.h>
#include <stdint.h>

/* A colour is -1 (the terminal's default), 0 to 255, or THEME_RGB with 0xrrggbb in its lower bits. */
#define THEME_RGB    0x1000000
#define THEME_SHADES 5 /* per colour, including itself */

int32_t theme_color_256(int32_t c);    /* nearest of the 256 colours; -1 stays */
int32_t theme_color_8(int32_t c);      /* nearest of the 8 colours; -1 stays */
int32_t theme_color_direct(int32_t c); /* THEME_RGB, from 8 on; smaller values stay */
/* Returns shade `which` (modulo the number of shades) of a colour: a little lighter, darker, more or less
 * saturated. The hue stays within 6 degrees, so that shades of different hues are not confused. Shade 0 is
 * the colour itself. The terminal's own colours have one shade, because their RGB value is unknown.
 * direct: the result may be RGB. */
int32_t theme_color_shade(int32_t c, uint32_t which, bool direct);

#endif
