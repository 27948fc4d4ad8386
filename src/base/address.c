// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/address.h"

#include <arpa/inet.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define V4_BYTES 4
#define V6_BYTES 16

char *address_text(char text[ADDRESS_TEXT_MAX], const void *bytes, size_t n, int port)
{
    static const uint8_t within_v6[V6_BYTES - V4_BYTES] = { [10] = 0xff, [11] = 0xff };
    const uint8_t *at = bytes;
    char address[INET6_ADDRSTRLEN] = "";
    if (n == V6_BYTES && !memcmp(at, within_v6, sizeof within_v6)) {
        at += sizeof within_v6;
        n = V4_BYTES;
    }
    bool v6 = n == V6_BYTES;
    *text = '\0';
    if ((n != V4_BYTES && !v6) || !inet_ntop(v6 ? AF_INET6 : AF_INET, at, address, sizeof address))
        return text;
    if (port < 0)
        (void)snprintf(text, ADDRESS_TEXT_MAX, "%s", address);
    else
        (void)snprintf(text, ADDRESS_TEXT_MAX, v6 ? "[%s]:%d" : "%s:%d", address, port);
    return text;
}
