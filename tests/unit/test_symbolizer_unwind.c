// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbolizer_fixture.h"

#include <sys/mman.h>
#include <sys/sysmacros.h>

#include "symbols/symbolizer_state.h"
#include "unwind/rowformat.h"
#include "unwind_row.h"

#define FUNCTION 0x40 /* from the start of the segment */

/* .eh_frame of one function of 0x20 bytes: sp + 8, and sp + 16 from its second byte on. */
static size_t make_eh_frame(uint8_t *dst, uint64_t addr)
{
    static const uint8_t cie[] = { 0x14, 0,    0,  0, 0,    0,    0, 0, 1,    'z', 'R', 0,
                                   1,    0x78, 16, 1, 0x1b, 0x0c, 7, 8, 0x90, 1,   0,   0 };
    static const uint8_t fde[] = { 0x14, 0, 0, 0, 0x1c, 0,    0,    0,  0, 0, 0, 0,
                                   0x20, 0, 0, 0, 0,    0x41, 0x0e, 16, 0, 0, 0, 0 };
    int32_t distance = (int32_t)(ELF_MAKER_VADDR + FUNCTION - (addr + sizeof cie + 8));

    memcpy(dst, cie, sizeof cie);
    memcpy(dst + sizeof cie, fde, sizeof fde);
    memcpy(dst + sizeof cie + 8, &distance, 4);
    memset(dst + sizeof cie + sizeof fde, 0, 4);
    return sizeof cie + sizeof fde + 4;
}

#define EH_ADDR (ELF_MAKER_VADDR + 0x2000)

static const struct elf_maker_symbol plain = { "plain_function", ELF_MAKER_VADDR + FUNCTION, 0x20, 0 };

static struct elf_maker with_frames(unsigned char id, const char *section)
{
    static uint8_t frames[64];
    struct elf_maker m = { .symbols = &plain, .n_symbols = 1, .symtab_type = SHT_DYNSYM, .id = id };

    m.extras[0] = (struct elf_maker_extra){ section, frames, make_eh_frame(frames, EH_ADDR), EH_ADDR, 0 };
    return m;
}

/* .debug_frame: ids and pointers differ. */
static struct elf_maker with_debug_frame(unsigned char id)
{
    static const uint8_t frames[] = { 0x14, 0,    0,  0, 0xff, 0xff, 0xff, 0xff, 1,        0, 1,    0x78,
                                      16,   0x0c, 7,  8, 0x90, 1,    0,    0,    0,        0, 0,    0,
                                      0x1c, 0,    0,  0, 0,    0,    0,    0,    FUNCTION, 0, 0x40, 0,
                                      0,    0,    0,  0, 0x20, 0,    0,    0,    0,        0, 0,    0,
                                      0x41, 0x0e, 16, 0, 0,    0,    0,    0 };
    struct elf_maker m = { .symbols = &plain, .n_symbols = 1, .symtab_type = SHT_SYMTAB, .id = id };

    m.extras[0] = (struct elf_maker_extra){ ".debug_frame", frames, sizeof frames, 0, 0 };
    return m;
}

static const struct unwind_rows *rows_of(struct setup *s, struct module *m)
{
    const struct unwind_rows *rows;
    enum symbol_state state = symbolizer_unwind_wait(s->sy, m, LONG_ENOUGH, &rows);

    assert_int_not_equal(state, SYMBOL_PENDING);
    assert_int_equal(state == SYMBOL_FOUND, rows != NULL);
    return rows;
}

static void assert_rows(const struct unwind_rows *rows)
{
    struct unwind_row row;

    assert_non_null(rows);
    assert_true(unwind_rows_find(rows, ELF_MAKER_OFFSET + FUNCTION, &row));
    assert_int_equal(row.kind, UNWIND_ROW_SP);
    assert_int_equal(row.cfa_offset, 8);
    assert_true(unwind_rows_find(rows, ELF_MAKER_OFFSET + FUNCTION + 1, &row));
    assert_int_equal(row.cfa_offset, 16);
}

static const char *why_none(struct setup *s, const struct module *m)
{
    static char text[512];

    symbolizer_unwind_trouble(s->sy, m, text, sizeof text);
    return text;
}

FIXTURE_TEST(a_table_is_read_in_the_background)
{
    struct setup *s = *state;
    struct elf_maker maker = with_frames(9, ".eh_frame");
    struct module *m = make_elf_module(s, "a", &maker);
    uint32_t before = symbolizer_generation(s->sy);
    const struct unwind_rows *rows;

    assert_int_equal(symbolizer_unwind(s->sy, m, &rows), SYMBOL_PENDING);
    assert_null(rows);
    assert_rows(rows_of(s, m));
    assert_int_not_equal(symbolizer_generation(s->sy), before);
    assert_int_equal(symbolizer_unwind(s->sy, m, &rows), SYMBOL_FOUND);
    assert_string_equal(why_none(s, m), "");
    module_put(m);
}

/* A module of this process whose file was deleted. */
static struct module *map_deleted(struct setup *s, const char *name, const struct elf_maker *maker)
{
    struct elf_maker_file f;
    struct module like = { .kind = MODULE_FILE, .pid = (uint32_t)getpid(), .live = true };
    struct stat st;
    char path[128];
    void *map;
    int fd;

    elf_maker_fill(&f, maker);
    snprintf(path, sizeof path, "%s/%s", s->dir, name);
    fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    assert_int_equal(write(fd, &f, sizeof f), sizeof f);
    map = mmap(NULL, sizeof f, PROT_READ, MAP_PRIVATE, fd, 0);
    assert_true(map != MAP_FAILED && !fstat(fd, &st));
    close(fd);
    unlink(path);
    like.path = path;
    like.ino = st.st_ino;
    like.maj = major(st.st_dev);
    like.min = minor(st.st_dev);
    like.map_start = (uintptr_t)map;
    like.map_end = like.map_start + ((sizeof f + 4095) & ~(size_t)4095);
    return module_new(&like);
}

static void unmap(const struct module *m)
{
    assert_int_equal(munmap((void *)(uintptr_t)m->map_start, m->map_end - m->map_start), 0);
}

/* Names are requested when they are shown: too late for a plugin that was unloaded since. */
FIXTURE_TEST(names_of_a_deleted_file_are_read_with_its_table)
{
    struct setup *s = *state;
    struct elf_maker maker = with_frames(9, ".eh_frame");
    struct module *m = map_deleted(s, "gone", &maker);

    if (!rows_of(s, m)) {
        print_message("map_files cannot be read here: %s\n", why_none(s, m));
        skip();
    }
    assert_true(symbolizer_settle(s->sy, LONG_ENOUGH));
    unmap(m);
    assert_string_equal(settled(s, m, ELF_MAKER_OFFSET + FUNCTION).name, "plain_function");
    module_put(m);
}

FIXTURE_TEST(code_of_this_program_has_rows)
{
    struct setup *s = *state;
    uint64_t offset = 0, start, size;
    struct module *m = own_module((void *)(uintptr_t)symbolizer_lookup, &offset);
    const struct unwind_rows *rows = rows_of(s, m);
    struct unwind_row row;

    assert_non_null(rows);
    assert_true(unwind_rows_find(rows, offset, &row));
    assert_true(unwind_rows_function(rows, offset + 5, &start, &size));
    assert_int_equal(start, offset);
    module_put(m);
}

FIXTURE_TEST(an_unnamed_function_is_the_same_at_every_lookup)
{
    struct setup *s = *state;
    struct module *m = make_module(MODULE_FILE, "/usr/bin/sleep", "sleep");
    const struct unwind_rows *rows = rows_of(s, m);
    struct symbol symbol;
    unsigned unnamed = 0;

    assert_non_null(rows);
    symbolizer_lookup(s->sy, m, rows->header->base, &symbol); /* requests names */
    symbolizer_settle(s->sy, LONG_ENOUGH);
    for (size_t row = 0; row < unwind_rows_count(rows); row++) {
        uint64_t offset = rows->header->base + rows->pcs[row], start, size;

        if (!unwind_rows_function(rows, offset, &start, &size))
            continue;
        for (int look = 0; look < 2; look++) {
            symbolizer_lookup(s->sy, m, offset, &symbol);
            if (symbol.state == SYMBOL_FOUND)
                break;
            assert_int_equal(symbol.start, start);
            assert_int_equal(symbol.size, size);
            unnamed++;
        }
    }
    print_message("%u functions without a name\n", unnamed);
    module_put(m);
}

FIXTURE_TEST(the_vdso_has_rows)
{
    struct setup *s = *state;
    struct module *m = make_module(MODULE_VDSO, "[vdso]", "[vdso]");
    const struct unwind_rows *rows = rows_of(s, m);

    if (!rows) {
        module_put(m);
        print_message("no vdso here\n");
        skip();
    }
    assert_true(unwind_rows_count(rows) > 0);
    module_put(m);
}

FIXTURE_TEST(modules_without_a_possible_table_are_reported_at_once)
{
    struct setup *s = *state;
    static const enum module_kind kinds[] = { MODULE_JIT, MODULE_KERNEL, MODULE_BROKEN, MODULE_UNKNOWN };
    const struct unwind_rows *rows;
    struct symbolizer_stats stats;
    size_t i;

    for (i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct module *m = make_module(kinds[i], "x", "x");
        assert_int_equal(symbolizer_unwind(s->sy, m, &rows), SYMBOL_NONE);
        assert_null(rows);
        module_put(m);
    }
    symbolizer_stats(s->sy, &stats);
    assert_int_equal(stats.pending, 0);
}

FIXTURE_TEST(a_file_without_call_frames_says_why)
{
    struct setup *s = *state;
    struct elf_maker maker = { .symbols = &plain, .n_symbols = 1, .symtab_type = SHT_SYMTAB, .id = 9 };
    struct elf_maker arm32 = maker;
    struct module *none = make_elf_module(s, "a", &maker), *gone, *other;

    arm32.machine = EM_ARM;
    other = make_elf_module(s, "b", &arm32);
    gone = make_module(MODULE_FILE, "/nonexistent/lib.so", "lib.so");
    assert_null(rows_of(s, none));
    assert_non_null(strstr(why_none(s, none), "no call-frame information"));
    assert_null(rows_of(s, gone));
    assert_non_null(strstr(why_none(s, gone), "No such file"));
    assert_null(rows_of(s, other));
    assert_non_null(strstr(why_none(s, other), "machine"));
    module_put(none);
    module_put(gone);
    module_put(other);
}

FIXTURE_TEST(a_file_with_another_build_id_gives_no_rows)
{
    struct setup *s = *state;
    struct elf_maker maker = with_frames(9, ".eh_frame");
    struct module *on_disk = make_elf_module(s, "a", &maker), *m;
    struct module like = module_value(on_disk);

    like.id = 5000;
    like.build_id_size = 20;
    memset(like.build_id, 8, sizeof like.build_id);
    m = module_new(&like);
    assert_null(rows_of(s, m));
    assert_non_null(strstr(why_none(s, m), "another build"));
    module_put(m);
    module_put(on_disk);
}

FIXTURE_TEST(a_debug_files_frames_are_used)
{
    struct setup *s = *state;
    struct elf_maker maker = { .symbols = &plain, .n_symbols = 1, .symtab_type = SHT_DYNSYM, .id = 9 };
    struct elf_maker debug = with_debug_frame(9), wrong = with_debug_frame(10);
    struct module *m, *other;

    maker.link = "a.debug";
    m = make_elf_module(s, "a", &maker);
    module_put(make_elf_module(s, "a.debug", &debug));
    assert_rows(rows_of(s, m));
    maker.link = "b.debug";
    maker.id = 11;
    other = make_elf_module(s, "b", &maker);
    module_put(make_elf_module(s, "b.debug", &wrong));
    assert_null(rows_of(s, other));
    assert_non_null(strstr(why_none(s, other), "no call-frame information"));
    module_put(m);
    module_put(other);
}

/* Debug files are large, and few have call frames: this is not checked again at each start. */
FIXTURE_TEST(a_debug_file_without_frames_is_read_once)
{
    struct setup *s = *state, one;
    struct symbolizer_config cfg = { .live = true, .keep_tables = true };
    struct elf_maker maker = with_frames(9, ".eh_frame");
    struct elf_maker debug = { .symbols = &plain, .n_symbols = 1, .symtab_type = SHT_SYMTAB, .id = 9 };
    struct symbolizer_stats stats;
    const char *known = getenv("XDG_CACHE_HOME");
    char before[256];
    int i;

    snprintf(before, sizeof before, "%s", known ? known : "");
    setenv("XDG_CACHE_HOME", s->dir, 1);
    maker.link = "a.debug";
    maker.note_segment = true;
    module_put(make_elf_module(s, "a.debug", &debug));
    struct module *m = make_elf_module(s, "a", &maker);
    for (i = 0; i < 2; i++) {
        start(&one, &cfg);
        assert_rows(rows_of(&one, m));
        symbolizer_stats(one.sy, &stats);
        assert_int_equal(stats.worker_starts > 0, i == 0);
        stop(&one);
    }
    if (known)
        setenv("XDG_CACHE_HOME", before, 1);
    else
        unsetenv("XDG_CACHE_HOME");
    module_put(m);
}

FIXTURE_TEST(frames_are_found_without_section_headers)
{
    struct setup *s = *state;
    struct elf_maker maker = { .symbols = &plain, .n_symbols = 1, .id = 9 };
    static struct elf_maker_file f;
    static uint8_t bytes[ELF_MAKER_OFFSET + ELF_MAKER_SIZE];
    const uint64_t hdr = ELF_MAKER_VADDR + 0x800, eh = hdr + 16;
    int32_t distance = (int32_t)(eh - (hdr + 4));
    struct {
        Elf64_Ehdr header;
        Elf64_Phdr segments[2];
    } *start = (void *)bytes;
    struct module *m;

    elf_maker_fill(&f, &maker);
    start->header = f.header;
    start->header.e_shoff = start->header.e_shnum = start->header.e_shstrndx = 0;
    start->header.e_phoff = sizeof start->header;
    start->header.e_phnum = 2;
    start->segments[0] = f.segment;
    start->segments[1] = (Elf64_Phdr){ .p_type = PT_GNU_EH_FRAME,
                                       .p_vaddr = hdr,
                                       .p_offset = ELF_MAKER_OFFSET + 0x800,
                                       .p_filesz = 16,
                                       .p_memsz = 16 };
    memcpy(bytes + ELF_MAKER_OFFSET + 0x800, "\1\x1b\xff\xff", 4);
    memcpy(bytes + ELF_MAKER_OFFSET + 0x804, &distance, 4);
    make_eh_frame(bytes + ELF_MAKER_OFFSET + 0x810, eh);
    m = make_file_module(s, "stripped", bytes, sizeof bytes);
    assert_rows(rows_of(s, m));
    module_put(m);
}

/* Many more modules than files, as with containers: one table per build. Nothing waits for it. */
FIXTURE_TEST(a_hundred_thousand_modules_of_one_build_share_a_table)
{
    enum { MANY = 100000 };
    struct setup *s = *state;
    struct module **modules = mem_array(MANY, sizeof *modules);
    const struct unwind_rows *rows, *first = NULL;
    uint64_t offset;
    struct symbolizer_stats stats;
    struct module *own = own_module((void *)(uintptr_t)symbolizer_lookup, &offset);
    unsigned i, kills = 0;

    for (i = 0; i < MANY; i++) {
        modules[i] = make_module(MODULE_FILE, own->path, "self");
        assert_int_not_equal(symbolizer_unwind(s->sy, modules[i], &rows), SYMBOL_NONE);
        if (i % (MANY / 20) == 0) {
            pid_t pid = find_worker();
            kills += pid > 0 && !kill(pid, SIGKILL);
        }
    }
    for (i = 0; i < MANY; i++) {
        assert_int_equal(symbolizer_unwind_wait(s->sy, modules[i], LONG_ENOUGH, &rows), SYMBOL_FOUND);
        first = first ? first : rows;
        assert_ptr_equal(rows, first);
        module_put(modules[i]);
    }
    symbolizer_stats(s->sy, &stats);
    assert_int_equal(stats.pending, 0);
    assert_true(stats.worker_starts < 100);
    print_message("%u kills, %u starts\n", kills, stats.worker_starts);
    mem_free(modules);
    module_put(own);
}

FIXTURE_TEST(tables_arrive_even_if_the_worker_is_killed)
{
    enum { MANY = 300 };
    struct setup *s = *state;
    struct module *modules[MANY];
    const struct unwind_rows *rows;
    char name[16];
    unsigned i, kills = 0;

    for (i = 0; i < MANY; i++) {
        struct elf_maker maker = with_frames(0, ".eh_frame"); /* no build-id: each is read */
        snprintf(name, sizeof name, "m%u", i);
        modules[i] = make_elf_module(s, name, &maker);
        symbolizer_unwind(s->sy, modules[i], &rows);
        symbolizer_request(s->sy, modules[i]);
        if (i % 3 == 2) {
            pid_t pid = find_worker();
            kills += pid > 0 && !kill(pid, SIGKILL);
        }
    }
    for (i = 0; i < MANY; i++) {
        assert_rows(rows_of(s, modules[i]));
        module_put(modules[i]);
    }
    print_message("%u kills\n", kills);
}

/* Stacks wait for tables; names can come later. */
FIXTURE_TEST(tables_are_read_before_names)
{
    struct symbolizer_config cfg = { .live = true };
    struct symbolizer *sy = symbolizer_new(&cfg, NULL);
    struct module *a = make_module(MODULE_FILE, "/a", "a"), *b = make_module(MODULE_FILE, "/b", "b");
    const struct unwind_rows *rows;
    struct symbol_task *task;

    assert_non_null(sy);
    symbolizer_request(sy, a);
    symbolizer_request(sy, b);
    assert_int_equal(symbolizer_unwind(sy, b, &rows), SYMBOL_PENDING);
    assert_int_equal(symbolizer_unwind(sy, b, &rows), SYMBOL_PENDING);
    assert_int_equal(sy->waiting, 3);
    task = mods_take(sy, LANE_QUICK);
    assert_int_equal(symbol_task_kind(task), TASK_UNWIND);
    assert_ptr_equal(task->mod->module, b);
    task = mods_take(sy, LANE_QUICK);
    assert_int_equal(symbol_task_kind(task), TASK_NAMES);
    assert_ptr_equal(task->mod->module, a);
    assert_ptr_equal(mods_take(sy, LANE_QUICK)->mod->module, b);
    assert_null(mods_take(sy, LANE_QUICK));
    symbolizer_free(sy);
    module_put(a);
    module_put(b);
}

/* A section in zlib format (RFC 1950) with one stored block, after its ELF header. */
static size_t compress(uint8_t *dst, uint32_t type, const void *bytes, uint16_t n)
{
    Elf64_Chdr header = { .ch_type = type, .ch_size = n, .ch_addralign = 1 };
    uint16_t inverse = (uint16_t)~n;
    uint32_t a = 1, b = 0;
    uint8_t *p = dst + sizeof header;
    size_t i;

    memcpy(dst, &header, sizeof header);
    memcpy(p, "\x78\x01\x01", 3);
    memcpy(p + 3, &n, 2);
    memcpy(p + 5, &inverse, 2);
    memcpy(p + 7, bytes, n);
    for (i = 0; i < n; i++) {
        a = (a + ((const uint8_t *)bytes)[i]) % 65521;
        b = (b + a) % 65521;
    }
    b = __builtin_bswap32(b << 16 | a);
    memcpy(p + 7 + n, &b, 4);
    return sizeof header + 7 + n + 4;
}

FIXTURE_TEST(compressed_frames_are_read_or_a_reason_is_given)
{
    static uint8_t bytes[256];
    struct setup *s = *state;
    struct elf_maker maker = with_debug_frame(9);
    const struct elf_maker_extra plain_frames = maker.extras[0];
    struct module *zlib, *unknown, *bomb;
    Elf64_Chdr header = { .ch_type = ELFCOMPRESS_ZLIB, .ch_size = UINT64_C(1) << 40, .ch_addralign = 1 };

    maker.extras[0].bytes = bytes;
    maker.extras[0].flags = SHF_COMPRESSED;
    maker.extras[0].n = compress(bytes, ELFCOMPRESS_ZLIB, plain_frames.bytes, (uint16_t)plain_frames.n);
    zlib = make_elf_module(s, "zlib", &maker);
    maker.id = 10;
    compress(bytes, 2, plain_frames.bytes, (uint16_t)plain_frames.n); /* not zstd for any reader */
    unknown = make_elf_module(s, "unknown", &maker);
    maker.id = 11;
    memcpy(bytes, &header, sizeof header);
    bomb = make_elf_module(s, "bomb", &maker);
    assert_rows(rows_of(s, zlib));
    assert_null(rows_of(s, unknown));
    assert_non_null(strstr(why_none(s, unknown), ".debug_frame"));
    assert_null(rows_of(s, bomb));
    assert_non_null(strstr(why_none(s, bomb), "too large"));
    module_put(zlib);
    module_put(unknown);
    module_put(bomb);
}

FIXTURE_TEST(unnamed_code_is_shown_by_its_function)
{
    struct setup *s = *state;
    struct elf_maker maker = with_frames(9, ".eh_frame");
    struct module *m;
    struct symbol a, b, between;

    maker.symtab_type = 0;
    m = make_elf_module(s, "a", &maker);
    symbolizer_request(s->sy, m);
    assert_true(
        symbolizer_settle(s->sy, LONG_ENOUGH)); /* for all needed modules, without an explicit request */
    symbolizer_lookup(s->sy, m, ELF_MAKER_OFFSET + FUNCTION + 4, &a);
    symbolizer_lookup(s->sy, m, ELF_MAKER_OFFSET + FUNCTION + 0x1f, &b);
    symbolizer_lookup(s->sy, m, ELF_MAKER_OFFSET + FUNCTION + 0x20, &between);
    assert_int_equal(a.state, SYMBOL_NONE);
    assert_string_equal(a.name, "a+0x1040");
    assert_string_equal(b.name, "a+0x1040");
    assert_true(a.key == b.key);
    assert_int_equal(b.start, ELF_MAKER_OFFSET + FUNCTION);
    assert_int_equal(b.size, 0x20);
    assert_string_equal(between.name, "a+0x1060");
    assert_int_equal(between.size, 0);
    module_put(m);
}

FIXTURE_TEST(a_trim_keeps_the_tables_of_kept_modules)
{
    struct setup *s = *state;
    struct elf_maker maker = with_frames(9, ".eh_frame");
    struct module *a = make_elf_module(s, "a", &maker), *b = make_elf_module(s, "b", &maker);
    const struct unwind_rows *rows = rows_of(s, a), *again;
    uint8_t *keep = mem_zalloc(b->id + 1);

    assert_ptr_equal(rows_of(s, b), rows);
    keep[b->id] = 1;
    symbolizer_trim(s->sy, keep, b->id + 1);
    assert_int_equal(symbolizer_unwind(s->sy, b, &again), SYMBOL_FOUND);
    assert_ptr_equal(again, rows);
    assert_rows(again);
    symbolizer_trim(s->sy, NULL, 0);
    assert_rows(rows_of(s, a));
    mem_free(keep);
    module_put(a);
    module_put(b);
}

FIXTURE_TEST(damaged_files_do_not_crash_the_worker)
{
    struct setup *s = *state;
    struct elf_maker maker = with_frames(0, ".eh_frame");
    static struct elf_maker_file f;
    char name[16];
    size_t i;

    for (i = 0; i < 300; i++) {
        struct module *m;
        elf_maker_fill(&f, &maker);
        if (i < 200)
            ((unsigned char *)&f)[i * 3] ^= 0xff;
        else
            ((unsigned char *)f.extras)[i - 200] ^= 0xff;
        snprintf(name, sizeof name, "d%zu", i);
        m = make_file_module(s, name, &f, i % 2 ? sizeof f : sizeof f - i);
        rows_of(s, m);
        assert_null(strstr(why_none(s, m), "worker"));
        module_put(m);
    }
}

SYMBOLIZER_TEST_MAIN(NULL, NULL)
