// SPDX-License-Identifier: GPL-2.0-or-later
/* libFuzzer target: event names are taken or refused with a message, and nothing worse. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "perf/event.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct event ev;
    struct error e = { 0 };
    char *text = mem_strndup((const char *)data, size);
    if (!event_parse(text, &ev, &e) && !*e.text)
        abort();
    if (strchr(ev.name, '\033') || strchr(e.text, '\033'))
        abort();
    mem_free(text);
    return 0;
}
