// SPDX-License-Identifier: GPL-2.0-or-later
/* Prints the candidates of --complete: the values that an option may have on this system. */
#include <ctype.h>
#include <dirent.h>
#include <fts.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/options.h"
#include "export/script.h"
#include "perf/cpus.h"
#include "perf/event.h"
#include "perf/pair_rows.h"
#include "process/cgroup.h"
#include "ui/columns.h"
#include "ui/theme.h"

#define CGROUPS_OFFERED 4096

struct candidates {
    const char *text; /* the part to complete */
    size_t len;
    const char *before; /* the text before that part */
    size_t n_before;
    struct buf *out;
    char system[128]; /* last tracepoint system offered */
};

/* Appends a candidate if it starts with the text. Names may come from other users, and shells print them:
 * control characters are removed from descriptions, and names that have any, or a blank, are not offered. */
static void offer(const struct candidates *c, const char *value, const char *help)
{
    char name[1024], about[256];
    text_clean(name, sizeof name, value, strlen(value));
    if (strncmp(name, c->text, c->len) || strcmp(name, value) || strpbrk(value, " \t"))
        return;
    text_clean(about, sizeof about, help ? help : "", help ? strlen(help) : 0);
    buf_printf(c->out, "%.*s%s\t%s\n", (int)c->n_before, c->before, name, about);
}

/* Offers an event. There are thousands of tracepoints: until a system is typed, only systems are offered. */
static bool offer_event(void *ctx, const struct event_row *r)
{
    struct candidates *c = ctx;
    size_t n = strcspn(r->name, ":") + 1;
    if (strncmp(r->group, "Tracepoint: ", 12) || memchr(c->text, ':', c->len)) {
        offer(c, r->name, r->help);
        if (r->alias && !strchr(r->name, '/'))
            offer(c, r->alias, r->help);
    } else if (n < sizeof c->system && (strncmp(c->system, r->name, n) || c->system[n])) {
        snprintf(c->system, sizeof c->system, "%.*s", (int)n, r->name);
        offer(c, c->system, "tracepoints");
    }
    return true;
}

static void offer_events(struct candidates *c)
{
    event_each(offer_event, c, NULL);
}

static void offer_presets(struct candidates *c)
{
    struct preset_list presets = { 0 };
    preset_read(&presets, NULL);
    for (size_t i = 0; i < presets.n; i++)
        offer(c, presets.items[i].name, presets.items[i].help);
    preset_list_done(&presets);
}

static void offer_latencies(struct candidates *c)
{
    struct pair_rows rows = { 0 };
    pair_rows_read(&rows, NULL);
    for (size_t i = 0; i < rows.n; i++)
        offer(c, rows.items[i].name, rows.items[i].help);
    pair_rows_done(&rows);
}

static void offer_numbers(struct candidates *c, const char *folder)
{
    struct buf comm = { 0 };
    DIR *d = opendir(folder);
    for (const struct dirent *at; d && (at = readdir(d));) {
        char path[512];
        if (!isdigit((unsigned char)at->d_name[0]))
            continue;
        snprintf(path, sizeof path, "%s/%s/comm", folder, at->d_name);
        buf_clear(&comm);
        if (!file_read(path, 64, &comm, NULL))
            continue;
        buf_putc(&comm, '\0');
        comm.data[strcspn(comm.data, "\n")] = '\0';
        offer(c, at->d_name, comm.data);
    }
    if (d)
        closedir(d);
    buf_done(&comm);
}

static void offer_processes(struct candidates *c)
{
    offer_numbers(c, "/proc");
}

static void offer_threads(struct candidates *c)
{
    DIR *d = opendir("/proc");
    for (const struct dirent *at; d && (at = readdir(d));) {
        char tasks[300];
        snprintf(tasks, sizeof tasks, "/proc/%s/task", at->d_name);
        if (isdigit((unsigned char)at->d_name[0]))
            offer_numbers(c, tasks);
    }
    if (d)
        closedir(d);
}

static void offer_users(struct candidates *c)
{
    setpwent();
    for (const struct passwd *p; (p = getpwent());)
        offer(c, p->pw_name, p->pw_gecos);
    endpwent();
}

static void offer_cpus(struct candidates *c)
{
    struct cpus online = { 0 };
    cpus_read("online", &online);
    for (uint32_t i = 0; i < online.n; i++) {
        char number[16];
        snprintf(number, sizeof number, "%u", (unsigned)i);
        if (online.in[i])
            offer(c, number, NULL);
    }
    cpus_done(&online);
}

static void offer_cgroups(struct candidates *c)
{
    char root[512];
    snprintf(root, sizeof root, "%s", cgroup_root());
    FTS *walk =
        *root ? fts_open((char *[]){ root, NULL }, FTS_PHYSICAL | FTS_NOCHDIR | FTS_NOSTAT, NULL) : NULL;
    size_t n = 0;
    for (const FTSENT *at; walk && n < CGROUPS_OFFERED && (at = fts_read(walk));)
        if (at->fts_info == FTS_D) {
            offer(c, at->fts_path[strlen(root)] ? at->fts_path + strlen(root) : "/", NULL);
            n++;
        }
    if (walk)
        fts_close(walk);
}

static void offer_columns(struct candidates *c)
{
    for (int i = 0; i < COLUMN_COUNT; i++)
        offer(c, column_table[i].name, column_table[i].help);
}

static void offer_themes(struct candidates *c)
{
    char(*names)[64];
    uint32_t n = theme_list(&names);
    for (uint32_t i = 0; i < n; i++)
        offer(c, names[i], NULL);
    mem_free(names);
}

static void offer_exports(struct candidates *c)
{
    for (size_t i = 0; i < export_table_n; i++)
        offer(c, export_table[i]->name, export_table[i]->help);
}

static void offer_fields(struct candidates *c)
{
#define SCRIPT_FIELD(id, name, recorded) offer(c, name, NULL);
    SCRIPT_FIELD_TABLE
#undef SCRIPT_FIELD
}

static void offer_folds(struct candidates *c)
{
    char word[32];
    const char *words = option_table[OPTION_FOLD].arg; /* such as a|b[,...] */
    for (size_t n = 1; n && *words != '['; words += n + (words[n] == '|')) {
        n = strcspn(words, "|[");
        snprintf(word, sizeof word, "%.*s", (int)n, words);
        offer(c, word, NULL);
    }
}

static const struct known {
    enum option_id id;
    const char *between; /* separators of a list; NULL: not a list */
    void (*offer)(struct candidates *c);
} known[] = {
    { OPTION_EVENT, ",{", offer_events },   { OPTION_PRESET, NULL, offer_presets },
    { OPTION_PID, ",", offer_processes },   { OPTION_TID, ",", offer_threads },
    { OPTION_USER, NULL, offer_users },     { OPTION_CPU, ",-", offer_cpus },
    { OPTION_CGROUP, ",", offer_cgroups },  { OPTION_SORT, ",", offer_columns },
    { OPTION_COLUMNS, ",", offer_columns }, { OPTION_THEME, NULL, offer_themes },
    { OPTION_EXPORT, NULL, offer_exports }, { OPTION_FIELDS, ",+-", offer_fields },
    { OPTION_FOLD, ",", offer_folds },      { OPTION_LATENCY, ",", offer_latencies },
};

static const struct known *find(enum option_id id)
{
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].id == id)
            return &known[i];
    return NULL;
}

bool candidates_known(enum option_id id)
{
    return find(id);
}

void candidates_print(const char *option_and_text, struct buf *out)
{
    size_t n = strcspn(option_and_text, "=");
    const char *text = option_and_text + n + (option_and_text[n] == '=');
    for (int i = 0; i < OPTION_COUNT_ALL; i++) {
        const char *name = option_table[i].name;
        const struct known *k = find((enum option_id)i);
        if (!k || strncmp(name, option_and_text, n) || name[n])
            continue;
        const char *last = text;
        for (const char *at = text; *at && k->between; at++)
            if (strchr(k->between, *at))
                last = at + 1;
        struct candidates c = { last, strlen(last), text, (size_t)(last - text), out, "" };
        k->offer(&c);
    }
}
