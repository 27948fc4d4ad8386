// SPDX-License-Identifier: GPL-2.0-or-later
/* The menu of latency shares and parallelism. */
#include "ui/columns.h"
#include "ui/menus.h"
#include "ui/picker.h"

static const struct {
    bool on;
    uint32_t from, to; /* threads that run, as in view_zoom_parallelism */
    const char *choice, *message;
} modes[] = {
    { false, 0, 0, "off", "latency shares are off" },
    { true, 0, 0, "LATENCY% and PARALLELISM", "each moment is divided by the threads that run at it" },
    { true, 1, 1, "the same, only while 1 thread runs", "only moments when 1 thread runs" },
    { true, 2, SAMPLE_RUNNING, "the same, only while several threads run",
      "only moments when several threads run" },
};
#define MODES (sizeof modes / sizeof *modes)

static unsigned take_latency(struct app *a, uint32_t choice)
{
    struct error e = { 0 };
    if (session_has_latency(a->session) != modes[choice].on &&
        !session_set_latency(a->session, modes[choice].on, &e))
        return app_error(a, &e);
    if (modes[choice].on) /* a saved list of columns may lack them */
        a->columns_hidden &= ~(1u << COLUMN_LATENCY | 1u << COLUMN_PARALLELISM);
    if (!view_zoom_parallelism(&a->query, modes[choice].from, modes[choice].to))
        return APP_QUERY | app_message(a, "no more than %d zooms: undo one first", VIEW_ZOOMS_MAX);
    return APP_QUERY | app_message(a, "%s", modes[choice].message);
}

/* The running mode; of moments: the menu's, or any other. */
static uint32_t current_mode(const struct app *a)
{
    const struct view_query *q = &a->query;
    uint32_t current = session_has_latency(a->session);
    for (uint32_t i = 0; i < q->n_zooms; i++)
        if (q->zooms[i].kind == ZOOM_PARALLELISM)
            current = (uint32_t)q->zooms[i].number == modes[2].from ? 2 : 3;
    return current;
}

unsigned menu_latency(struct app *a)
{
    const char *choices[MODES];
    for (uint32_t i = 0; i < MODES; i++)
        choices[i] = modes[i].choice;
    return picker_menu(a, "Latency", choices, MODES, current_mode(a), take_latency);
}
