// SPDX-License-Identifier: GPL-2.0-or-later
/* Definitions of probes, and what is written to uprobe_events, in a tracefs of the test's own. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "perf/event.h"
#include "perf/probe.h"
#include "perf/tracepoint.h"
#include "unit_test.h"
#include "files.h"

static char tracefs[64];
static struct error error;

static void make(const char *name, const char *text)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", tracefs, name);
    if (!text) {
        mkdir(path, 0700);
        return;
    }
    write_text(path, text);
}

static int setup(void **state)
{
    strcpy(tracefs, "/tmp/test_probe.XXXXXX");
    assert_non_null(mkdtemp(tracefs));
    make("events", NULL);
    make("events/probe", NULL);
    make("events/probe/vfs_read", NULL);
    make("events/probe/vfs_read/id", "7\n");
    tracepoint_set_root(tracefs);
    return 0;
}

static int teardown(void **state)
{
    tracepoint_set_root(NULL);
    return remove_tree(tracefs);
}

static void written(struct buf *text)
{
    char path[128];
    snprintf(path, sizeof path, "%s/uprobe_events", tracefs);
    assert_true(file_read(path, 1 << 20, text, &error));
}

/* ---- a finder of the test's own ---- */

static struct probe_place places[4];
static size_t n_places;

static bool find(const struct probe_spec *spec, struct probe_places *out, struct error *e)
{
    (void)spec;
    for (size_t i = 0; i < n_places; i++)
        *VEC_PUSH(out) = places[i];
    return n_places || error_set(e, ERROR_MISSING, "there is none");
}

static void place(const char *details, bool wide)
{
    n_places = 1;
    places[0] = (struct probe_place){
        .path = "/bin/x", .name = "work", .details = details, .offset = 0x1139, .wide = wide
    };
}

static void assert_printed(const char *definition, const char *wanted)
{
    struct buf out = { 0 };
    error_clear(&error);
    if (!probe_print_definition(definition, &out, &error))
        fail_msg("%s: %s", definition, error.text);
    assert_string_equal(buf_str(&out), wanted);
    buf_done(&out);
}

static void assert_refused(const char *definition, const char *text)
{
    struct buf out = { 0 };
    error_clear(&error);
    assert_false(probe_print_definition(definition, &out, &error));
    if (!strstr(error.text, text))
        fail_msg("%s: %s", definition, error.text);
    buf_done(&out);
}

/* ---- tests ---- */

TEST(a_definition_has_its_parts)
{
    struct probe_spec s;
    assert_true(probe_parse("probe:/bin/x:ns::work|w*+0x10 a=%di:u64; $retval;b=+8(%sp)", &s, &error));
    assert_int_equal(s.kind, PROBE_FUNCTION);
    assert_string_equal(s.file, "/bin/x");
    assert_string_equal(s.name, "ns::work|w*");
    assert_int_equal(s.offset, 0x10);
    assert_int_equal(s.n_arguments, 3);
    assert_string_equal(s.arguments[0].name, "a");
    assert_string_equal(s.arguments[0].value, "%di");
    assert_string_equal(s.arguments[0].type, "u64");
    assert_string_equal(s.arguments[1].name, "");
    assert_string_equal(s.arguments[2].value, "+8(%sp)");
    assert_true(probe_parse("probe:x:work%return", &s, &error));
    assert_true(s.at_return);
    assert_true(probe_parse("probe:x:dir/main.c:12", &s, &error));
    assert_int_equal(s.kind, PROBE_LINE);
    assert_string_equal(s.name, "dir/main.c");
    assert_int_equal(s.line, 12);
    assert_true(probe_parse("probe:x:0x1139(0x4010)", &s, &error));
    assert_int_equal(s.kind, PROBE_OFFSET);
    assert_int_equal(s.offset, 0x1139);
    assert_int_equal(s.semaphore, 0x4010);
    assert_true(probe_parse("sdt:x:provider:name*", &s, &error));
    assert_int_equal(s.kind, PROBE_MARKER);
    assert_string_equal(s.name, "provider:name*");
}

TEST(a_wrong_definition_is_located)
{
    static const struct {
        const char *text;
        size_t at;
    } cases[] = {
        { "probe:x", 6 },
        { "probe::work", 6 },
        { "probe:x:", 8 },
        { "probe:x:f+y", 10 },
        { "probe:x:f%retrun", 9 },
        { "probe:x:f%return%return", 9 },
        { "probe:x:f+1%return", 9 },
        { "probe:x:0x1z", 8 },
        { "probe:x:0x1(2", 11 },
        { "probe:x:a.c:0", 12 },
        { "probe:x:a.c:1%return", 8 },
        { "probe:x:f 1a=%di", 10 },
        { "probe:x:f a=", 12 },
        { "probe:x:f a=%di:", 16 },
        { "probe:x:f a=%di:u8;b=5", 21 },
        { "probe:x:f a=%di:u-8", 16 },
        { "sdt:x:name", 6 },
        { "sdt:x:p:n a", 10 },
    };
    struct probe_spec s;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        error_clear(&error);
        assert_false(probe_parse(cases[i].text, &s, &error));
        if (!error.placed || error.at != cases[i].at)
            fail_msg("%s: at %zu: %s", cases[i].text, error.at, error.text);
    }
}

TEST(tracepoints_are_no_definitions)
{
    assert_true(probe_is_definition("probe:x:work"));
    assert_true(probe_is_definition("probe:x")); /* an incomplete one */
    assert_false(probe_is_definition("probe:vfs_read"));
    assert_false(probe_is_definition("probe:vfs_read:u"));
    assert_false(probe_is_definition("probe:*"));
    assert_false(probe_is_definition("probe_libc:malloc"));
    assert_true(probe_is_definition("sdt:x:a:b"));
}

TEST(names_leave_out_folders_and_arguments)
{
    char name[32];
    probe_display_name("probe:/usr/lib/libc.so.6:open%return a=$retval", name, sizeof name);
    assert_string_equal(name, "probe:libc.so.6:open%return");
    probe_display_name("latency:probe:/bin/x:work a", name, sizeof name);
    assert_string_equal(name, "latency:probe:x:work");
    probe_display_name("sdt:./x:a:b", name, sizeof name);
    assert_string_equal(name, "sdt:x:a:b");
}

#ifdef __x86_64__
TEST(arguments_are_in_their_registers)
{
    place("fd:1:s32 path:2:x64 rest:0:", true);
    assert_printed("probe:x:work", "probe:/bin/x:0x1139\n");
    assert_printed("probe:x:work fd path path:string", "probe:/bin/x:0x1139 fd=%di:s32 path=%si:x64 "
                                                       "path=+0(%si):string\n");
    assert_printed("probe:x:work $arg6:u8 n=+8($arg2):s64",
                   "probe:/bin/x:0x1139 arg1=%r9:u8 n=+8(%si):s64\n");
    assert_printed("probe:x:work%return $retval", "probe:/bin/x:0x1139%return ret=$retval:u64\n");
    assert_printed("probe:x:work%return $retval:string",
                   "probe:/bin/x:0x1139%return ret=+0($retval):string\n");
    assert_refused("probe:x:work nosuch", "its parameters are fd, path, rest");
    assert_refused("probe:x:work rest", "is no number and no pointer");
    assert_refused("probe:x:work $arg7", "first 6 arguments");
    assert_refused("probe:x:work $argx", "numbered from $arg1");
    assert_refused("probe:x:work $retval", "at a return only");
    assert_refused("probe:x:work%return $arg1", "at the entry");
    assert_refused("probe:x:work%return fd", "at the entry");
}

TEST(variables_are_where_the_place_says)
{
    place("n:-20(%bp):s32 p:%si:x64 q:+8(%sp):x64 name:-64(%bp):text all:@+16400:u8 gone::s32 s:-8(%bp):",
          true);
    assert_printed(
        "probe:x:work+4 n p q all n=n:x8",
        "probe:/bin/x:0x1139 n=-20(%bp):s32 p=%si:x64 q=+8(%sp):x64 all=@+16400:u8 n=-20(%bp):x8\n");
    assert_printed("probe:x:a.c:3 name:string p:string q:string",
                   "probe:/bin/x:0x1139 name=-64(%bp):string p=+0(%si):string q=+0(+8(%sp)):string\n");
    assert_refused("probe:x:a.c:3 nosuch", "no variable 'nosuch' at this place");
    assert_refused("probe:x:a.c:3 name", "give it the type string");
    assert_refused("probe:x:a.c:3 n:string", "is no pointer");
    assert_refused("probe:x:a.c:3 gone", "is not in a register");
    assert_refused("probe:x:a.c:3 s", "is no number and no pointer");
    assert_refused("probe:x:0x1139 n", "no variable 'n'");
}

TEST(arguments_of_32_bits_are_on_the_stack)
{
    place("", false);
    assert_printed("probe:x:work $arg1 $arg3:string n=+8($arg2):s32",
                   "probe:/bin/x:0x1139 arg1=+4(%sp):u32 arg2=+0(+12(%sp)):string n=+8(+8(%sp)):s32\n");
}

TEST(operands_of_markers_are_translated)
{
    place("8@%rdi -4@%r8d 2@8(%rbp) -1@%sil 4@$-7 8@(%rax) 1@-16(%rsp)", true);
    assert_printed("sdt:x:a:b", "probe:/bin/x:0x1139 arg1=%di:u64 arg2=%r8:s32 arg3=+8(%bp):u16 arg4=%si:s8 "
                                "arg5=\\-7:u32 arg6=+0(%ax):u64 arg7=-16(%sp):u8\n");
    /* what uprobes cannot read is left out, and the rest keep their numbers */
    place("8@8(%rax,%rbx,4) 4@counter(%rip) 8f@%xmm0 3@%rdi 8@ @ 8 x@%rdi 8@%rzz 8@%r16d0 4@%rsi", true);
    assert_printed("sdt:x:a:b", "probe:/bin/x:0x1139 arg11=%si:u32\n");
    place("", true);
    assert_printed("sdt:x:a:b", "probe:/bin/x:0x1139\n");
}

TEST(places_of_a_marker_have_one_type)
{
    place("8@%rdi -4@%esi 4@%edx", true);
    places[1] = (struct probe_place){ .path = "/bin/x",
                                      .name = "a:b",
                                      .details = "-4@%esi 8@%rdi",
                                      .offset = 0x2000,
                                      .semaphore = 0x4010,
                                      .wide = true };
    n_places = 2;
    assert_printed("sdt:x:a:b", "probe:/bin/x:0x1139 arg1=%di:s32 arg2=%si:s32\n"
                                "probe:/bin/x:0x2000(0x4010) arg1=%si:s32 arg2=%di:s32\n");
}
#endif

TEST(a_printed_definition_has_a_lasting_path)
{
    place("", true);
    places[0].path = "/proc/self/fd/9";
    assert_printed("probe:my program:work", "probe:my program:0x1139\n");
}

TEST(a_return_in_a_go_program_is_refused)
{
    place("", true);
    places[0].go = true;
    assert_printed("probe:x:main.main", "probe:/bin/x:0x1139\n");
    assert_refused("probe:x:main.main%return", "is a Go program, whose stacks move");
}

TEST(a_kernel_without_uprobes_is_told)
{
    char tracepoint[PROBE_NAME_MAX];
    place("", true);
    error_clear(&error);
    assert_false(probe_define("probe:x:work", tracepoint, &error));
    assert_non_null(strstr(error.text, "this kernel has no uprobe_events"));
    assert_int_equal(error.class, ERROR_UNSUPPORTED);
}

TEST(events_have_names_of_their_own)
{
    char tracepoint[PROBE_NAME_MAX], again[PROBE_NAME_MAX], group[64];
    struct buf text = { 0 };
    make("uprobe_events", "");
    place("", true);
    places[0].semaphore = 0x20;
    places[1] = places[0];
    places[1].offset = 0x2000;
    n_places = 2;
    assert_true(probe_define("probe:x:work", tracepoint, &error));
    snprintf(group, sizeof group, "flametop_%d_", (int)getpid());
    assert_ptr_equal(strstr(tracepoint, group), tracepoint);
    assert_non_null(strstr(tracepoint, ":work"));
    assert_true(probe_define("probe:x:work", again, &error)); /* defined already */
    assert_string_equal(again, tracepoint);
    n_places = 1;
    assert_true(probe_define("probe:x:work a=%di", again, &error));
    assert_non_null(strstr(again, ":work_2"));
    assert_true(probe_define("probe:x:work%return", again, &error));
    assert_non_null(strstr(again, ":work__return"));
    places[0].name = "std::string<char>::9";
    assert_true(probe_define("probe:x:*", again, &error));
    assert_non_null(strstr(again, ":std__string_char___9"));
    written(&text);
    const char *first = strstr(buf_str(&text), "/work /bin/x:0x1139(0x20)");
    assert_non_null(first);
    assert_non_null(strstr(first, "/work /bin/x:0x2000(0x20)"));
    assert_non_null(strstr(first, "/work_2 /bin/x:0x1139(0x20) a=%di:u64"));
    assert_non_null(strstr(first, "r:flametop_"));
    buf_done(&text);
}

static void note_row(void *ctx, const struct probe_row *r)
{
    buf_printf(ctx, "%s %d %d\n", r->event, (int)r->owner, r->dead);
}

TEST(probes_of_dead_owners_are_removed)
{
    struct buf text = { 0 }, rows = { 0 };
    uint32_t removed, kept;
    make("uprobe_events",
         "p:flametop_2000000000_1f/work /bin/x:0x1139\n"
         "p:flametop_2000000000_1f/work /bin/x:0x2000\n"
         "r:flametop_1_ffffffffff/work__return /bin/x:0x1139 a=%di\n" /* the pid is used again */
         "p:flametop_x/work /bin/x:0x1139\n"
         "p:flametop_2000000000/work /bin/x:0x1139\n"
         "p:probe_x/work /bin/x:0x1139\n"
         "damaged\n"
         "p:damaged /bin/x\n");
    assert_true(probe_each(note_row, &rows, &error));
    assert_string_equal(buf_str(&rows), "flametop_2000000000_1f:work 2000000000 1\n"
                                        "flametop_2000000000_1f:work 2000000000 1\n"
                                        "flametop_1_ffffffffff:work__return 1 1\n"
                                        "flametop_x:work 0 0\n"
                                        "flametop_2000000000:work 0 0\n"
                                        "probe_x:work 0 0\n");
    assert_true(probe_remove_dead(&removed, &kept, &error));
    assert_int_equal(removed, 2);
    assert_int_equal(kept, 0);
    written(&text); /* the test's file is no uprobe_events: removals are lines at its end */
    assert_non_null(
        strstr(buf_str(&text), "/bin/x\n-:flametop_2000000000_1f/work-:flametop_1_ffffffffff/work__return"));
    buf_done(&text);
    buf_done(&rows);
}

int main(void)
{
    probe_set_finder(find);
    return run_listed_tests(setup, teardown);
}
