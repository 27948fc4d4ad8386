// SPDX-License-Identifier: GPL-2.0-or-later
/* Prints --version: the version and the optional libraries of this build. */
#include "cli/options.h"

#ifndef PACKAGE_VERSION
#define PACKAGE_VERSION "0 (built by hand)"
#endif

/* "1" for a macro that config.h defines, else the macro's name. */
#define VALUE(macro)  VALUE_(macro)
#define VALUE_(value) #value

struct feature {
    const char *name, *what, *in; /* in: "1", or anything else */
};

static const struct feature features[] = {
    { "ncursesw", "screens", "1" },
    { "libelf", "symbols of ELF files", "1" },
    { "libdw", "source lines and inlined functions", "1" },
    { "libtraceevent", "tracepoint formats", "1" },
    { "libunwind", "user stacks of --threads", VALUE(HAVE_LIBUNWIND) },
    { "inih", "config and theme files", VALUE(HAVE_INIH) },
    { "libiberty", "demangled C++, Rust and D names", VALUE(HAVE_LIBIBERTY) },
    { "libseccomp", "confined symbol worker", VALUE(HAVE_LIBSECCOMP) },
    { "libcap-ng", "symbol worker without capabilities", VALUE(HAVE_LIBCAP_NG) },
    { "zstd", "perf.data compressed by zstd", VALUE(HAVE_ZSTD) },
    { "zlib", "perf.data compressed by gzip, pprof", VALUE(HAVE_ZLIB) },
    { "terminfo", "built-in terminal descriptions", VALUE(HAVE_INFOCMP) },
    { "debuginfod", "debug files from servers, with --debuginfod", VALUE(HAVE_DEBUGINFOD) },
    { "capstone", "instructions of annotated functions", VALUE(HAVE_CAPSTONE) },
    { "libpfm4", "events by the names of CPU vendors", VALUE(HAVE_PFM) },
    { "lzma", "mini-debug-info, perf.data compressed by xz", VALUE(HAVE_LZMA) },
};

void features_print(struct buf *out)
{
    buf_puts(out, "flametop " PACKAGE_VERSION "\n");
    for (size_t i = 0; i < sizeof features / sizeof *features; i++)
        buf_printf(out, "  %c%-14s %s\n", *features[i].in == '1' ? '+' : '-', features[i].name,
                   features[i].what);
    buf_puts(out, "Licence GPL-2.0-or-later. There is no warranty, to the extent permitted by law.\n");
}
