// SPDX-License-Identifier: GPL-2.0-or-later
/* Assembly without call-frame information, as in codecs and number libraries: registers pushed and popped, an
 * aligned stack, a leaf that uses no stack, rbp as an ordinary register, a jump in place of a call, a call back into C.
 * truth: @start;main;direct;outer;asm_push
 * truth: @start;main;direct;outer;asm_leaf
 * truth: @start;main;direct;outer;asm_aligned
 * truth: @start;main;direct;outer;asm_rbp
 * truth: @start;main;direct;outer;asm_back;through;hot
 * truth: @start;main;direct;outer;asm_nested;asm_push
 */
#include "zoo.h"

/* Each takes (x, n) and returns x, changed n times. */
uint64_t asm_push(uint64_t x, int n), asm_leaf(uint64_t x, int n), asm_aligned(uint64_t x, int n), asm_rbp(uint64_t x, int n),
    asm_jump(uint64_t x, int n), asm_back(uint64_t x, int n), asm_nested(uint64_t x, int n);

#define BEGIN(name) ".globl " #name "\n.type " #name ", @function\n.p2align 4\n" #name ":\n"
#define LOOP(body) "1: imul $0x5851f42d, %rax, %rax\n add $12345, %rax\n" body " dec %esi\n jnz 1b\n"

__asm__(".text\n"
        BEGIN(asm_push) "push %rbx\n push %r12\n push %r13\n mov %rdi, %rax\n"
        LOOP("mov %rax, %rbx\n mov %rbx, %r12\n push %r12\n pop %r13\n") "pop %r13\n pop %r12\n pop %rbx\n ret\n"
        BEGIN(asm_leaf) "mov %rdi, %rax\n" LOOP("") "ret\n"
        BEGIN(asm_aligned) "push %rbp\n mov %rsp, %rbp\n push %rbx\n and $-64, %rsp\n sub $128, %rsp\n mov %rdi, %rax\n"
        LOOP("mov %rax, 8(%rsp)\n mov 8(%rsp), %rbx\n") "mov -8(%rbp), %rbx\n mov %rbp, %rsp\n pop %rbp\n ret\n"
        BEGIN(asm_rbp) "push %rbp\n sub $40, %rsp\n mov %rdi, %rax\n lea 8(%rsp), %rbp\n"
        LOOP("mov %rax, (%rbp)\n") "add $40, %rsp\n pop %rbp\n ret\n"
        BEGIN(asm_jump) "add $1, %rdi\n jmp asm_leaf\n"
        BEGIN(asm_back) "push %rbp\n push %rbx\n mov %rdi, %rbp\n sub $24, %rsp\n call through\n add $24, %rsp\n"
        " lea 1(%rax), %rax\n pop %rbx\n pop %rbp\n ret\n"
        BEGIN(asm_nested) "push %rbx\n mov %rsi, %rbx\n call asm_push\n mov %rbx, %rcx\n pop %rbx\n ret\n"
        ".globl asm_end\n.type asm_end, @function\nasm_end: ret\n");

FRAME uint64_t hot(uint64_t x, int n);
HOT(hot)
uint64_t through(uint64_t x, int n);
FRAME LEVEL(through, hot)

FRAME static uint64_t outer(uint64_t x, int n)
{
    uint64_t in_rbp = x * 3; /* rbp is no frame pointer in any of them */

    __asm__ volatile("" : "+r"(in_rbp));
    x = asm_push(x, n) + 1;
    x = asm_leaf(x, n) + 1;
    x = asm_aligned(x, n) + 1;
    x = asm_rbp(x, n) + 1;
    x = asm_jump(x, n) + 1;
    x = asm_back(x, n) + 1;
    x = asm_nested(x, n) + 1;
    return x + in_rbp;
}
static LEVEL(direct, outer)

int main(void)
{
    volatile uint64_t x = 1;

    zoo_ready();
    for (int n = SHORT;; n = n == SHORT ? LONG / 100 : SHORT)
        x = direct(x, n);
}
