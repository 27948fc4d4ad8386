// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdio.h>

#include "base/text.h"
#include "perfdata/perfdata_file.h"

/* A line is the count and these words, or only the words (no_count). */
static const struct {
    const char *one, *many;
    bool no_count;
} words[DAMAGE_KINDS] = {
    [DAMAGE_NOT_FINISHED] = { .one = "the recording is not finished (perf still writes it, or was killed): "
                                     "read up to the end of the file, without host facts and build-ids",
                              .no_count = true },
    [DAMAGE_FILE_CUT] = { "byte of records is missing at the end: the file is truncated",
                          "bytes of records are missing at the end: the file is truncated", false },
    [DAMAGE_SHRANK] = { .one = "the file became shorter, or unreadable, while it was read",
                        .no_count = true },
    [DAMAGE_ZEROS] = { "zero byte between records was skipped", "zero bytes between records were skipped",
                       false },
    [DAMAGE_GARBAGE] = { "byte that is no record was skipped", "bytes that are no records were skipped",
                         false },
    [DAMAGE_CUT_RECORD] = { "byte at the end is part of a truncated record",
                            "bytes at the end are part of a truncated record", false },
    [DAMAGE_BAD_RECORD] = { "inconsistent record was skipped", "inconsistent records were skipped", false },
    [DAMAGE_NO_EVENT] = { "sample belongs to no event of the file and was skipped",
                          "samples belong to no event of the file and were skipped", false },
    [DAMAGE_UNKNOWN_TYPE] = { "record of a type that is not known here was skipped",
                              "records of types that are not known here were skipped", false },
    [DAMAGE_NO_ZSTD] = { "compressed record was skipped: flametop was built without zstd",
                         "compressed records were skipped: flametop was built without zstd", false },
    [DAMAGE_BAD_ZSTD] = { "compressed byte could not be decompressed",
                          "compressed bytes could not be decompressed", false },
    [DAMAGE_MUCH_ZSTD] = { "compressed byte was skipped: too large for memory when decompressed",
                           "compressed bytes were skipped: too large for memory when decompressed", false },
    [DAMAGE_SECTION] = { "header section is outside the file or inconsistent",
                         "header sections are outside the file or inconsistent", false },
    [DAMAGE_PARTS] = { "of the files of the folder is missing", "of the files of the folder are missing",
                       false },
    [DAMAGE_UNKNOWN_FEATURE] = { "header section of a kind that is not known here was skipped",
                                 "header sections of kinds that are not known here were skipped", false },
    [DAMAGE_AUXTRACE] = { "byte of hardware trace (AUX area) was skipped",
                          "bytes of hardware trace (AUX area) were skipped", false },
    [DAMAGE_NO_MEMORY] = { "record was skipped: not enough memory", "records were skipped: not enough memory",
                           false },
};

void damage_note(struct perfdata *p, enum damage kind, uint64_t count)
{
    p->damage[kind] += count;
}

void damage_done(struct perfdata *p)
{
    while (p->n_damage_text)
        mem_free(p->damage_text[--p->n_damage_text]);
}

uint32_t perfdata_damage(const struct perfdata *p, const char *const **lines)
{
    *lines = (const char *const *)p->damage_text;
    return p->n_damage_text;
}

void damage_tell(struct perfdata *p)
{
    char number[32], line[256];
    damage_done(p);
    if (*p->trouble)
        p->damage_text[p->n_damage_text++] = mem_strdup(p->trouble);
    for (int i = 0; i < DAMAGE_KINDS; i++) {
        if (!p->damage[i])
            continue;
        text_thousands(number, sizeof number, p->damage[i]);
        if (words[i].no_count)
            snprintf(line, sizeof line, "%s", words[i].one);
        else
            snprintf(line, sizeof line, "%s %s", number, p->damage[i] == 1 ? words[i].one : words[i].many);
        p->damage_text[p->n_damage_text++] = mem_strdup(line);
    }
}
