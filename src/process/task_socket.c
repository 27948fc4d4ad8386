// SPDX-License-Identifier: GPL-2.0-or-later
/* Formats: Documentation/networking/proc_net_tcp.rst of the kernel; unix(7) has none. */
#include <stdio.h>
#include <string.h>

#include "base/address.h"
#include "base/text.h"
#include "process/task.h"

#define TEXT       256
#define LISTENING  0x0a /* TCP_LISTEN of include/net/tcp_states.h */
#define HEX_DIGITS 32

/* Each group of 8 digits is 4 bytes as a number of this machine. */
static bool put_address(char *dst, size_t cap, const char *hex, unsigned port)
{
    uint32_t words[4];
    char text[ADDRESS_TEXT_MAX];
    size_t n = strlen(hex) / 8;
    if (strlen(hex) % 8 || (n != 1 && n != 4))
        return false;
    for (size_t i = 0; i < n; i++)
        if (sscanf(hex + 8 * i, "%8x", &words[i]) != 1)
            return false;
    snprintf(dst, cap, "%s", address_text(text, words, n * sizeof *words, (int)port));
    return true;
}

static bool parse_inet(const char *kind, const char *line, unsigned long long *inode, char *dst, size_t cap)
{
    char local[HEX_DIGITS + 1], peer[HEX_DIGITS + 1], from[64], to[64];
    unsigned local_port, peer_port, state;
    if (sscanf(line, "%*[^:]: %32[0-9A-F]:%4x %32[0-9A-F]:%4x %2x %*s %*s %*s %*s %*s %llu", local,
               &local_port, peer, &peer_port, &state, inode) != 6 ||
        !put_address(from, sizeof from, local, local_port) || !put_address(to, sizeof to, peer, peer_port))
        return false;
    if (state == LISTENING)
        snprintf(dst, cap, "%s %s listening", kind, from);
    else if (peer_port)
        snprintf(dst, cap, "%s %s to %s", kind, from, to);
    else
        snprintf(dst, cap, "%s %s", kind, from);
    return true;
}

/* A process chooses the path, in which anything may be. */
static bool parse_unix(const char *kind, const char *line, unsigned long long *inode, char *dst, size_t cap)
{
    char text[TEXT];
    int at = 0;
    if (sscanf(line, "%*[^:]: %*s %*s %*s %*s %*s %llu%n", inode, &at) != 1 || !at)
        return false;
    snprintf(text, sizeof text, "%s%s", kind, line + at);
    text_clean(dst, cap, text, strlen(text));
    return true;
}

void task_parse_sockets(const char *kind, char *text, struct map *by_inode, struct arena *strings)
{
    char *save, *line, name[TEXT];
    for (line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        unsigned long long inode = 0;
        bool found = strcmp(kind, "unix") ? parse_inet(kind, line, &inode, name, sizeof name)
                                          : parse_unix(kind, line, &inode, name, sizeof name);
        if (found && inode)
            map_put(by_inode, inode, (uintptr_t)arena_strndup(strings, name, strlen(name)));
    }
}
