// SPDX-License-Identifier: GPL-2.0-or-later
/* A plugin for the emulator: writes the number of instructions that each CPU of the guest has run to FILE, as a 64-bit word per
 * CPU that is updated while the guest runs: -plugin instructions.so,into=FILE. On a busy machine it replaces a clock. The
 * declarations are those of qemu-plugin.h, version 1, which Debian does not package. */
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define CPUS 256

typedef uint64_t qemu_plugin_id_t;
struct qemu_plugin_tb;

enum { CB_NO_REGS };

void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id, void (*cb)(qemu_plugin_id_t, struct qemu_plugin_tb *));
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *tb, void (*cb)(unsigned cpu, void *data), int flags, void *data);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);

int qemu_plugin_version = 1;

static uint64_t *counts;

static void runs(unsigned cpu, void *instructions)
{
    if (cpu < CPUS)
        counts[cpu] += (uintptr_t)instructions;
}

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
    (void)id;
    qemu_plugin_register_vcpu_tb_exec_cb(tb, runs, CB_NO_REGS, (void *)(uintptr_t)qemu_plugin_tb_n_insns(tb));
}

int qemu_plugin_install(qemu_plugin_id_t id, const void *info, int argc, char **argv);
int qemu_plugin_install(qemu_plugin_id_t id, const void *info, int argc, char **argv)
{
    (void)info;
    const char *into = argc == 1 && strncmp(argv[0], "into=", 5) == 0 ? argv[0] + 5 : NULL;
    int fd = into ? open(into, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644) : -1;
    if (fd < 0 || ftruncate(fd, CPUS * sizeof(*counts)) != 0)
        return 1;
    counts = mmap(NULL, CPUS * sizeof(*counts), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (counts == MAP_FAILED)
        return 1;
    qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
    return 0;
}
