// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/log.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/text.h"

#define LOG_ENTRIES    256
#define LOG_TEXT_BYTES 512

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char ring[LOG_ENTRIES][LOG_TEXT_BYTES];
static uint64_t added;

void log_add(const char *fmt, ...)
{
    char text[LOG_TEXT_BYTES];
    va_list ap;

    va_start(ap, fmt);
    if (vsnprintf(text, sizeof text, fmt, ap) < 0)
        text[0] = '\0';
    va_end(ap);

    pthread_mutex_lock(&lock);
    text_clean(ring[added++ % LOG_ENTRIES], LOG_TEXT_BYTES, text, sizeof text);
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

bool log_get(uint64_t n, char *text, unsigned cap)
{
    bool there;

    pthread_mutex_lock(&lock);
    there = n < added && added - n <= LOG_ENTRIES;
    if (there)
        text_clean(text, cap, ring[n % LOG_ENTRIES], LOG_TEXT_BYTES);
    pthread_mutex_unlock(&lock);
    return there;
}
