// SPDX-License-Identifier: GPL-2.0-or-later
/* Runs a fuzz target over the named files without libFuzzer, to examine a finding or seeds. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int main(int argc, char **argv)
{
    static uint8_t bytes[16 << 20];
    for (int i = 1; i < argc; i++) {
        FILE *f = fopen(argv[i], "rb");
        if (!f) {
            perror(argv[i]);
            return 1;
        }
        size_t n = fread(bytes, 1, sizeof bytes, f);
        fclose(f);
        uint8_t *exact = malloc(n); /* lets a sanitizer detect a read past the end */
        for (size_t k = 0; exact && k < n; k++)
            exact[k] = bytes[k];
        LLVMFuzzerTestOneInput(exact, n);
        free(exact);
    }
    return 0;
}
