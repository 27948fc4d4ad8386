// SPDX-License-Identifier: GPL-2.0-or-later
/* Calls and jumps for which the judge of stacks (tests/lib/judge.py) gets wrong stacks: NAME_in is inside a function,
 * NAME_back is the return address of a call in it. It prints "ready" and waits. */
#include <stdio.h>
#include <unistd.h>

#define WITH_TABLE(name, body) \
    ".globl " #name "\n.type " #name ", @function\n" #name ": .cfi_startproc\n" body ".cfi_endproc\n.size " #name ", . - " #name "\n"
#define BARE(name, body) #name ": " body
#define LABEL(name) ".globl " #name "\n" #name ":\n"

__asm__(".text\n"
        WITH_TABLE(leaf, LABEL(leaf_in) "nop\n ret\n nop\n")
        WITH_TABLE(other, LABEL(other_in) "nop\n ret\n nop\n")
        WITH_TABLE(direct, "nop\n" LABEL(direct_in) "call leaf\n" LABEL(direct_back) "nop\n nop\n ret\n")
        WITH_TABLE(jumps, "nop\n jmp leaf\n")
        WITH_TABLE(to_jumps, "call jumps\n" LABEL(to_jumps_back) "ret\n")
        WITH_TABLE(indirect, "call *%rax\n" LABEL(indirect_back) "ret\n")
        WITH_TABLE(outer, "call direct\n" LABEL(outer_back) "ret\n")
        WITH_TABLE(through_stub, "call getpid@plt\n" LABEL(stub_back) "ret\n")
        WITH_TABLE(switches, "movslq (%rdx,%rax,4), %rax\n add %rdx, %rax\n jmp *%rax\n")
        WITH_TABLE(to_switches, "call switches\n" LABEL(to_switches_back) "ret\n")
        WITH_TABLE(root, ".cfi_undefined rip\n call *%rax\n" LABEL(root_back) "hlt\n")
        /* code whose bounds are in no table and no symbol with a size */
        BARE(bare, "test %eax, %eax\n jz 1f\n" LABEL(bare_in) "nop\n ret\n 1:" LABEL(bare_in_branch) "nop\n ret\n")
        LABEL(bare_behind) "nop\n ret\n"
        WITH_TABLE(to_bare, "call bare\n" LABEL(to_bare_back) "ret\n")
        BARE(bare_caller, "call leaf\n" LABEL(bare_back) "nop\n nop\n" LABEL(bare_no_call) "ret\n"));

int main(void)
{
    printf("ready %d\n", getpid());
    fflush(stdout);
    for (;;)
        pause();
}
