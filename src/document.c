// SPDX-License-Identifier: GPL-2.0-or-later
/* --generate: the man page, from the tables of options, keys and exporters; the shells' completions are in completions.c. */
#include <string.h>

#include "base/text.h"
#include "completions.h"
#include "export/export.h"

/* ---- mdoc ---- */

static void put_mdoc(struct buf *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '\\')
            buf_puts(out, "\\e");
        else if (*text == '-')
            buf_puts(out, "\\-");
        else if (*text == '|')
            buf_puts(out, "|\\:"); /* a line may end there */
        else
            buf_putc(out, *text);
    }
}

static const char man_head[] =
    ".Dd November 21, 2026\n.Dt FLAMETOP 1\n.Os Linux\n"
    ".Sh NAME\n.Nm flametop\n.Nd live terminal profiler\n"
    ".Sh SYNOPSIS\n.Nm\n.Op Ar options\n.Op Fl \\&- Ar command Op Ar args ...\n"
    ".Sh DESCRIPTION\n.Nm\nsamples the running system with\n.Xr perf_event_open 2\n"
    "and shows, live, which functions burn the CPU: as a table, as a call graph, as a flame graph in text, "
    "beside "
    "the hardware and software counters. Keys change what is measured and whom it measures, without a "
    "restart. "
    "What is shown can be frozen and written as a perf.data that\n.Xr perf\nand other tools read.\n"
    ".Pp\nWithout options all CPUs are sampled at 99 Hz, by cycles, or where there are no hardware counters "
    "by "
    "cpu\\-clock. Whatever could not be had is named on a line that begins with DEGRADED, with what would "
    "mend it.\n"
    ".Pp\nWith a command after\n.Fl \\&- ,\nonly that command and its children are measured.\n"
    ".Sh VIEWS\n.Bl -tag -width Ds\n"
    ".It Functions\nWhere the time goes: the share of samples in the function itself (SELF%), the share in it "
    "and in all "
    "that it calls (TOTAL%), the number of samples of the latter (SAMPLES), and the trend over the time window. As text, without a "
    "screen, the number is that of samples in the function itself (SELF SAMPLES), as in perf report \\-n.\n"
    ".It Call graph\nHow it came there: a tree from the process down to the functions that ran, or turned "
    "over, from a "
    "function up to its callers.\n"
    ".It Flame\nThe whole at a glance: each frame is as wide as its share, callees below callers, or turned over. Frames are "
    "sorted by "
    "name.\n"
    ".It Counters\nWhat perf stat \\-a \\-d prints, each interval anew. An event that was counted for a part "
    "of the time only is "
    "scaled up, and RUN% says how large that part was.\n"
    ".It Annotate\nThe instructions of a function with the samples at each, its source lines, and its jumps as "
    "arrows; calls are followed, and left again. SELF% is of the function's own samples, as in perf annotate, TOTAL% of "
    "these and those in what it calls; a key makes both shares of all samples.\n"
    ".It Doctor\nWhat the other views cannot show: stacks that were cut and frames without a name, by "
    "module and reason, what would mend it, and what the whole profile lacks. Where\n.Nm\ncan mend it "
    "itself, a key does. Without a screen\n.Fl \\&-view Cm doctor\nprints the same as text, and reports begin with the "
    "worst of it.\n"
    ".It Time\nWhen it happened: a heat map with seconds across and their parts down, threads and CPUs over time, and "
    "the flame chart of one of them. What is chosen there is a range of time that all views are of.\n.El\n"
    ".Pp\nTime in the kernel's idle loop is shown in the header and left out of the percentages.\n"
    ".Pp\nOf a group of events whose counters had to be shared with others, live numbers are scaled by the times "
    "for which they were enabled and ran, as\n.Xr perf-stat 1\ndoes; those of a file are left as\n.Xr perf-report 1\n"
    "leaves them. Both are marked by ~.\n"
    ".Sh STACKS\nOf the kernel's part of a stack the kernel tells. How the user's part is taken is chosen "
    "with\n.Fl \\&-call\\-graph\nand while it runs:\n"
    ".Bl -tag -width Ds\n"
    ".It Cm auto\nThe default. Each sample brings the registers and up to 24 KB of the stack, which are "
    "unwound by the tables that programs carry for exceptions (.eh_frame, .debug_frame) or, in Go, for the runtime. Of code "
    "that has none the machine instructions are read, and a caller counts only where a call instruction proves it. Code of "
    "just\\-in\\-time compilers is followed by frame pointer. When more than 5 % of the stacks are "
    "deeper than that, 32, then 48, then 64 KB are taken of each; the header says how much. Samples may come to 16 MiB "
    "a second and CPU; beyond it less is taken of each stack, at last 16 and then 8 KB, then frame pointers take "
    "over, and the DEGRADED line says so.\n"
    ".It Cm dwarf Ns Op , Ns Ar SIZE\nThe same without that limit, with SIZE bytes of each stack, up to "
    "65528. What does not fit into the rings is lost, and counted.\n"
    ".It Cm fp\nThe kernel follows frame pointers. Code that was compiled without them cuts stacks, or "
    "leads astray.\n"
    ".It Cm lbr\nThe CPU's own record of calls: exact, without frame pointers or tables, and 32 calls deep "
    "at most. Few CPUs have it, and hardly any virtual machine.\n"
    ".It Cm none\nOnly where it runs.\n.El\n"
    ".Pp\nA stack that could not be followed to its root says why in the place of the root:\n"
    ".Bl -tag -width Ds\n"
    ".It Em [cut: stack dump too small]\nIt is deeper than what was taken of it.\n"
    ".It Em [cut: stack not in memory]\nThe kernel could not read it: an exec has just given it up, it has "
    "just begun to grow, or a part of it, such as a large array, was never used. Live, pages of such a part are read once, "
    "which maps the kernel's shared page of zeros: later samples have the whole stack.\n"
    ".It Em [cut: continues on another stack]\nA signal handler runs on a stack of its own, as C code and parts of the "
    "runtime do in a Go program; of the stack that it interrupted, or that called it, the kernel takes nothing.\n"
    ".It Em [cut: no unwind table]\nCode without a table, and no frame pointer that leads on.\n"
    ".It Em [caller unknown]\nCode without a table, and no call instruction proves who called it.\n"
    ".It Em [cut: unwind table not read yet]\nThe table did not come within five seconds.\n"
    ".It Em [cut: return address in no mapping] , Em [cut: impossible step]\nThe stack is not as the table "
    "says it should be.\n"
    ".It Em [cut: too deep]\nIt has more frames than are kept.\n"
    ".It Em [cut: no frame pointer]\nFrame pointers led nowhere from the function that ran. Where a caller between others "
    "keeps none, nothing tells that it is missing.\n"
    ".It Em [broken]\nFrame pointers led to what is no code.\n.El\n"
    ".Pp\nThe header says what share is cut, the doctor where.\n"
    ".Sh NAMES\nNames come from the file that runs, as its process sees it, also if it was replaced or "
    "deleted since: from its symbols, its mini\\-debug\\-info, or its separate debug file (build\\-id, "
    "debug link). Code without a symbol is called module+0xoffset, by where its function begins. The "
    "kernel's come from /proc/kallsyms, or where that is hidden from a vmlinux of the same build.\n"
    ".Pp\nWhere there is debug information, functions that were inlined are frames of their own, marked "
    "(inlined);\n.Fl \\&-no\\-inline\nmakes them part of those that hold them.\n"
    ".Pp\nDebug files that are missing are fetched with\n.Fl \\&-debuginfod ,\nin the background and with a "
    "limit of time. Without it no server is asked.\n"
    ".Pp\nCode made at run time has the names that its runtime tells, in /tmp/perf\\-PID.map or a jitdump; "
    "both must belong to the process's user or to root. What code was called when it was sampled stays with "
    "the sample, and is written with it.\n"
    ".Bl -tag -width Ds\n"
    ".It Java\nIn the doctor, a key asks the running VM for its map (JDK 17 and later), as jcmd PID "
    "Compiler.perfmap does. Stacks are whole without it on x86\\-64; elsewhere, and in files of other tools, with java "
    "\\-XX:+PreserveFramePointer.\n"
    ".It node\nnode \\-\\-perf\\-basic\\-prof\n"
    ".It Python\npython3 \\-X perf, 3.12 and later\n.El\n";

static const char man_tail[] =
    ".Sh EXAMPLES\n"
    "The whole machine:\n.Dl flametop\n"
    "One process and its children, user space only:\n.Dl flametop \\-K \\-p 1234\n"
    "Who causes page faults:\n.Dl flametop \\-e page\\-faults\n"
    "A command from its start:\n.Dl flametop \\-\\- make \\-j4\n"
    "Ten seconds to a file, and its screens afterwards:\n"
    ".Dl flametop \\-\\-duration 10 \\-o ten.data\n.Dl flametop \\-i ten.data\n"
    "A line per stack, for flamegraph.pl:\n.Dl flametop \\-\\-duration 10 \\-o ten.folded\n"
    "A flame graph for a browser, and what changed between two profiles:\n"
    ".Dl flametop \\-i ten.data \\-o ten.svg\n.Dl flametop \\-i ten.data \\-\\-diff before.data \\-o diff.svg\n"
    ".Dl flametop \\-i ten.data \\-\\-diff before.data | less\n"
    ".Sh PERMISSIONS\nRoot, or a program file with the capabilities that are needed, never setuid:\n"
    ".Dl setcap cap_perfmon,cap_sys_ptrace,cap_syslog+ep flametop\n"
    "CAP_PERFMON opens events on all CPUs, CAP_SYS_PTRACE reads the memory maps of other users' processes, "
    "CAP_SYSLOG the kernel's symbol addresses. Without them\n.Nm\nmeasures the user's own processes, as far as "
    "kernel.perf_event_paranoid lets it: at 0 or less all CPUs, at 1 the user's own processes, at 2 those in user "
    "space only, above that (Debian, Ubuntu) nothing.\n"
    ".Sh FILES\n.Bl -tag -width Ds\n"
    ".It Pa $XDG_CONFIG_HOME/flametop/config , Pa /etc/flametop/config\n"
    "The first one that is there is read; without XDG_CONFIG_HOME the user's is below\n.Pa ~/.config .\n"
    "Section [options] takes the long names of options, section [keys] the names of actions as they stand in "
    "parentheses above:\n"
    ".Bd -literal -offset indent\n[options]\ntheme = light\ndelay = 2\n\n[keys]\nfreeze = F9 z\n.Ed\n"
    "A file that others may write to is refused.\n"
    ".It Pa $XDG_CONFIG_HOME/flametop/themes/NAME.theme\nThemes of the user; one may have the name of a "
    "theme that comes "
    "with the program.\n"
    ".It Pa $XDG_CONFIG_HOME/flametop/presets , Pa /etc/flametop/presets\nPresets for\n.Fl \\&-preset\nand the "
    "picker of events, besides those of the program. A row is\n"
    ".Dl NAME EVENT[,EVENT...] RATE VIEW GROUP SCOPE WHAT FOR\n"
    "with a RATE such as 99Hz, 1/1000 (one in so many), each, auto (a period that follows the event's rate), and - in the place of what stays as it is; a SCOPE is all, "
    "user=NAME, cgroup=PATH or cpus=LIST, several joined by +.\n.Fl \\&-list\\-presets\nprints such rows.\n"
    ".It Pa /tmp/perf-PID.map , Pa jit-PID.dump\nNames of just\\-in\\-time compiled code; see\n.Sx NAMES "
    ".\n"
    ".It Pa $XDG_CACHE_HOME/flametop\nSymbol and unwind tables for the next start; without XDG_CACHE_HOME "
    "below\n.Pa ~/.cache .\nBounded to 256 MB, what was not used for longest leaves. It may be deleted at "
    "any time; a folder that others own or may write to is not used.\n.Fl \\&-no\\-cache\ndoes without.\n"
    ".It Pa palette.map\nIn the current folder: the colours of functions, with\n.Fl \\&-cp .\n"
    ".It Pa /usr/lib/debug\nSeparate debug files.\n"
    ".It Pa ~/.debug\nFiles that perf record kept, for a perf.data.\n.El\n"
    ".Sh ENVIRONMENT\n.Bl -tag -width Ds\n"
    ".It Ev TERM , LINES , COLUMNS\nThe terminal and its size.\n"
    ".It Ev NO_COLOR\nIf it is not empty, the same as\n.Fl \\&-no\\-color .\n"
    ".It Ev LC_ALL , LC_CTYPE , LANG\nIf they do not name UTF-8, the screen is drawn in ASCII.\n"
    ".It Ev XDG_CONFIG_HOME\nWhere the user's config and themes are.\n"
    ".It Ev XDG_CACHE_HOME\nWhere symbol and unwind tables are kept.\n"
    ".It Ev DEBUGINFOD_URLS\nServers for\n.Fl \\&-debuginfod ,\nwhere it names none.\n"
    ".It Ev PERF_BUILDID_DIR\nIn the place of\n.Pa ~/.debug .\n.El\n"
    ".Sh EXIT STATUS\n0 on success, 1 when something failed (the message is on standard error), 2 for a "
    "wrong "
    "command line, 128 and the signal's number when a signal ended it. With a command and\n.Fl o ,\nthe "
    "command's "
    "own status if that is not 0.\n"
    ".Sh SEE ALSO\n.Xr perf 1 ,\n.Xr perf-record 1 ,\n.Xr perf-report 1 ,\n.Xr perf-top 1 ,\n.Xr htop 1\n";

/* A help text is no sentence: it gets its full stop here, unless it ends in dots. */
static void put_help(struct buf *out, const char *help)
{
    size_t len = strlen(help);
    put_mdoc(out, help);
    buf_puts(out, len && help[len - 1] == '.' ? "\n" : ".\n");
}

static void man_options(struct buf *out)
{
    const char *heading = "";
    buf_puts(out, ".Sh OPTIONS\n");
    for (int i = 0; i < OPTION_COUNT_ALL; i++) {
        const struct option_row *r = option_row((enum option_id)i);
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
    man_options(out);
    buf_puts(out, ".Sh KEYS\nAs they are without a config file; in parentheses the name of the action.\n");
    ui_keys_document(out, ACTION_MDOC);
    man_exports(out);
    buf_puts(out, man_tail);
}

bool document_generate(const char *format, struct buf *out, struct error *e)
{
    if (!strcmp(format, "man"))
        generate_man(out);
    else if (!strcmp(format, "markdown"))
        ui_keys_document(out, ACTION_MARKDOWN);
    else if (!strcmp(format, "bash"))
        completions_bash(out);
    else if (!strcmp(format, "zsh"))
        completions_zsh(out);
    else if (!strcmp(format, "fish"))
        completions_fish(out);
    else
        return error_set(e, ERROR_ARGUMENT, "--generate %s: one of %s is needed", format,
                         option_row(OPTION_GENERATE)->arg);
    return true;
}
