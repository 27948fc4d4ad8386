// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/log.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/text.h"

#define LOG_ENTRIES    256
#define LOG_TEXT_BYTES 512

struct entry {
    uint64_t time_ns;
    char text[LOG_TEXT_BYTES];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct entry ring[LOG_ENTRIES];
static uint64_t added;

void log_add(const char *fmt, ...)
{
    char text[LOG_TEXT_BYTES];
    struct entry *entry;
    va_list ap;

    va_start(ap, fmt);
    if (vsnprintf(text, sizeof text, fmt, ap) < 0)
        text[0] = '\0';
    va_end(ap);

    pthread_mutex_lock(&lock);
    entry = &ring[added++ % LOG_ENTRIES];
    entry->time_ns = clock_now_ns();
    text_clean(entry->text, sizeof entry->text, text, sizeof text);
    pthread_mutex_unlock(&lock);
}

uint64_t log_count(void)
{
    uint64_t n;

    pthread_mutex_lock(&lock);
    n = added;
    pthread_mutex_unlock(&lock);
    return n;
}

bool log_get(uint64_t n, char *text, unsigned cap, uint64_t *time_ns)
{
    bool there;

    pthread_mutex_lock(&lock);
    there = n < added && added - n <= LOG_ENTRIES;
    if (there) {
        const struct entry *entry = &ring[n % LOG_ENTRIES];
        text_clean(text, cap, entry->text, sizeof entry->text);
        if (time_ns)
            *time_ns = entry->time_ns;
    }
    pthread_mutex_unlock(&lock);
    return there;
}
