// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbols/disasm.h"

#ifdef HAVE_CAPSTONE
#include <capstone/capstone.h>
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/library.h"

#define TEXT_OF(x)    #x
#define TEXT(x)       TEXT_OF(x)
#define CAPSTONE      "libcapstone.so." TEXT(CS_API_MAJOR)
#define MNEMONIC_COLS 6 /* width of most mnemonics, to align operands */

static struct {
    __typeof__(cs_support) *cs_support;
    __typeof__(cs_open) *cs_open;
    __typeof__(cs_option) *cs_option;
    __typeof__(cs_malloc) *cs_malloc;
    __typeof__(cs_disasm_iter) *cs_disasm_iter;
    __typeof__(cs_insn_group) *cs_insn_group;
    __typeof__(cs_free) *cs_free;
    __typeof__(cs_close) *cs_close;
} lib;

bool disasm_load(struct error *e)
{
    static const struct library_symbol symbols[] = {
        LIBRARY_SYMBOL(lib, cs_support),     LIBRARY_SYMBOL(lib, cs_open),
        LIBRARY_SYMBOL(lib, cs_option),      LIBRARY_SYMBOL(lib, cs_malloc),
        LIBRARY_SYMBOL(lib, cs_disasm_iter), LIBRARY_SYMBOL(lib, cs_insn_group),
        LIBRARY_SYMBOL(lib, cs_free),        LIBRARY_SYMBOL(lib, cs_close),
    };
    static bool loaded;

    loaded = loaded || library_load(CAPSTONE, "libcapstone4", symbols, sizeof symbols / sizeof *symbols, e);
    return loaded;
}

/* Return capstone's architecture and mode. False: not supported. */
static bool machine_of(const struct disasm_code *c, cs_arch *arch, cs_mode *mode)
{
    static const struct {
        uint16_t machine;
        cs_arch arch;
        unsigned mode;
    } machines[] = {
        { EM_X86_64, CS_ARCH_X86, CS_MODE_64 },
        { EM_386, CS_ARCH_X86, CS_MODE_32 },
        { EM_AARCH64, CS_ARCH_ARM64, CS_MODE_ARM },
        { EM_ARM, CS_ARCH_ARM, CS_MODE_ARM },
        { EM_PPC, CS_ARCH_PPC, CS_MODE_32 },
        { EM_PPC64, CS_ARCH_PPC, CS_MODE_64 },
        { EM_S390, CS_ARCH_SYSZ, 0 },
        { EM_MIPS, CS_ARCH_MIPS, CS_MODE_MIPS64 },
        { EM_SPARCV9, CS_ARCH_SPARC, CS_MODE_V9 },
#if CS_API_MAJOR >= 5
        { EM_RISCV, CS_ARCH_RISCV, CS_MODE_RISCV64 | CS_MODE_RISCVC },
#endif
    };
    const bool host_big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
    size_t i;

    for (i = 0; i < sizeof machines / sizeof *machines; i++) {
        if (machines[i].machine != c->machine)
            continue;
        *arch = machines[i].arch;
        *mode = (cs_mode)(machines[i].mode | (host_big != c->swapped ? (unsigned)CS_MODE_BIG_ENDIAN : 0));
        return true;
    }
    return false;
}

static enum code_kind kind_of(csh handle, const cs_insn *insn)
{
    const char *name = insn->mnemonic;

    if (!insn->id)
        return CODE_BAD;
    if (lib.cs_insn_group(handle, insn, CS_GRP_RET) || lib.cs_insn_group(handle, insn, CS_GRP_IRET))
        return CODE_RETURN;
    /* Capstone does not distinguish calls from jumps on all machines. */
    if (lib.cs_insn_group(handle, insn, CS_GRP_CALL) || !strcmp(name, "bl") || !strcmp(name, "blr") ||
        !strcmp(name, "blx") || !strcmp(name, "brasl") || !strcmp(name, "jal"))
        return CODE_CALL;
    return lib.cs_insn_group(handle, insn, CS_GRP_JUMP) ? CODE_JUMP : CODE_PLAIN;
}

/* Remove and return the target of a jump or call: the last operand, a bare number in all syntaxes.
 * UINT64_MAX: no target. */
static uint64_t take_target(char *operands)
{
    char *comma = strrchr(operands, ','), *last = comma ? comma + 1 : operands, *end;
    uint64_t target;

    last += strspn(last, " ");
    if (strncmp(last + (*last == '#'), "0x", 2))
        return UINT64_MAX;
    target = strtoull(last + (*last == '#'), &end, 16);
    if (*end)
        return UINT64_MAX;
    *last = '\0';
    return target;
}

static bool add_insn(csh handle, const struct disasm_code *c, cs_insn *insn, struct code_builder *b)
{
    struct code_row row = { .offset = insn->address - c->bias,
                            .target = CODE_NO_TARGET,
                            .size = (uint8_t)insn->size,
                            .kind = (uint8_t)kind_of(handle, insn) };
    char text[CS_MNEMONIC_SIZE + sizeof insn->op_str + 2];
    uint64_t target;

    if (row.kind == CODE_JUMP || row.kind == CODE_CALL) {
        target = take_target(insn->op_str);
        row.target = target == UINT64_MAX ? CODE_NO_TARGET : target - c->bias;
    }
    snprintf(text, sizeof text, "%-*s %s", MNEMONIC_COLS, insn->mnemonic, insn->op_str);
    if (row.target == CODE_NO_TARGET)
        for (size_t n = strlen(text); n && text[n - 1] == ' ';)
            text[--n] = '\0';
    return code_build_row(b, &row, text);
}

bool disasm_run(const struct disasm_code *c, struct code_builder *b, struct error *e)
{
    cs_arch arch;
    cs_mode mode;
    csh handle;
    cs_insn *insn;
    const uint8_t *at = c->bytes;
    size_t left = c->n;
    uint64_t addr = c->addr;

    if (!disasm_load(e))
        return false;
    if (!machine_of(c, &arch, &mode) || !lib.cs_support(arch) ||
        lib.cs_open(arch, mode, &handle) != CS_ERR_OK)
        return error_set(e, ERROR_UNSUPPORTED,
                         "capstone has no disassembler for this machine (ELF number %u)", c->machine);
    lib.cs_option(handle, CS_OPT_DETAIL, CS_OPT_ON);
    lib.cs_option(handle, CS_OPT_SKIPDATA, CS_OPT_ON);
    if (arch == CS_ARCH_X86 && !c->intel)
        lib.cs_option(handle, CS_OPT_SYNTAX, CS_OPT_SYNTAX_ATT);
    insn = lib.cs_malloc(handle);
    while (insn && left && lib.cs_disasm_iter(handle, &at, &left, &addr, insn) &&
           add_insn(handle, c, insn, b))
        ;
    if (insn)
        lib.cs_free(insn, 1);
    lib.cs_close(&handle);
    return b->header.n_rows || error_set(e, ERROR_FORMAT, "it contains no instruction");
}
#else
bool disasm_load(struct error *e)
{
    return error_set(e, ERROR_UNSUPPORTED, "built without capstone: no disassembler");
}

bool disasm_run(const struct disasm_code *c, struct code_builder *b, struct error *e)
{
    (void)c;
    (void)b;
    return disasm_load(e);
}
#endif
