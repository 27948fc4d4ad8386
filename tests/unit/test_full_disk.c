// SPDX-License-Identifier: GPL-2.0-or-later
/* If the disk becomes full at any byte of the output, an error is reported, no new file remains, and the
 * previous file survives. */
#include "session_fixture.h"

#include <dirent.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "base/file.h"
#include "export/export.h"

#define SIZES_MAX 500 /* most sizes tried per format; all sizes of short output */

static char folder[] = "/tmp/flametop-full-XXXXXX";
static char path[64];
static struct export_options options;

static int open_recording(void **state)
{
    static char input[4096];
    const char *source = getenv("FLAMETOP_SOURCE");
    if (set_up(state) || !mkdtemp(strcpy(folder, "/tmp/flametop-full-XXXXXX")))
        return -1;
    snprintf(path, sizeof path, "%s/out", folder);
    snprintf(input, sizeof input, "%s/tests/data/google__perf.data.piped.header_features_aligned-6.12",
             source ? source : ".");
    signal(SIGXFSZ, SIG_IGN);
    cfg.input = input;
    cfg.no_cache = true;
    session = session_open(&cfg, &error);
    if (!session)
        return -1;
    session_wait(session, 60 * NS_PER_SEC, NULL);
    return 0;
}

static int close_recording(void **state)
{
    unlink(path);
    return rmdir(folder) | tear_down(state);
}

/* Limits the file size: beyond it, write(2) fails as on a full disk. */
static void limit_files(rlim_t bytes)
{
    struct rlimit limit;
    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = bytes < limit.rlim_max ? bytes : limit.rlim_max;
    setrlimit(RLIMIT_FSIZE, &limit);
}

static bool export_into(const struct exporter *x, void *plan, rlim_t bytes)
{
    error_clear(&error);
    limit_files(bytes);
    bool ok =
        plan ? x->plan->write(plan, path, &error) : export_run(x, session, &query, &options, path, &error);
    limit_files(RLIM_INFINITY);
    return ok;
}

static unsigned files_in_folder(void)
{
    unsigned n = 0;
    DIR *dir = opendir(folder);
    for (struct dirent *d; (d = readdir(dir));)
        n += strcmp(d->d_name, ".") && strcmp(d->d_name, "..");
    closedir(dir);
    return n;
}

static void check_at(const struct exporter *x, void *plan, const struct buf *whole, size_t bytes)
{
    struct buf left = { 0 };
    struct error e = { 0 };
    bool ok = export_into(x, plan, bytes);
    if (ok || !strstr(error.text, "cannot write") || files_in_folder() != 1)
        fail_msg("%s of %zu bytes into %zu: %s", x->name, whole->len, bytes, ok ? "no error" : error.text);
    assert_true(file_read(path, 1 << 24, &left, &e));
    assert_int_equal(left.len, whole->len);
    assert_memory_equal(left.data, whole->data, whole->len);
    buf_done(&left);
}

TEST_WITH(every_export_format_reports_a_full_disk_at_any_byte, open_recording, close_recording)
{
    for (size_t i = 0; i < export_table_n; i++) {
        const struct exporter *x = export_table[i];
        struct buf whole = { 0 };
        void *plan = x->plan ? export_make_plan(x->plan, session, &query, &options, path, &error) : NULL;
        if ((x->plan && !plan) || !export_into(x, plan, RLIM_INFINITY))
            fail_msg("%s: %s", x->name, error.text);
        assert_true(file_read(path, 1 << 24, &whole, &error));
        assert_true(whole.len > 0);
        size_t step = 1 + whole.len / SIZES_MAX;
        for (size_t bytes = 0; bytes < whole.len; bytes += step)
            check_at(x, plan, &whole, bytes);
        check_at(x, plan, &whole, whole.len - 1);
        assert_true(export_into(x, plan, whole.len));
        if (plan)
            x->plan->free(plan);
        buf_done(&whole);
        unlink(path);
    }
}

/* If started as a worker it must act as one, or it would start itself endlessly. */
WORKER_TEST_MAIN(NULL, NULL)
