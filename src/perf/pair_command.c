// SPDX-License-Identifier: GPL-2.0-or-later
#include "perf/pair_command.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "perf/payload_field.h"
#include "perf/probe.h"

/* Loaders of the C library, and of musl. */
#if defined __x86_64__
#define LOADERS "ld-linux-x86-64|ld-musl-x86_64"
#elif defined __aarch64__
#define LOADERS "ld-linux-aarch64|ld-musl-aarch64"
#endif

static struct {
    pthread_mutex_t lock;
    bool tried, defined;
    char event[PROBE_NAME_MAX];
    struct error error;
} loader = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* At the entry point the stack has argc, then argv[0] and the others, NULL, and the environment, which may
 * have secrets: it is never shown. */
static bool define(char event[PROBE_NAME_MAX], struct error *e)
{
#ifdef LOADERS
    char text[PROBE_TEXT_MAX];
    int n = snprintf(text, sizeof text, PROBE_PREFIX LOADERS ":" PROBE_ENTRY ";argc=$stack0:u64");
    for (int i = 0; i < PAIR_COMMAND_WORDS; i++)
        n += snprintf(text + n, sizeof text - (size_t)n, ";word%d=+0($stack%d):string", i, i + 1);
    for (int i = 0; i < PAIR_COMMAND_WORDS + 2; i++)
        n += snprintf(text + n, sizeof text - (size_t)n, ";at%d=$stack%d:u64", i, i + 1);
    return probe_define(text, event, e);
#else
    (void)event;
    return error_set(e, ERROR_UNSUPPORTED, "the names of this machine's dynamic loaders are not known");
#endif
}

bool pair_command_define(char event[PAIR_EVENT_MAX], struct error *e)
{
    pthread_mutex_lock(&loader.lock);
    if (!loader.tried)
        loader.defined = define(loader.event, &loader.error);
    loader.tried = true;
    bool ok = loader.defined || error_set(e, loader.error.class, "%s", loader.error.text);
    (void)snprintf(event, PAIR_EVENT_MAX, "%s", ok ? loader.event : "");
    pthread_mutex_unlock(&loader.lock);
    return ok;
}

bool pair_command_find(const struct payload_format *format, struct pair_command *out)
{
    char name[16];
    out->argc = payload_number_find(format, "argc");
    bool ok = out->argc >= 0;
    for (int i = 0; i < PAIR_COMMAND_WORDS && ok; i++) {
        (void)snprintf(name, sizeof name, "word%d", i);
        out->words[i] = payload_field_find(format, name);
        ok = out->words[i] >= 0;
    }
    for (int i = 0; i < PAIR_COMMAND_WORDS + 2 && ok; i++) {
        (void)snprintf(name, sizeof name, "at%d", i);
        out->at[i] = payload_number_find(format, name);
        ok = out->at[i] >= 0;
    }
    return ok;
}

/* ---- text ---- */

/* Adds a word as a shell reads it, so that "a b" differs from two words. */
static void put_word(const char *bytes, size_t n, struct buf *out)
{
    char clean[PAIR_COMMAND_MAX + 4]; /* a longer word is truncated with the whole text */
    size_t length = text_clean(clean, sizeof clean, bytes, n);
    bool quote = !length || strpbrk(clean, " '\"\\$&|;<>()*?#`") != NULL;
    buf_puts(out, out->len ? " " : "");
    if (quote)
        buf_putc(out, '\'');
    for (const char *at = clean; *at; at++)
        if (quote && *at == '\'')
            buf_puts(out, "'\\''");
        else
            buf_putc(out, *at);
    if (quote)
        buf_putc(out, '\'');
}

/* False: the kernel could not read the word, or had no more room. An empty word has its NUL. */
static bool word_of(const struct payload *p, int32_t field, const char **bytes, size_t *n)
{
    const uint8_t *at;
    uint32_t size;
    if (!payload_bytes(p, field, &at, &size) || !size)
        return false;
    *bytes = (const char *)at;
    *n = strnlen(*bytes, size);
    return true;
}

/* The kernel gives a word of more than 4 KB as much room as the other ones need. In memory, the next word
 * follows, behind the last one the environment. */
static bool is_whole(const struct pair_command *c, const struct payload *p, uint64_t i, uint64_t argc,
                     size_t n)
{
    uint64_t next = payload_number(p, c->at[i + 1 < argc ? i + 1 : i + 2]);
    return !next || next - payload_number(p, c->at[i]) == n + 1;
}

static bool is_same_program(const char *file, const char *word, size_t n)
{
    const char *base = text_base_name(file);
    for (size_t i = n; i > 0; i--)
        if (word[i - 1] == '/')
            return strlen(base) == n - i && !strncmp(base, word + i, n - i);
    return strlen(base) == n && !strncmp(base, word, n);
}

static void truncate_text(struct buf *out)
{
    size_t n = PAIR_COMMAND_MAX - strlen(" ...");
    while (n && ((unsigned char)out->data[n] & 0xc0) == 0x80) /* within a character */
        n--;
    out->len = n;
    out->data[n] = '\0';
    buf_puts(out, " ...");
}

void pair_command_put(const struct pair_command *c, const struct payload *p, const char *file,
                      struct buf *out)
{
    uint64_t argc = payload_number(p, c->argc), i = 0;
    bool whole = true;
    const char *bytes;
    size_t n;
    buf_clear(out);
    buf_puts(out, file);
    for (; i < argc && i < PAIR_COMMAND_WORDS && whole && out->len <= PAIR_COMMAND_MAX; i++) {
        if (!word_of(p, c->words[i], &bytes, &n))
            break;
        whole = is_whole(c, p, i, argc, n);
        if (!i && is_same_program(file, bytes, n))
            continue;
        if (!i)
            buf_puts(out, " as");
        put_word(bytes, n, out);
    }
    if (i < argc || !whole)
        buf_puts(out, " ...");
    if (out->len > PAIR_COMMAND_MAX)
        truncate_text(out);
}
