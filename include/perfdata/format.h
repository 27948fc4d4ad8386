// SPDX-License-Identifier: GPL-2.0-or-later
/* The perf.data format: perf.data-file-format.txt in the kernel's tools/perf/Documentation, and the output of
 * tools/perf/util/header.c. Shared by the reader and the writer. */
#ifndef FLAMETOP_PERFDATA_FORMAT_H
#define FLAMETOP_PERFDATA_FORMAT_H

#include <stdint.h>

#define FORMAT_MAGIC_V1         "PERFFILE" /* until Linux 2.6.38, and long after in distributions' perf */
#define FORMAT_MAGIC_V2         "PERFILE2"
#define FORMAT_MAGIC_V2_SWAPPED "2ELIFREP"
#define FORMAT_HEADER_BYTES     104
#define FORMAT_PIPE_BYTES       16 /* the whole header of a pipe-mode file */
#define FORMAT_FEATURES         256
#define FORMAT_NAME_ALIGN       64 /* alignment of strings in feature sections */
/* Precedes the stack mode in the VERSION of files that flametop writes. */
#define FORMAT_STACKS " stacks: "
/* A record's time from here on is not a time. perf record --off-cpu (6.12, tools/perf/util/bpf_off_cpu.c)
 * numbers its samples from OFF_CPU_TIMESTAMP, and synthesized records have all bits set. */
#define FORMAT_TIME_NONE (~UINT64_C(0) << 32)

struct format_section {
    uint64_t offset, size;
};
struct format_header {
    char magic[8];
    uint64_t size, attr_size;
    struct format_section attrs, data, event_types;
    uint64_t features[FORMAT_FEATURES / 64]; /* bit n: the file has a section for feature n */
};

enum format_feature {
    FORMAT_TRACING_DATA = 1,
    FORMAT_BUILD_ID = 2,
    FORMAT_HOSTNAME = 3,
    FORMAT_OSRELEASE = 4,
    FORMAT_VERSION = 5,
    FORMAT_ARCH = 6,
    FORMAT_NRCPUS = 7,
    FORMAT_CPUDESC = 8,
    FORMAT_CPUID = 9,
    FORMAT_TOTAL_MEM = 10,
    FORMAT_CMDLINE = 11,
    FORMAT_EVENT_DESC = 12,
    FORMAT_CPU_TOPOLOGY = 13,
    FORMAT_NUMA_TOPOLOGY = 14,
    FORMAT_BRANCH_STACK = 15,
    FORMAT_PMU_MAPPINGS = 16,
    FORMAT_GROUP_DESC = 17,
    FORMAT_AUXTRACE = 18,
    FORMAT_CACHE = 20,
    FORMAT_SAMPLE_TIME = 21,
    FORMAT_MEM_TOPOLOGY = 22,
    FORMAT_CLOCKID = 23,
    FORMAT_DIR_FORMAT = 24,
    FORMAT_COMPRESSED = 27,
    FORMAT_CPU_PMU_CAPS = 28,
    FORMAT_CLOCK_DATA = 29,
    FORMAT_HYBRID_TOPOLOGY = 30,
    FORMAT_PMU_CAPS = 31,
    /* flametop's own, and not a section of that number but the data at the end of the file (struct
     * format_tail). perf's numbers count up from 1, those of simpleperf from 128. */
    FORMAT_JIT_NAMES = 240,
    /* Symbols of other tools (perfdata/embedded.h). */
    FORMAT_SIMPLEPERF_FILE = 128,
    FORMAT_SIMPLEPERF_FILE2 = 132,
    FORMAT_HIPERF_SYMBOLS = 192,
};

/* flametop's own, after all data that perf knows: names of code generated at run time (symbols/jittext.h),
 * size bytes of them, then this struct. It is not a feature section: perf report and others would ignore an
 * unknown number, but perf inject (6.1) crashes on it. */
struct format_tail {
    uint64_t size;
    char magic[8];
};
#define FORMAT_TAIL_MAGIC "FLAMEJIT"

/* perf's own record types (tools/lib/perf/include/perf/event.h). */
enum format_record {
    FORMAT_RECORD_ATTR = 64,
    FORMAT_RECORD_EVENT_TYPE = 65,
    FORMAT_RECORD_TRACING_DATA = 66, /* followed by its payload */
    FORMAT_RECORD_BUILD_ID = 67,
    FORMAT_RECORD_FINISHED_ROUND = 68,
    FORMAT_RECORD_AUXTRACE_INFO = 70,
    FORMAT_RECORD_AUXTRACE = 71, /* followed by its payload */
    FORMAT_RECORD_AUXTRACE_ERROR = 72,
    FORMAT_RECORD_EVENT_UPDATE = 78,
    FORMAT_RECORD_FEATURE = 80,
    FORMAT_RECORD_COMPRESSED = 81,
    FORMAT_RECORD_COMPRESSED2 = 83,
};
#define FORMAT_RECORD_USER       64    /* the first user-space type */
#define FORMAT_RECORD_USER_END   128   /* above all known user-space types */
#define FORMAT_RECORD_SIMPLEPERF 32768 /* first of the types of Android's simpleperf */
#define FORMAT_EVENT_UPDATE_NAME 2

#define FORMAT_MISC_BUILD_ID_SIZE (1u << 15) /* the BUILD_ID record contains the length of the id */
#define FORMAT_BUILD_ID_BYTES     20

/* The tracing data section: the start of a trace.dat, version 0.6 (trace-cmd.dat.v6(5)). */
#define FORMAT_TRACING_MAGIC   "\027\010\104tracing"
#define FORMAT_TRACING_VERSION "0.6"

#endif
