// SPDX-License-Identifier: GPL-2.0-or-later
/* Prints IP addresses. */
#ifndef FLAMETOP_BASE_ADDRESS_H
#define FLAMETOP_BASE_ADDRESS_H

#include <stddef.h>

#define ADDRESS_TEXT_MAX 64

/* Prints 4 or 16 bytes in network order, an IPv4 address within IPv6 (::ffff:10.0.0.5) as IPv4: "10.0.0.5",
 * "fe80::1". With a port: "10.0.0.5:443", "[fe80::1]:443"; -1: none. Other sizes give "". Returns text. */
char *address_text(char text[ADDRESS_TEXT_MAX], const void *bytes, size_t n, int port);

#endif
