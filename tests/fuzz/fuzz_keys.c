// SPDX-License-Identifier: GPL-2.0-or-later
/* Fuzzes terminal input: characters become keys whose names parse to the same keys; clicks may come at any
 * time. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "ui/action.h"
#include "ui/term_keys.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct term_click last = { 0 };
    struct term_mouse reported = { 0 };
    char text[64];
    size_t n = size < sizeof text ? size : sizeof text - 1;
    memcpy(text, data, n);
    text[n] = '\0';
    if (term_parse_mouse(text, &reported) && (reported.x < 0 || reported.y < 0))
        abort();
    for (size_t i = 0; i < size;) {
        uint32_t c, again;
        char name[16];
        i += text_decode((const char *)data + i, size - i, &c);
        uint32_t key = term_key_of_character(c);
        key_name(key, name);
        if (!memchr(name, 0, sizeof name))
            abort();
        if (key_parse(name, &again) && again != key)
            abort();
        struct term_mouse mouse = { .y = (int)(c & 7), .x = (int)(c >> 3 & 7) };
        (void)term_click_is_double(&last, &mouse, (uint64_t)c << (c & 31));
    }
    return 0;
}
