// SPDX-License-Identifier: GPL-2.0-or-later
/* Fuzzes the whole program with a recording: it is opened, queried, described by the doctor and exported, or
 * refused with a message. No symbols are resolved: files of this machine that the input names must not be
 * opened. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "export/export.h"
#include "session/session.h"
#include "symbols/symbolizer.h"

#define FILE_MAX (256u << 10)

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The session starts this program again as its symbol worker. */
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    if (*argc > 1 && !strcmp((*argv)[1], SYMBOL_WORKER_ARG))
        symbol_worker_main(3);
    return 0;
}

/* Exports all text formats to memory; a format that does not fit the file is refused. */
static void export_all(struct session *s, const struct view_query *q)
{
    static const struct exporter *const texts[] = { &export_json,      &export_folded,    &export_report,
                                                    &export_callgraph, &export_doctor,    &export_svg,
                                                    &export_script,    &export_speedscope };
    struct export_options o = { .title = NULL };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct buf out = { 0 };
        struct error e = { 0 };
        if (!export_text(texts[i], s, q, &o, &out, &e) && !e.text[0])
            abort();
        buf_done(&out);
    }
}

static void use(struct session *s)
{
    static const enum view_group groups[] = { VIEW_GROUP_PROCESS, VIEW_GROUP_THREAD, VIEW_GROUP_SYMBOL };
    struct view_query q = { .show_idle = true };
    struct view v = { 0 };
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
        q.group = groups[i];
        session_query(s, &q, &v);
    }
    view_done(&v);
    export_all(s, &q);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct session_config cfg = { .history_bytes = 16 << 20, .callchain = CALLCHAIN_FP };
    struct error e = { 0 };
    char path[64];
    int fd = size <= FILE_MAX ? memfd_create("fuzz", MFD_CLOEXEC) : -1;
    if (fd < 0 || !file_write_all(fd, data, size, NULL))
        return 0;
    scope_init(&cfg.scope);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    cfg.input = path;
    cfg.symfs = "/proc/self/fdinfo"; /* none of the file names in a recording exists there */
    cfg.no_cache = true;
    struct session *s = session_open(&cfg, &e);
    if (!s && !e.text[0])
        abort();
    if (s) {
        session_set_patience(s, NS_PER_MS, NULL);
        session_wait(s, 5 * NS_PER_SEC, NULL);
        use(s);
        session_close(s);
    }
    scope_done(&cfg.scope);
    close(fd);
    return 0;
}
