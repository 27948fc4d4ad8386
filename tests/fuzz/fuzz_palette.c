// SPDX-License-Identifier: GPL-2.0-or-later
/* Fuzzes a palette map from flamegraph.pl or another program: colours are read from it or stay as they
 * are. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "export/svg.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct nametree_func funcs[] = { { .name = "", .module = "" },
                                     { .name = "main", .module = "a" },
                                     { .name = "a->b", .module = "b" } };
    struct nametree tree = { .funcs = funcs, .n_funcs = 3 };
    uint32_t colours[] = { 0, 1, 2 }, again[] = { 0, 3, 4 };
    char path[64];
    struct error e = { 0 };
    snprintf(path, sizeof path, "/tmp/fuzz_palette.%d", (int)getpid());
    struct outfile o;
    if (!outfile_open(&o, path, NULL))
        abort();
    outfile_write(&o, data, size);
    if (!outfile_commit(&o, NULL))
        abort();
    /* the second time the missing colours are in the map */
    if (svg_map_apply(path, &tree, colours, &e)) {
        if (!svg_map_apply(path, &tree, again, &e) || colours[1] != again[1] || colours[2] != again[2])
            abort();
    } else if (!e.text[0]) {
        abort();
    }
    if (colours[1] > 0xffffff || colours[2] > 0xffffff)
        abort();
    unlink(path);
    return 0;
}
