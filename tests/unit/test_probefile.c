// SPDX-License-Identifier: GPL-2.0-or-later
/* Functions and markers (.note.stapsdt) of made ELF files, as the symbol worker finds them for probes. */

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "elf_maker.h"
#include "symbols/probeformat.h"
#include "unit_test.h"

static struct error error;
static struct buf reply;
static struct probefile_view view;

static bool serve(const struct elf_maker *m, const struct probefile_ask *q)
{
    int fd = elf_maker_open(m);
    error_clear(&error);
    buf_clear(&reply);
    assert_true(fd >= 0);
    bool ok = probefile_serve(q, sizeof *q, &fd, 1, &reply, &error);
    close(fd);
    if (ok)
        assert_true(probefile_view(&view, reply.data, reply.len, &error));
    return ok;
}

static struct probefile_ask functions(const char *names)
{
    struct probefile_ask q = { .kind = PROBEFILE_FUNCTION };
    snprintf(q.name, sizeof q.name, "%s", names);
    return q;
}

static struct probefile_ask markers(const char *glob)
{
    struct probefile_ask q = { .kind = PROBEFILE_MARKERS };
    snprintf(q.name, sizeof q.name, "%s", glob);
    return q;
}

/* ---- functions ---- */

/* The offset in the file of this program's entry point. */
static uint64_t own_entry(int fd)
{
    Elf64_Ehdr header;
    Elf64_Phdr segment;
    assert_int_equal(pread(fd, &header, sizeof header, 0), sizeof header);
    for (int i = 0; i < header.e_phnum; i++) {
        off_t at = (off_t)(header.e_phoff + (uint64_t)i * sizeof segment);
        assert_int_equal(pread(fd, &segment, sizeof segment, at), sizeof segment);
        if (segment.p_type == PT_LOAD && header.e_entry - segment.p_vaddr < segment.p_filesz)
            return header.e_entry - segment.p_vaddr + segment.p_offset;
    }
    return 0;
}

TEST(the_entry_point_is_found)
{
    struct probefile_ask q = functions("@entry");
    struct elf_maker m = { .machine = EM_X86_64 };
    int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    buf_clear(&reply);
    assert_true(probefile_serve(&q, sizeof q, &fd, 1, &reply, &error));
    assert_true(probefile_view(&view, reply.data, reply.len, &error));
    assert_int_equal(view.header.n_places, 1);
    assert_int_equal(view.places[0].offset, own_entry(fd));
    close(fd);
    assert_false(serve(&m, &q));
    assert_non_null(strstr(error.text, "it has no entry point"));
}

TEST(functions_are_found_by_name_and_glob)
{
    static const struct elf_maker_symbol symbols[] = {
        { "work", ELF_MAKER_VADDR + 0x100, 16, 0 },
        { "work_too", ELF_MAKER_VADDR + 0x200, 16, 0 },
        { "alias", ELF_MAKER_VADDR + 0x100, 16, 0 },
        { "_ZN2ns4workEi", ELF_MAKER_VADDR + 0x300, 16, 0 },
        { "chosen", ELF_MAKER_VADDR + 0x400, 16, ELF64_ST_INFO(STB_GLOBAL, STT_GNU_IFUNC) },
        { "data", ELF_MAKER_VADDR + 0x500, 16, ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT) },
        { "outside", ELF_MAKER_VADDR + 0x9000, 16, 0 },
    };
    struct elf_maker m = { .symbols = symbols, .n_symbols = 7, .symtab_type = SHT_SYMTAB };
    struct probefile_ask q = functions("work");
    assert_true(serve(&m, &q));
    assert_int_equal(view.header.n_places, 1);
    assert_int_equal(view.places[0].offset, ELF_MAKER_OFFSET + 0x100);
    assert_string_equal(view.places[0].name, "work");
    assert_true(view.header.wide);
    assert_false(view.header.go);
    q.offset = 4;
    assert_true(serve(&m, &q));
    assert_int_equal(view.places[0].offset, ELF_MAKER_OFFSET + 0x104);
    q.offset = 3; /* the code is zeros: instructions of two bytes */
    assert_false(serve(&m, &q));
    assert_non_null(strstr(error.text, "instructions begin at +0x2 and +0x4"));
    q.offset = 16;
    assert_false(serve(&m, &q));
    assert_non_null(strstr(error.text, "work has only 16 bytes"));
    q = functions("work*|alias");
    assert_true(serve(&m, &q)); /* an address is one place */
    assert_int_equal(view.header.n_places, 2);
    q = functions("ns::work");
#ifdef HAVE_LIBIBERTY
    assert_true(serve(&m, &q));
    assert_int_equal(view.places[0].offset, ELF_MAKER_OFFSET + 0x300);
#endif
    q = functions("wrok");
    assert_false(serve(&m, &q));
    assert_non_null(strstr(error.text, "it has no function wrok; did you mean work?"));
    q = functions("chosen");
    assert_false(serve(&m, &q));
    assert_non_null(strstr(error.text, "among variants"));
    q = functions("data");
    assert_false(serve(&m, &q));
    q = functions("outside");
    assert_false(serve(&m, &q));
    q = functions("work|nosuch"); /* each must exist */
    assert_false(serve(&m, &q));
    m.symtab_type = SHT_DYNSYM;
    q = functions("nosuch");
    assert_false(serve(&m, &q));
    assert_non_null(strstr(error.text, "it is stripped"));
}

TEST(offsets_are_in_code)
{
    struct elf_maker m = { .id = 1 };
    struct probefile_ask q = { .kind = PROBEFILE_OFFSET, .offset = ELF_MAKER_OFFSET };
    assert_true(serve(&m, &q));
    q.offset = ELF_MAKER_OFFSET + ELF_MAKER_SIZE - 1;
    assert_true(serve(&m, &q));
    q.offset = ELF_MAKER_OFFSET + ELF_MAKER_SIZE;
    assert_false(serve(&m, &q));
    q.offset = 0;
    assert_false(serve(&m, &q));
}

TEST(wrong_requests_are_refused)
{
    struct elf_maker m = { .id = 1 };
    struct probefile_ask q = { .kind = PROBEFILE_KINDS };
    int fd = elf_maker_open(&m);
    assert_false(serve(&m, &q));
    q.kind = PROBEFILE_FUNCTION;
    assert_false(probefile_serve(&q, sizeof q - 1, &fd, 1, &reply, &error));
    memset(q.name, 'x', sizeof q.name);
    assert_false(serve(&m, &q));
    close(fd);
}

/* ---- markers ---- */

struct note {
    uint64_t code, base, semaphore;
    const char *text; /* provider, name and arguments, each with its NUL */
    size_t n;
};

static void put_note(struct buf *out, const struct note *note)
{
    static const char zeros[4];
    uint32_t head[] = { 8, (uint32_t)(24 + note->n), 3 };
    uint64_t addresses[] = { note->code, note->base, note->semaphore };
    buf_add(out, head, sizeof head);
    buf_add(out, "stapsdt", 8);
    buf_add(out, addresses, sizeof addresses);
    buf_add(out, note->text, note->n);
    buf_add(out, zeros, (4 - note->n % 4) % 4);
}

#define TEXT(s) s, sizeof(s)
#define BASE    UINT64_C(0x400f00)

static bool serve_notes(const struct buf *notes, const char *glob)
{
    struct probefile_ask q = markers(glob);
    struct elf_maker m = { .extras = { { ".note.stapsdt", notes->data, notes->len, 0, 0 },
                                       { ".stapsdt.base", "", 1, BASE, 0 } } };
    return serve(&m, &q);
}

TEST(markers_have_place_semaphore_and_arguments)
{
    static const struct note notes[] = {
        { ELF_MAKER_VADDR + 0x100, BASE, ELF_MAKER_VADDR + 0x800, TEXT("shop\0sell\0-4@%edi 8@%rsi") },
        { ELF_MAKER_VADDR + 0x200, BASE, 0, TEXT("shop\0sell\0-4@%esi 8@%rdi") },
        { ELF_MAKER_VADDR + 0x300 - 0x40, BASE - 0x40, 0, TEXT("shop\0buy\0") }, /* prelink moved the file */
    };
    struct buf text = { 0 };
    for (size_t i = 0; i < sizeof notes / sizeof *notes; i++)
        put_note(&text, &notes[i]);
    assert_true(serve_notes(&text, "shop:*"));
    assert_int_equal(view.header.n_places, 3);
    assert_string_equal(view.places[0].name, "shop:sell");
    assert_string_equal(view.places[0].details, "-4@%edi 8@%rsi");
    assert_int_equal(view.places[0].offset, ELF_MAKER_OFFSET + 0x100);
    assert_int_equal(view.places[0].semaphore, ELF_MAKER_OFFSET + 0x800);
    assert_int_equal(view.places[1].semaphore, 0);
    assert_string_equal(view.places[2].name, "shop:buy");
    assert_int_equal(view.places[2].offset, ELF_MAKER_OFFSET + 0x300);
    assert_true(serve_notes(&text, "*:sell"));
    assert_int_equal(view.header.n_places, 2);
    assert_false(serve_notes(&text, "shop:steal"));
    assert_non_null(strstr(error.text, "it has no marker shop:steal"));
    buf_done(&text);
}

TEST(hostile_notes_are_left_out)
{
    static const struct note notes[] = {
        { ELF_MAKER_VADDR + 0x9000, BASE, 0, TEXT("p\0outside\0") },    /* no code there */
        { UINT64_MAX, BASE, UINT64_MAX, TEXT("p\0end\0") },             /* nor there */
        { ELF_MAKER_VADDR + 0x10, BASE, 0, "p\0name", 6 },              /* the name does not end */
        { ELF_MAKER_VADDR + 0x20, BASE, 0, "provider", 8 },             /* nor the provider */
        { ELF_MAKER_VADDR + 0x30, BASE, 0, TEXT("\0name\0") },          /* no provider */
        { ELF_MAKER_VADDR + 0x40, BASE, 0, TEXT("p\0\033[31m\0\033") }, /* escapes are cleaned */
        { ELF_MAKER_VADDR + 0x50, BASE, 0, "p\0bare", 7 },              /* no arguments */
    };
    struct buf text = { 0 }, cut = { 0 };
    for (size_t i = 0; i < sizeof notes / sizeof *notes; i++)
        put_note(&text, &notes[i]);
    assert_true(serve_notes(&text, "*"));
    assert_int_equal(view.header.n_places, 2);
    assert_string_equal(view.places[0].name, "p:?[31m");
    assert_string_equal(view.places[0].details, "?");
    assert_string_equal(view.places[1].name, "p:bare");
    for (size_t n = 1; n < text.len; n++) { /* truncated anywhere */
        buf_clear(&cut);
        buf_add(&cut, text.data, n);
        if (serve_notes(&cut, "*"))
            assert_true(view.header.n_places <= 2);
    }
    for (size_t at = 0; at < text.len; at += 4) { /* any size is damaged */
        buf_clear(&cut);
        buf_add(&cut, text.data, text.len);
        memset(cut.data + at, 0xff, 4);
        if (serve_notes(&cut, "*"))
            assert_true(view.header.n_places <= 7);
    }
    buf_done(&text);
    buf_done(&cut);
}

/* ---- replies ---- */

TEST(a_malformed_reply_is_refused)
{
    struct {
        struct probefile_header header;
        struct probefile_place places[2];
    } r = { .header = { .magic = PROBEFILE_MAGIC, .n_places = 2 } };
    struct probefile_view v;
    assert_true(probefile_view(&v, &r, sizeof r, &error));
    assert_false(probefile_view(&v, &r, sizeof r - 1, &error));
    assert_false(probefile_view(&v, &r, sizeof r.header - 1, &error));
    memset(r.places[1].details, 'x', sizeof r.places[1].details);
    assert_false(probefile_view(&v, &r, sizeof r, &error));
    r.places[1].details[3] = '\0';
    r.header.n_places = UINT32_MAX;
    assert_false(probefile_view(&v, &r, sizeof r, &error));
    r.header.n_places = 2;
    r.header.magic = 0;
    assert_false(probefile_view(&v, &r, sizeof r, &error));
}

int main(void)
{
    int failed = run_listed_tests(NULL, NULL);
    buf_done(&reply);
    return failed;
}
