// SPDX-License-Identifier: GPL-2.0-or-later
#include "process/device.h"

#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/text.h"

#define UEVENT_MOST 4096
#define NAME_MOST   128

uint32_t device_major(uint64_t dev)
{
    return (uint32_t)(dev >> 20 & 0xfff);
}

uint32_t device_minor(uint64_t dev)
{
    return (uint32_t)(dev & 0xfffff);
}

bool device_put_name(uint64_t dev, struct buf *out)
{
    static const char key[] = "DEVNAME=";
    char path[64], clean[NAME_MOST];
    struct buf text = { 0 };
    (void)snprintf(path, sizeof path, "/sys/dev/block/%u:%u/uevent", device_major(dev), device_minor(dev));
    const char *name = file_read(path, UEVENT_MOST, &text, NULL) ? strstr(buf_str(&text), key) : NULL;
    if (name) {
        name += strlen(key);
        (void)text_clean(clean, sizeof clean, name, strcspn(name, "\n"));
        buf_puts(out, clean);
    }
    buf_done(&text);
    return name;
}
