// SPDX-License-Identifier: GPL-2.0-or-later
/* Generates the manual page from the tables of options, keys and exporters. Completions are in
 * completions.c. */
#include <ctype.h>
#include <string.h>

#include "base/text.h"
#include "cli/options.h"

/* ---- mdoc ---- */

static void put_mdoc(struct buf *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '\\')
            buf_puts(out, "\\e");
        else if (*text == '-')
            buf_puts(out, "\\-");
        else if (*text == '|' || (*text == '/' && isalnum((unsigned char)text[1])))
            buf_printf(out, "%c\\:", *text); /* a line may break here */
        else
            buf_putc(out, *text);
    }
}

static const char man_head[] =
    ".Dd November 21, 2026\n.Dt FLAMETOP 1\n.Os Linux\n.Sh NAME\n.Nm flametop\n"
    ".Nd live terminal profiler\n.Sh SYNOPSIS\n.Nm\n.Op Ar options\n"
    ".Op Fl \\&- Ar command Op Ar args ...\n.Sh DESCRIPTION\n.Nm\n"
    "samples the running system with\n.Xr perf_event_open 2\n"
    "and shows, live, which functions use the CPU: as a table, as a call graph, as a flame graph in text, "
    "and with the hardware and software counters. Keys change the event and the scope without a restart. "
    "The samples can be frozen and saved as a perf.data that\n"
    ".Xr perf\n"
    "and other tools read.\n.Pp\n"
    "Without options, all CPUs are sampled at 99 Hz by cycles, or by cpu\\-clock if there are no hardware "
    "counters. A line that begins with DEGRADED says which numbers are wrong or incomplete, and how to fix "
    "it. A NOTE says what the machine lacks; the numbers are right.\n"
    ".Pp\n"
    "With a command after\n.Fl \\&- ,\n"
    "only that command and its children are sampled.\n.Sh VIEWS\n.Bl -tag -width Ds\n";

static const char man_concepts[] =
    ".El\n.Pp\n"
    "Time in the kernel's idle loop is shown in the header and excluded from the percentages.\n.Pp\n"
    "When the counters of an event group are multiplexed, live numbers are scaled by the times that the "
    "events were enabled and running, as\n"
    ".Xr perf-stat 1\n"
    "does; those of a file are not scaled, as in\n.Xr perf-report 1 .\n"
    "Both are marked with ~.\n.Sh STACKS\n"
    "The kernel part of a stack comes from the kernel. How the user part is unwound is selected with\n"
    ".Fl \\&-call\\-graph\n"
    "or by a key:\n.Bl -tag -width Ds\n.It Cm auto\n"
    "The default. Each sample has the registers and up to 24 KB of the stack, which are unwound by the "
    "tables that programs carry for exceptions (.eh_frame, .debug_frame) or, in Go, for the runtime. Code "
    "without a table is unwound by decoding its machine instructions, and a caller counts only if a call "
    "instruction proves it. JIT\\-compiled code is unwound by frame pointers. When more than 5 % of the "
    "stacks are deeper, the size grows to 32, 48, then 64 KB of each stack; the header shows it. The data "
    "rate is limited to 16 MiB per second and CPU: beyond it the size shrinks, down to 16 and then 8 KB, "
    "then frame pointers are used, and the DEGRADED line says so.\n"
    ".It Cm dwarf Ns Op , Ns Ar SIZE\n"
    "The same without that limit, with SIZE bytes of each stack, up to 65528. Samples that do not fit into "
    "the rings are lost, and counted as lost.\n"
    ".It Cm fp\n"
    "The kernel follows frame pointers. Code compiled without them truncates stacks or yields wrong "
    "callers.\n"
    ".It Cm lbr\n"
    "The CPU's own call records: exact, without frame pointers or tables, but at most 32 calls deep. Few "
    "CPUs have them, and hardly any virtual machine.\n"
    ".It Cm none\n"
    "The instruction pointer only.\n.El\n.Pp\n"
    "A stack that could not be unwound to its root has the reason in place of the root:\n"
    ".Bl -tag -width Ds\n.It Em [truncated: stack dump too small]\n"
    "The stack is deeper than the bytes copied of it.\n.It Em [truncated: stack not in memory]\n"
    "The kernel could not read the stack: an exec had just released it, it had just begun to grow, or a "
    "part of it, such as a large array, was never used. In live sampling the pages of such a part are read "
    "once, which maps the kernel's shared page of zeros: later samples have the whole stack.\n"
    ".It Em [truncated: continues on another stack]\n"
    "The code ran on a stack of its own, as a signal handler does, or C code and parts of the runtime in a "
    "Go program; the kernel does not copy the stack that was interrupted or that called it.\n"
    ".It Em [truncated: no unwind table]\n"
    "The code has no table, and no frame pointer leads to the caller.\n.It Em [caller unknown]\n"
    "The code has no table, and no call instruction proves the caller.\n"
    ".It Em [truncated: unwind table not read yet]\n"
    "The table was not read within five seconds.\n"
    ".It Em [truncated: return address in no mapping] , Em [truncated: impossible step]\n"
    "The stack does not match the table.\n.It Em [truncated: too deep]\n"
    "The stack has more frames than are stored.\n.It Em [truncated: no frame pointer]\n"
    "The function that ran has no frame pointer that leads to its caller. A caller further up without a "
    "frame pointer is missing without a mark.\n"
    ".It Em [broken]\n"
    "A frame pointer led to an address that is not code.\n.El\n.Pp\n"
    "The header shows the share of truncated stacks, the doctor where they are.\n.Sh NAMES\n"
    "Names come from the file that the process runs, even if it was replaced or deleted since: from its "
    "symbols, its mini\\-debug\\-info, or its separate debug file (build\\-id, debug link). Code without a "
    "symbol is named module+0xoffset, by the start of its function. Kernel names come from /proc/kallsyms "
    "or, if that is hidden, from a vmlinux of the same build.\n"
    ".Pp\n"
    "With debug information, inlined functions are frames of their own, marked (inlined);\n"
    ".Fl \\&-no\\-inline\n"
    "attributes them to the calling function.\n.Pp\n"
    "Missing debug files are fetched with\n.Fl \\&-debuginfod ,\n"
    "in the background and with a time limit. Without it no server is contacted.\n.Pp\n"
    "JIT\\-compiled code is named by its runtime, in /tmp/perf\\-PID.map or a jitdump; both must belong to "
    "the process's user or to root. The name that code had when it was sampled is stored with the sample, "
    "and is saved with it.\n"
    ".Bl -tag -width Ds\n.It Java\n"
    "In the doctor, a key requests the map from the running VM (JDK 17 and later), as jcmd PID "
    "Compiler.perfmap does. On x86\\-64, stacks are complete without options; on other CPUs, and in files "
    "of other tools, run java \\-XX:+PreserveFramePointer.\n"
    ".It node\n"
    "node \\-\\-perf\\-basic\\-prof\n.It Python\n"
    "On x86\\-64, with BPF (root), functions of Python 3.8 to 3.13 replace the interpreter's frames, as "
    "f (file.py:12), except where only one event in some of a tracepoint is sampled;\n"
    ".Fl \\&-no\\-interpreted\n"
    "turns this off. Elsewhere: python3 \\-X perf, 3.12 and later\n.El\n";

static const char man_use[] =
    ".Sh EXAMPLES\n"
    "The whole system:\n.Dl flametop\n"
    "One process and its children, user space only:\n.Dl flametop \\-K \\-p 1234\n"
    "Page faults by function:\n.Dl flametop \\-e page\\-faults\n"
    "A command from its start:\n.Dl flametop \\-\\- make \\-j4\n"
    "Ten seconds to a file, and its screens afterwards:\n.Dl flametop \\-\\-duration 10 \\-o ten.data\n"
    ".Dl flametop \\-i ten.data\n"
    "One line per stack, for flamegraph.pl:\n.Dl flametop \\-\\-duration 10 \\-o ten.folded\n"
    "A flame graph for a browser, and a comparison of two profiles:\n"
    ".Dl flametop \\-i ten.data \\-o ten.svg\n"
    ".Dl flametop \\-i ten.data \\-\\-diff before.data \\-o diff.svg\n"
    ".Dl flametop \\-i ten.data \\-\\-diff before.data | less\n.Sh PERMISSIONS\n"
    "Run as root, or give the program file these capabilities, never setuid:\n"
    ".Dl setcap cap_perfmon,cap_sys_ptrace,cap_syslog+ep flametop\n"
    "CAP_PERFMON opens events on all CPUs, CAP_SYS_PTRACE reads the memory maps of other users' processes, "
    "CAP_SYSLOG reads the addresses of kernel symbols. Without them\n"
    ".Nm\n"
    "samples the user's own processes, as far as kernel.perf_event_paranoid allows: at 0 or less all CPUs, "
    "at 1 the user's own processes, at 2 those in user space only, above that (Debian, Ubuntu) nothing.\n"
    ".Sh FILES\n.Bl -tag -width Ds\n.It Pa $XDG_CONFIG_HOME/flametop/config , Pa ";

/* follows the path of the system's config */
static const char man_files[] =
    "\nThe first one that exists is read; without XDG_CONFIG_HOME the user's config is below\n"
    ".Pa ~/.config .\n"
    "Section [options] sets options by their long names, section [keys] sets the keys of the actions named "
    "in parentheses above:\n"
    ".Bd -literal -offset indent\n"
    "[options]\n"
    "theme = light\n"
    "delay = 2\n\n"
    "[keys]\n"
    "freeze = F9 z\n.Ed\n"
    "A file that other users may write to is refused.\n"
    ".It Pa $XDG_CONFIG_HOME/flametop/themes/NAME.theme\n"
    "Themes of the user; a theme with the name of a built\\-in one replaces it.\n"
    ".It Pa $XDG_CONFIG_HOME/flametop/presets , Pa ";

/* follows the path of the system's presets */
static const char man_presets[] =
    "\nPresets for\n.Fl \\&-preset\n"
    "and the event picker, in addition to the built\\-in ones. A row is\n"
    ".Dl NAME EVENT[,EVENT...] RATE VIEW GROUP SCOPE WHAT FOR\n"
    "RATE is such as 99Hz, 1/1000 (one sample per 1000 events), each, or auto (a period that follows the "
    "event's rate). SCOPE is all, user=NAME, cgroup=PATH or cpus=LIST, several joined by +. A field that "
    "is - leaves the setting as it is.\n"
    ".Fl \\&-list\\-presets\n"
    "prints such rows.\n"
    ".It Pa $XDG_CONFIG_HOME/flametop/latency , Pa ";

/* follows the path of the system's rows of latencies */
static const char man_tail[] =
    "\nOperations for\n.Fl \\&-latency\n"
    "and\n.Fl e Cm latency:NAME ,\nin addition to the built\\-in ones. A row is\n"
    ".Dl NAME BEGIN END KEY NAMES SIZE STACK WHAT FOR\n"
    "such as\n"
    ".Dl reads syscalls:sys_enter_read syscalls:sys_exit_read thread fd - begin reads, by descriptor\n"
    "BEGIN and END are tracepoints; of several separated by |, the first one that exists. They may be "
    "probes, with semicolons in place of blanks; see\n"
    ".Sx PROBES .\n"
    "Behind tracepoints, conditions in brackets choose events, such as\n"
    ".Dl sock:inet_sock_set_state[newstate=TCP_CLOSE,oldstate!=1|2]\n"
    "A value is a number, or its name in the format of the event. Of an end, conditions behind a semicolon "
    "choose the operations that count.\n"
    "KEY is what the two events of an operation have in common, separated by commas: thread, process (its "
    "main thread), cpu, or fields of both events; with nested, an end belongs to the newest begin; with "
    "outermost, too, and only the outermost counts; with first, a second begin is ignored; with successive, "
    "it ends the operation and begins the next one. NAMES are fields "
    "of the begin event that name the operation, joined by +; syscall(FIELD), device(FIELD), io(FIELD), "
    "softirq(FIELD), lock(FIELD) and futex(FIELD) print the name of a number; address(FIELD) an IP address; "
    "tcp(FIELD) the connection of a TCP socket with this state, and how often it sent a packet again; "
    "tcp\\-failed(FIELD) also the error that the socket reports at the end; slow(FIELD) counts system "
    "calls on files that take 10 ms or longer, with their path; command(FIELD) is a program's file with its "
    "arguments, which a probe of the dynamic loader reads (not those of static and 32\\-bit programs). "
    "SIZE is a field of the begin event with a number of bytes; end(FIELD) one of the end event, "
    "end\\-sectors(FIELD) in sectors of 512 bytes. "
    "STACK is begin or end, the event whose stack is sampled; or process: process and stack are those of the "
    "first event with the same key that is not in an interrupt. NAMES and SIZE may be -.\n"
    ".Fl \\&-list\\-latency\n"
    "lists the rows. With\n.Fl i ,\n"
    "operations follow from a file of perf record that has all of their BEGIN and END; for complete names of "
    "TCP connections also tcp:tcp_retransmit_skb and sock:inet_sk_error_report.\n"
    ".Pp\nOf\n.Fl \\&-latency Cm tcp ,\n"
    "both sides are sessions: a connection to the same system is two. The process of the side that connects "
    "is the one that connected; of the side that accepts, the one that closed the session, as the kernel "
    "accepts connections before a process does. If the peer resets the connection, the process that accepted it is "
    "unknown and called :\\-1; within a scope such sessions are left out. A name ends with the number of "
    "packets that the session sent again: 10.0.0.1 to 10.0.0.5:443, 3 retransmits. A packet may have several "
    "segments, which TCP_INFO counts. Names of\n.Cm tcp\\-failed\n"
    "have the reason: refused, timed out, host unreachable, network unreachable, or the number of another "
    "error; or given up: the program closed the socket before, or it had no free port. If only one in N is "
    "sampled, the reasons are not known.\n"
    ".It Pa /tmp/perf-PID.map , Pa jit-PID.dump\n"
    "Names of JIT\\-compiled code; see\n.Sx NAMES .\n.It Pa $XDG_CACHE_HOME/flametop\n"
    "Cached symbol and unwind tables; without XDG_CACHE_HOME below\n.Pa ~/.cache .\n"
    "The cache is limited to 256 MB; the least recently used tables are removed. It may be deleted at any "
    "time; a folder that other users own or may write to is not used.\n"
    ".Fl \\&-no\\-cache\n"
    "disables the cache.\n.It Pa palette.map\n"
    "In the current folder: the colours of functions, with\n.Fl \\&-cp .\n.It Pa /usr/lib/debug\n"
    "Separate debug files.\n.It Pa ~/.debug\n"
    "Files that perf record cached, for a perf.data.\n.El\n.Sh ENVIRONMENT\n.Bl -tag -width Ds\n"
    ".It Ev TERM , LINES , COLUMNS\n"
    "The terminal and its size.\n.It Ev NO_COLOR\n"
    "If not empty, the same as\n.Fl \\&-no\\-color .\n.It Ev LC_ALL , LC_CTYPE , LANG\n"
    "If they do not name UTF-8, the screen is drawn in ASCII.\n.It Ev XDG_CONFIG_HOME\n"
    "Folder of the user's config, themes, presets and rows of latencies.\n.It Ev XDG_CACHE_HOME\n"
    "Folder of the cached symbol and unwind tables.\n.It Ev DEBUGINFOD_URLS\n"
    "Servers for\n.Fl \\&-debuginfod ,\n"
    "if it names none.\n.It Ev PERF_BUILDID_DIR\n"
    "Used instead of\n.Pa ~/.debug .\n.El\n.Sh EXIT STATUS\n"
    "0 on success, 1 on failure (the message is on standard error), 2 for a wrong command line, 128 plus "
    "the signal number if a signal ended it. With a command and\n"
    ".Fl o ,\n"
    "the command's own status if it is not 0.\n.Sh SEE ALSO\n.Xr perf 1 ,\n.Xr perf-record 1 ,\n"
    ".Xr perf-report 1 ,\n.Xr perf-top 1 ,\n.Xr htop 1\n";

/* Puts a help text, and a full stop behind it unless it ends in dots. */
static void put_help(struct buf *out, const char *help)
{
    size_t len = strlen(help);
    put_mdoc(out, help);
    buf_puts(out, len && help[len - 1] == '.' ? "\n" : ".\n");
}

static const char man_probes[] =
    ".Sh PROBES\n"
    "A probe is an event at a function of a program or library. It needs root. Like a tracepoint it has "
    "fields, its arguments, which the log prints and\n"
    ".Fl \\&-filter\n"
    "uses. Its definition is an event:\n"
    ".Dl probe:FILE:PLACE[%return] [NAME=]VALUE[:TYPE] ...\n"
    "such as\n"
    ".Dl flametop -b --view log -e \\(aqprobe:libc.so.6:fopen path=$arg1:string\\(aq\n"
    ".Bl -tag -width Ds\n"
    ".It FILE\n"
    "A path, a program in PATH, or a library as processes have it mapped (libc.so.6): then all files of this "
    "name, also those of containers and deleted ones.\n"
    ".It PLACE\n"
    "FUNCTION, FUNCTION+OFFSET, SOURCE:LINE (with debug information), 0xOFFSET in the file, or "
    "@entry, where a program begins. FUNCTION may "
    "be a glob, and several are joined by |: they are one event. A name of C++ is as it is linked, or, with "
    "::, as in the source, without parameters.\n"
    ".It %return\n"
    "At the return of the function. Not in Go programs, whose stacks move.\n"
    ".It VALUE\n"
    "With debug information, the name of a parameter, and away from the entry of any variable; $arg1, $arg2, "
    "...: an argument by its number, without floating\\-point ones; $retval at a return; a register (%di); "
    "or memory: +8(%sp), +0(+16($arg1)).\n"
    ".It TYPE\n"
    "u8 to u64, s8 to s64, x8 to x64 (hexadecimal), or string. Of a register or pointer, string is the text "
    "at which it points; texts of more than 4,095 bytes are not copied.\n"
    ".El\n.Pp\n"
    ".Dl sdt:FILE:PROVIDER:NAME\n"
    "is a marker (USDT probe), which programs such as Python, PostgreSQL and the C++ library have. Its "
    "arguments are arg1, arg2, ...; arguments that the kernel cannot read are left out. PROVIDER and NAME "
    "may have globs.\n"
    ".Fl \\&-list\\-events Cm sdt:FILE:*\n"
    "lists markers.\n.Pp\n"
    ".Dl latency:probe:FILE:FUNCTION [ARGUMENT ...]\n"
    "measures the time from the entry of a function to its return; the arguments name the operations.\n"
    ".Fl \\&-latency Cm dns\n"
    "is built on this: host names that the C library looks up, by name.\n.Pp\n"
    "Probes exist while flametop runs, in the kernel's list uprobe_events.\n"
    ".Fl \\&-list\\-probes\n"
    "lists them with those of other programs. What a flametop that was killed leaves behind is removed at "
    "the next start as root, or by\n"
    ".Fl \\&-remove\\-probes .\n"
    ".Fl \\&-probe\\-definition\n"
    "prints a definition without names, for machines that have no debug information. Each hit of a probe "
    "costs the program about a microsecond.\n";

static void man_options(struct buf *out)
{
    const char *heading = "";
    buf_puts(out, ".Sh OPTIONS\n");
    for (int i = 0; i < OPTION_COUNT_ALL; i++) {
        const struct option_row *r = &option_table[i];
        if (strcmp(heading, r->heading)) {
            buf_printf(out, "%s.Ss %s\n.Bl -tag -width Ds\n", *heading ? ".El\n" : "", r->heading);
            heading = r->heading;
        }
        buf_puts(out, ".It ");
        if (r->letter)
            buf_printf(out, "Fl %c , ", r->letter);
        buf_puts(out, "Fl \\&-");
        put_mdoc(out, r->name);
        if (*r->arg)
            buf_puts(out, " Ar "), put_mdoc(out, r->arg);
        buf_putc(out, '\n');
        put_help(out, r->help);
    }
    buf_puts(out, ".El\n");
}

static void man_exports(struct buf *out)
{
    buf_puts(out, ".Sh EXPORTS\n.Bl -tag -width Ds\n");
    for (size_t i = 0; i < export_table_n; i++) {
        buf_printf(out, ".It Cm %s Pq Pa %s\n", export_table[i]->name, export_table[i]->suffix);
        put_help(out, export_table[i]->help);
    }
    buf_puts(out, ".El\n");
}

static void generate_man(struct buf *out)
{
    buf_puts(out, man_head);
    ui_views_document(out);
    buf_puts(out, man_concepts);
    man_options(out);
    buf_puts(out, ".Sh KEYS\nDefault keys, with the name of the action in parentheses.\n");
    action_document(out, ACTION_MDOC);
    buf_puts(out, man_probes);
    man_exports(out);
    buf_puts(out, man_use);
    put_mdoc(out, FLAMETOP_SYSCONF_DIR "/config");
    buf_puts(out, man_files);
    put_mdoc(out, FLAMETOP_SYSCONF_DIR "/presets");
    buf_puts(out, man_presets);
    put_mdoc(out, FLAMETOP_SYSCONF_DIR "/latency");
    buf_puts(out, man_tail);
}

bool document_generate(const char *format, struct buf *out, struct error *e)
{
    if (!strcmp(format, "man"))
        generate_man(out);
    else if (!strcmp(format, "markdown"))
        action_document(out, ACTION_MARKDOWN);
    else if (!strcmp(format, "bash"))
        completions_bash(out);
    else if (!strcmp(format, "zsh"))
        completions_zsh(out);
    else if (!strcmp(format, "fish"))
        completions_fish(out);
    else
        return error_set(e, ERROR_ARGUMENT, "--generate %s: one of %s is needed", format,
                         option_table[OPTION_GENERATE].arg);
    return true;
}
