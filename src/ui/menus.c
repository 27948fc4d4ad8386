// SPDX-License-Identifier: GPL-2.0-or-later
#include "ui/menus.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/mem.h"
#include "base/text.h"
#include "ui/dialog.h"
#include "ui/picker.h"
#include "ui/view_ops.h"
#include "ui/window.h"

/* --- grouping and window --- */

/* clang-format off */
static const char *const group_titles[VIEW_GROUP_COUNT] = {
    [VIEW_GROUP_SYMBOL] = "symbol", [VIEW_GROUP_COMM_SYMBOL] = "comm+symbol", [VIEW_GROUP_COMM] = "comm",
    [VIEW_GROUP_MODULE] = "module", [VIEW_GROUP_PROCESS] = "process",         [VIEW_GROUP_THREAD] = "thread",
    [VIEW_GROUP_CPU] = "cpu",       [VIEW_GROUP_CGROUP] = "cgroup",
    [VIEW_GROUP_CGROUP_SYMBOL] = "cgroups side by side",
};
/* clang-format on */

const char *group_title(enum view_group g)
{
    return group_titles[g];
}

static unsigned take_group(struct app *a, uint32_t choice)
{
    return app_group_by(a, (enum view_group)choice);
}

unsigned menu_group(struct app *a)
{
    return picker_menu(a, "Group by", group_titles, VIEW_GROUP_COUNT, a->query.group, take_group);
}

static unsigned take_window(struct app *a, uint32_t choice)
{
    a->query.window_ns = window_choices_ns[choice];
    range_forget(a); /* a range would override the window */
    return APP_QUERY;
}

unsigned menu_window(struct app *a)
{
    char names[WINDOW_CHOICES][32];
    const char *list[WINDOW_CHOICES];
    uint32_t current = WINDOW_CHOICES - 1;
    for (uint32_t i = 0; i < WINDOW_CHOICES; i++) {
        char name[16];
        window_name(window_choices_ns[i], name, sizeof name);
        (void)snprintf(names[i], sizeof names[i], "%s%s", window_choices_ns[i] ? "the last " : "", name);
        list[i] = names[i];
        current = window_choices_ns[i] == a->query.window_ns ? i : current;
    }
    return picker_menu(a, "Time window", list, WINDOW_CHOICES, current, take_window);
}

/* --- sampling --- */

static const struct {
    enum callchain_mode mode;
    const char *choice, *message;
} stack_modes[] = {
    { CALLCHAIN_AUTO, "auto: by unwind tables within a budget, else by frame pointers",
      "stacks by unwind tables, within a budget" },
    { CALLCHAIN_FP, "fp: by frame pointers, which many programs lack", "stacks by frame pointers" },
    { CALLCHAIN_DWARF, "dwarf: by unwind tables, without a budget", "stacks by unwind tables" },
    { CALLCHAIN_LBR, "lbr: by the CPU's branch records (Intel, up to 32 calls)", "stacks by branch records" },
    { CALLCHAIN_NONE, "none: instruction pointer only", "stacks are no longer unwound" },
};
#define STACK_MODES (sizeof stack_modes / sizeof *stack_modes)

static unsigned take_stacks(struct app *a, uint32_t choice)
{
    struct error e = { 0 };
    if (!session_set_callchain(a->session, stack_modes[choice].mode, 0, &e))
        return app_error(a, &e);
    return APP_QUERY | app_message(a, "%s", stack_modes[choice].message);
}

unsigned menu_stacks(struct app *a)
{
    const char *choices[STACK_MODES];
    uint32_t current = 0;
    if (a->status.file)
        return app_message(a, "a recording's stacks cannot be changed");
    for (uint32_t i = 0; i < STACK_MODES; i++) {
        choices[i] = stack_modes[i].choice;
        current = stack_modes[i].mode == a->status.callchain ? i : current;
    }
    return picker_menu(a, "Stacks", choices, STACK_MODES, current, take_stacks);
}

static unsigned frequency_done(void *ctx, struct app *a, const char *text)
{
    struct error e = { 0 };
    uint64_t hz;
    (void)ctx;
    if (!text)
        return APP_HANDLED;
    if (!text_parse_u64(text, 1, 1000000, &hz)) {
        error_set(&e, ERROR_ARGUMENT, "\"%s\" is no frequency: type samples per second and CPU, such as 99",
                  text);
        return app_error(a, &e);
    }
    if (!session_set_freq(a->session, hz, &e))
        return app_error(a, &e);
    return APP_QUERY | app_message(a, "sampling %llu times a second", (unsigned long long)hz);
}

unsigned ask_frequency(struct app *a)
{
    char now[24] = "";
    if (a->status.file)
        return app_message(a, "a recording's frequency cannot be changed");
    if (a->status.freq_hz)
        (void)snprintf(now, sizeof now, "%llu", (unsigned long long)a->status.freq_hz);
    return dialog_ask(a,
                      &(struct dialog_prompt){
                          .label = "samples per second and CPU: ", .initial = now, .done = frequency_done });
}

/* --- search and filter --- */

static unsigned search_changed(void *ctx, struct app *a, const char *text)
{
    (void)ctx;
    text_clean(a->search, sizeof a->search, text, strlen(text));
    return APP_REDRAW | (a->search[0] ? app_search(a, 0) : 0);
}

static unsigned search_done(void *ctx, struct app *a, const char *text)
{
    (void)ctx;
    if (!text) {
        memcpy(a->search, a->typed_before, sizeof a->search);
        return steps_restore(a, &a->typed_from.position);
    }
    if (a->search[0] && !steps_newest_is(a, STEP_SEARCH))
        steps_push_noted(a, &a->typed_from);
    return APP_REDRAW;
}

unsigned ask_search(struct app *a)
{
    if (!a->ops[a->view]->search && !a->ops[a->view]->row_matches)
        return app_message(a, "this view has no search");
    memcpy(a->typed_before, a->search, sizeof a->typed_before);
    steps_note(a, STEP_SEARCH, &a->typed_from);
    return dialog_ask(
        a, &(struct dialog_prompt){ .label = "search: ", .changed = search_changed, .done = search_done });
}

static unsigned filter_changed(void *ctx, struct app *a, const char *text)
{
    (void)ctx;
    text_clean(a->query.filter, sizeof a->query.filter, text, strlen(text));
    return APP_QUERY;
}

static unsigned filter_done(void *ctx, struct app *a, const char *text)
{
    (void)ctx;
    if (!text) {
        memcpy(a->query.filter, a->typed_before, sizeof a->query.filter);
        return steps_restore(a, &a->typed_from.position);
    }
    if (strcmp(a->query.filter, a->typed_before) != 0)
        steps_push_noted(a, &a->typed_from);
    return APP_QUERY;
}

unsigned ask_filter(struct app *a)
{
    memcpy(a->typed_before, a->query.filter, sizeof a->typed_before);
    steps_note(a, STEP_FILTER, &a->typed_from);
    return dialog_ask(a, &(struct dialog_prompt){ .label = "only stacks through: ",
                                                  .initial = a->query.filter,
                                                  .changed = filter_changed,
                                                  .done = filter_done });
}

/* --- files --- */

/* A perf.data includes idle time, as perf record's does, and all of the history unless a window was
 * chosen: the screen can be reproduced from it, but not the reverse. */
static struct view_query query_to_write(const struct app *a)
{
    struct view_query q = a->query;
    q.show_idle = true;
    if (q.window_ns == a->cfg->query.window_ns)
        q.window_ns = 0;
    return q;
}

static unsigned write_perf_data(struct app *a)
{
    struct error e = { 0 };
    char number[32], window[32] = "all of the history";
    uint64_t samples = 0;
    struct view_query q = query_to_write(a);
    if (!session_write(a->session, &q, a->output_path, &samples, &e))
        return app_error(a, &e);
    if (q.to_ns || range_has_durations(a)) {
        (void)snprintf(window, sizeof window, "the range shown");
    } else if (q.window_ns) {
        (void)snprintf(window, sizeof window, "the last ");
        window_name(q.window_ns, window + strlen(window), sizeof window - strlen(window));
    }
    return app_message(a, "%s samples (%s) written to %s", text_thousands(number, sizeof number, samples),
                       window, a->output_path);
}

static unsigned run_export(struct app *a)
{
    struct error e = { 0 };
    if (!a->cfg->export_run(a->exporter, a->session, &a->query, a->cfg->export_options, a->output_path, &e))
        return app_error(a, &e);
    return app_message(a, "written to %s as %s", a->output_path, a->exporter->name);
}

static unsigned write_now(void *ctx, struct app *a)
{
    char progress[96];
    (void)ctx;
    if (a->exporter->plan) {
        struct view_query q = query_to_write(a);
        q.show_idle = a->query.show_idle;
        return job_make(a, a->exporter, &q, a->output_path);
    }
    (void)snprintf(progress, sizeof progress, "writing %s ...", a->exporter->name);
    return job_run(a, progress, a->saves ? write_perf_data : run_export);
}

/* Expands ~, as a shell does. */
static void set_output_path(struct app *a, const char *text)
{
    const char *home = strncmp(text, "~/", 2) == 0 ? getenv("HOME") : NULL;
    (void)snprintf(a->output_path, sizeof a->output_path, "%s%s", home ? home : "", home ? text + 1 : text);
}

static unsigned path_done(void *ctx, struct app *a, const char *text)
{
    (void)ctx;
    if (!text || !*text)
        return text ? app_message(a, "nothing was written") : APP_HANDLED;
    if (!strcmp(text, "-"))
        return app_message(a, "standard output is the screen: name a file");
    set_output_path(a, text);
    struct stat st; /* other files are refused by the writer */
    if (lstat(a->output_path, &st) != 0 || !S_ISREG(st.st_mode))
        return write_now(NULL, a);
    char question[400];
    (void)snprintf(question, sizeof question, "%s exists: overwrite it?", a->output_path);
    return dialog_confirm(a, question, write_now, NULL);
}

static unsigned ask_path(struct app *a)
{
    char label[96], name[160], host[65], stamp[32];
    time_t now = time(NULL);
    struct tm tm;
    (void)localtime_r(&now, &tm);
    (void)strftime(stamp, sizeof stamp, "%Y%m%d-%H%M%S", &tm);
    (void)snprintf(host, sizeof host, "%s", a->status.host[0] ? a->status.host : "file");
    for (char *p = strpbrk(host, "/ "); p; p = strpbrk(p, "/ "))
        *p = '_';
    (void)snprintf(name, sizeof name, "flametop-%s-%s%s", host, stamp, a->exporter->suffix);
    (void)snprintf(label, sizeof label, "write %s to: ", a->exporter->name);
    return dialog_ask(a, &(struct dialog_prompt){ .label = label, .initial = name, .done = path_done });
}

/* Returns the exporter of a menu's row; NULL: the menu has fewer rows. */
static const struct exporter *exporter_of_row(const struct app *a, uint32_t row)
{
    for (size_t i = 0; i < a->cfg->n_exporters; i++)
        if ((!a->saves || a->cfg->exporters[i]->save_help) && !row--)
            return a->cfg->exporters[i];
    return NULL;
}

static unsigned take_exporter(struct app *a, uint32_t row)
{
    a->exporter = exporter_of_row(a, row);
    return ask_path(a);
}

#define MENU_EXPORTERS 32 /* most rows of the menu */

static unsigned exporters_menu(struct app *a, const char *title, bool saves)
{
    char names[MENU_EXPORTERS][128];
    const char *list[MENU_EXPORTERS];
    const struct exporter *x;
    uint32_t n = 0;
    a->saves = saves;
    for (; n < MENU_EXPORTERS && (x = exporter_of_row(a, n)); n++) {
        (void)snprintf(names[n], sizeof names[n], "%-10s %s", x->name, saves ? x->save_help : x->help);
        list[n] = names[n];
    }
    return picker_menu(a, title, list, n, 0, take_exporter);
}

unsigned ask_write(struct app *a)
{
    return exporters_menu(a, "Write", true);
}

unsigned menu_export(struct app *a)
{
    return exporters_menu(a, "Export what is shown as", false);
}

/* --- threads of a function --- */

struct thread_menu {
    struct view_query query;
    struct view data;
};
struct thread_line {
    uint32_t group;
    uint64_t weight;
};

static int compare_lines(const void *x, const void *y)
{
    const struct thread_line *a = x, *b = y;
    return a->weight != b->weight ? (a->weight < b->weight ? 1 : -1)
                                  : (a->group > b->group) - (a->group < b->group);
}

static void thread_fill(void *ctx, struct app *a, struct picker *p)
{
    struct thread_menu *m = ctx;
    session_query(a->session, &m->query, &m->data);
    const struct result *r = &m->data.result;
    struct thread_line *lines = mem_array(m->data.n_groups + 1, sizeof *lines);
    for (uint32_t i = 0; i < m->data.n_groups; i++)
        lines[i].group = i;
    for (uint32_t i = 0; i < r->n_entries; i++)
        if (r->entries[i].group < m->data.n_groups)
            lines[r->entries[i].group].weight += r->entries[i].weight;
    qsort(lines, m->data.n_groups, sizeof *lines, compare_lines);
    for (uint32_t i = 0; i < m->data.n_groups && lines[i].weight; i++) {
        char text[200];
        const struct view_group_info *g = &m->data.groups[lines[i].group];
        (void)snprintf(text, sizeof text, "%5.1f%%  %s", 100.0 * (double)lines[i].weight / (double)r->weight,
                       g->label);
        picker_add(p, &(struct picker_item){ .key = lines[i].group + 1, .text = text, .name = g->label });
    }
    mem_free(lines);
}

static unsigned thread_take(void *ctx, struct app *a, const uint64_t *keys, uint32_t n)
{
    const struct thread_menu *m = ctx;
    uint64_t group = keys[0] - 1;
    if (!n || group >= m->data.n_groups)
        return APP_HANDLED;
    struct zoom z = { .kind = ZOOM_THREAD, .number = m->data.groups[group].number };
    (void)snprintf(z.text, sizeof z.text, "%s", m->data.groups[group].label);
    return app_zoom(a, &z);
}

static void thread_destroy(void *ctx)
{
    struct thread_menu *m = ctx;
    view_done(&m->data);
}

unsigned menu_zoom_thread(struct app *a)
{
    struct ui_selection sel = app_selection(a);
    char title[160] = "Threads";
    if (!a->data.result.samples)
        return app_message(a, "no samples here: no thread to zoom into");
    struct thread_menu *m = mem_zalloc(sizeof *m);
    m->query = a->query;
    m->query.group = VIEW_GROUP_THREAD;
    if (sel.func_key && m->query.n_zooms < VIEW_ZOOMS_MAX) {
        struct zoom *z = &m->query.zooms[m->query.n_zooms++];
        *z = (struct zoom){ .kind = ZOOM_FUNCTION, .number = sel.func_key };
        (void)snprintf(z->text, sizeof z->text, "%.127s", sel.function);
        (void)snprintf(title, sizeof title, "Threads that run %.120s", sel.function);
    }
    return picker_open(
        a,
        &(struct picker_config){
            .title = title, .fill = thread_fill, .take = thread_take, .destroy = thread_destroy, .ctx = m });
}
