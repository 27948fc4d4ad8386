// SPDX-License-Identifier: GPL-2.0-or-later
/* Prints --threads: the threads of processes at this moment, one row for threads with equal stacks; or JSON:
 * an array with an object per process. */
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/text.h"
#include "cli/options.h"
#include "export/threads_json.h"
#include "session/threads_now.h"
#include "session/threads_text.h"

#define COLUMNS       110
#define NAME_COLUMNS  72 /* of a function */
#define LABEL_COLUMNS 11

static void put_frame(struct buf *out, const struct threads_line *line)
{
    char name[512], module[256];
    text_shorten_name(name, sizeof name, line->text, NAME_COLUMNS);
    text_elide(module, sizeof module, line->module, COLUMNS - LABEL_COLUMNS - NAME_COLUMNS - 2, true);
    int pad = *module ? 40 - text_width(name) : 0;
    buf_printf(out, "  %-*s%s%*s%s%s\n", LABEL_COLUMNS - 2, line->label, name, pad > 0 ? pad : 0, "",
               *module ? "  " : "", module);
}

static void put_line(void *out, const struct threads_line *line)
{
    char text[1024];
    if (line->kind == THREADS_LINE_USER) {
        put_frame(out, line);
        return;
    }
    text_elide(text, sizeof text, line->text, COLUMNS - LABEL_COLUMNS, false);
    buf_printf(out, "  %-*s%s\n", LABEL_COLUMNS - 2, line->label, text);
}

static void put_row(struct buf *out, const struct threads_now_row *row)
{
    if (row->n == 1)
        buf_printf(out, "\nthread %u %s, ", row->threads[0]->tid, row->threads[0]->stat.comm);
    else
        buf_printf(out, "\n%u threads, ", row->n);
    threads_text_wait(out, row);
    buf_putc(out, '\n');
    threads_text_lines(row, put_line, out);
}

static void put_notes(struct buf *out, const char *notes)
{
    for (size_t n; *notes; notes += n + (notes[n] == '\n')) {
        n = strcspn(notes, "\n");
        const char *from = notes, *end = notes + n;
        while (from < end) { /* a word that would pass the last column begins a line */
            size_t length = (size_t)(end - from);
            if (length > COLUMNS) {
                length = COLUMNS;
                while (length > 1 && from[length] != ' ')
                    length--;
                if (length == 1)
                    length = COLUMNS;
            }
            buf_printf(out, "%.*s\n", (int)length, from);
            from += length;
            from += from < end && *from == ' ';
        }
    }
}

static void put_process(struct buf *out, const struct threads_now *t)
{
    threads_text_process(out, t);
    buf_putc(out, '\n');
    put_notes(out, buf_str(&t->notes));
    for (uint32_t i = 0; i < t->n; i++)
        put_row(out, &t->rows[i]);
}

bool threads_run(const struct options *o, struct error *e)
{
    const struct scope *scope = &o->session.scope;
    const struct threads_now_how how = { o->session.no_cache, o->session.no_interpreted };
    struct buf out = { 0 };
    bool ok = true;
    buf_puts(&out, o->threads_json ? "[" : "");
    for (uint32_t i = 0; i < scope->n_ids && ok; i++) {
        struct threads_now t;
        ok = threads_now_take(scope->ids[i], how, NULL, &t, e);
        if (ok && o->threads_json) {
            threads_json(&out, &t);
        } else if (ok) {
            buf_puts(&out, i ? "\n" : "");
            put_process(&out, &t);
        }
        threads_now_done(&t);
    }
    buf_puts(&out, o->threads_json ? "]\n" : "");
    if (ok || !o->threads_json)
        ok = file_write_all(STDOUT_FILENO, buf_str(&out), out.len, ok ? e : NULL) && ok;
    buf_done(&out);
    return ok;
}
