// SPDX-License-Identifier: GPL-2.0-or-later
#include "perf/topology.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/file.h"
#include "perf/namelist.h"

#define SENSORS_MAX 64 /* of one chip */

static const char *root = "/sys";

void topology_set_root(const char *dir)
{
    root = dir ? dir : "/sys";
}

static bool read_id(uint32_t cpu, const char *file, uint32_t *id)
{
    char path[PATH_MAX];
    uint64_t v;
    (void)snprintf(path, sizeof path, "%s/devices/system/cpu/cpu%u/topology/%s", root, cpu, file);
    if (!file_read_u64(path, &v) || v > INT32_MAX)
        return false;
    *id = (uint32_t)v;
    return true;
}

struct topology_cpu topology_of(uint32_t cpu)
{
    struct topology_cpu out = { cpu, 0 };
    if (!read_id(cpu, "core_id", &out.core))
        out.core = cpu;
    if (!read_id(cpu, "physical_package_id", &out.socket))
        out.socket = 0;
    return out;
}

static bool read_line(const char *chip, const char *file, char *dst, size_t cap)
{
    char path[PATH_MAX];
    struct buf text = { 0 };
    (void)snprintf(path, sizeof path, "%s/class/hwmon/%s/%s", root, chip, file);
    bool ok = file_read(path, 4096, &text, NULL);
    (void)snprintf(dst, cap, "%.*s", (int)strcspn(buf_str(&text), "\n"), buf_str(&text));
    buf_done(&text);
    return ok;
}

static bool is_cpu_chip(const char *chip)
{
    static const char *const known[] = { "coretemp", "k10temp", "zenpower", "cpu_thermal" };
    char name[64];
    if (!read_line(chip, "name", name, sizeof name))
        return false;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (!strcmp(name, known[i]))
            return true;
    return false;
}

/* True for the sensor of the whole package: Intel's "Package id 1", AMD's "Tctl", the only one of others. */
static bool is_package(const char *label, uint32_t *socket)
{
    if (!strncmp(label, "Package id ", 11)) {
        *socket = (uint32_t)strtoul(label + 11, NULL, 10);
        return true;
    }
    return !strcmp(label, "Tctl") || !*label;
}

static bool read_chip(const char *chip, uint32_t socket, struct topology_heat *out)
{
    for (int i = 1; i <= SENSORS_MAX; i++) {
        char file[32], label[64], value[32];
        (void)snprintf(file, sizeof file, "temp%d_input", i);
        if (!read_line(chip, file, value, sizeof value))
            continue;
        (void)snprintf(file, sizeof file, "temp%d_label", i);
        if (!read_line(chip, file, label, sizeof label))
            label[0] = '\0';
        if (!is_package(label, &socket))
            continue;
        *out = (struct topology_heat){ socket, strtod(value, NULL) / 1000 };
        return true;
    }
    return false;
}

uint32_t topology_heats(struct topology_heat *out, uint32_t cap)
{
    char path[PATH_MAX];
    struct namelist chips = { 0 };
    uint32_t n = 0;
    (void)snprintf(path, sizeof path, "%s/class/hwmon", root);
    namelist_add_dir(&chips, path, false, NULL);
    for (size_t i = 0; i < chips.n && n < cap; i++)
        if (is_cpu_chip(chips.items[i]) && read_chip(chips.items[i], n, &out[n]))
            n++;
    namelist_done(&chips);
    return n;
}
