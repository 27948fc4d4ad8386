// SPDX-License-Identifier: GPL-2.0-or-later
/* Prints --version: the version and the optional libraries of this build. */
#include "cli/options.h"

#ifndef PACKAGE_VERSION
#define PACKAGE_VERSION "0 (built by hand)"
#endif

struct feature {
    const char *name, *what;
    bool in;
};

static const struct feature features[] = {
    { "ncursesw", "screens", true },
    { "libelf", "symbols of ELF files", true },
    { "libdw", "source lines and inlined functions", true },
    { "libtraceevent", "tracepoint formats", true },
#ifdef HAVE_LIBUNWIND
    { "libunwind", "user stacks of --threads", true },
#else
    { "libunwind", "user stacks of --threads", false },
#endif
#ifdef HAVE_INIH
    { "inih", "config and theme files", true },
#else
    { "inih", "config and theme files", false },
#endif
#ifdef HAVE_LIBIBERTY
    { "libiberty", "demangled C++, Rust and D names", true },
#else
    { "libiberty", "demangled C++, Rust and D names", false },
#endif
#ifdef HAVE_LIBSECCOMP
    { "libseccomp", "confined symbol worker", true },
#else
    { "libseccomp", "confined symbol worker", false },
#endif
#ifdef HAVE_LIBCAP_NG
    { "libcap-ng", "symbol worker without capabilities", true },
#else
    { "libcap-ng", "symbol worker without capabilities", false },
#endif
#ifdef HAVE_ZSTD
    { "zstd", "perf.data compressed by zstd", true },
#else
    { "zstd", "perf.data compressed by zstd", false },
#endif
#ifdef HAVE_ZLIB
    { "zlib", "perf.data compressed by gzip, pprof", true },
#else
    { "zlib", "perf.data compressed by gzip, pprof", false },
#endif
#ifdef HAVE_INFOCMP
    { "terminfo", "built-in terminal descriptions", true },
#else
    { "terminfo", "built-in terminal descriptions", false },
#endif
#ifdef HAVE_DEBUGINFOD
    { "debuginfod", "debug files from servers, with --debuginfod", true },
#else
    { "debuginfod", "debug files from servers, with --debuginfod", false },
#endif
#ifdef HAVE_CAPSTONE
    { "capstone", "instructions of annotated functions", true },
#else
    { "capstone", "instructions of annotated functions", false },
#endif
#ifdef HAVE_PFM
    { "libpfm4", "events by the names of CPU vendors", true },
#else
    { "libpfm4", "events by the names of CPU vendors", false },
#endif
#ifdef HAVE_LZMA
    { "lzma", "mini-debug-info, perf.data compressed by xz", true },
#else
    { "lzma", "mini-debug-info, perf.data compressed by xz", false },
#endif
};

void features_print(struct buf *out)
{
    buf_puts(out, "flametop " PACKAGE_VERSION "\n");
    for (size_t i = 0; i < sizeof features / sizeof *features; i++)
        buf_printf(out, "  %c%-14s %s\n", features[i].in ? '+' : '-', features[i].name, features[i].what);
    buf_puts(out, "Licence GPL-2.0-or-later. There is no warranty, to the extent permitted by law.\n");
}
