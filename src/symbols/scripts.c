// SPDX-License-Identifier: GPL-2.0-or-later
/* Names of frames without addresses of code: of interpreted functions, whose offset is the number of a text,
 * and of what a thread waits for, and who woke it. */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "process/wait_reason.h"
#include "symbols/symbolizer_state.h"

#define NAMES_MAX (1u << 18)
#define BYTES_MAX ((size_t)32 << 20)
#define SHOWN_MAX 640
#define KEY_SEED  0x736372697074
#define TOO_MANY  "[too many interpreted functions]"

static uint32_t number_of(struct symbolizer *sy, const char *text)
{
    uint32_t number;

    if (!sy->scripts) {
        sy->scripts = intern_new();
        intern_add(sy->scripts, TOO_MANY, strlen(TOO_MANY));
    }
    if (intern_find(sy->scripts, text, strlen(text), &number))
        return number;
    if (intern_count(sy->scripts) >= NAMES_MAX || intern_bytes(sy->scripts) >= BYTES_MAX)
        text = TOO_MANY;
    return intern_add(sy->scripts, text, strlen(text));
}

/* Colours of waits. */
static enum symbol_class class_of_wait(enum wait_reason reason)
{
    static const enum symbol_class classes[WAIT_REASONS] = {
        [WAIT_UNKNOWN] = SYMBOL_CLASS_WAIT_OTHER,    [WAIT_FUTEX] = SYMBOL_CLASS_WAIT_LOCK,
        [WAIT_KERNEL_LOCK] = SYMBOL_CLASS_WAIT_LOCK, [WAIT_DISK_READ] = SYMBOL_CLASS_WAIT_DISK,
        [WAIT_WRITE_BACK] = SYMBOL_CLASS_WAIT_DISK,  [WAIT_REMOTE_FILE] = SYMBOL_CLASS_WAIT_DISK,
        [WAIT_FILE_LOCK] = SYMBOL_CLASS_WAIT_LOCK,   [WAIT_PAGE_FAULT] = SYMBOL_CLASS_WAIT_DISK,
        [WAIT_RECLAIM] = SYMBOL_CLASS_WAIT_DISK,     [WAIT_PIPE] = SYMBOL_CLASS_WAIT_IO,
        [WAIT_SOCKET] = SYMBOL_CLASS_WAIT_IO,        [WAIT_ACCEPT] = SYMBOL_CLASS_WAIT_IDLE,
        [WAIT_POLL] = SYMBOL_CLASS_WAIT_IDLE,        [WAIT_TIMER] = SYMBOL_CLASS_WAIT_IDLE,
        [WAIT_SIGNAL] = SYMBOL_CLASS_WAIT_IDLE,      [WAIT_CHILD] = SYMBOL_CLASS_WAIT_OTHER,
        [WAIT_TERMINAL] = SYMBOL_CLASS_WAIT_IDLE,    [WAIT_QUEUE] = SYMBOL_CLASS_WAIT_IO,
        [WAIT_IO_URING] = SYMBOL_CLASS_WAIT_IO,      [WAIT_STOPPED] = SYMBOL_CLASS_WAIT_OTHER,
        [WAIT_RUN_QUEUE] = SYMBOL_CLASS_RUNNABLE,    [WAIT_KERNEL_WORK] = SYMBOL_CLASS_WAIT_IDLE,
        [WAIT_RUNNING] = SYMBOL_CLASS_UNKNOWN,       [WAIT_NOT_TAKEN] = SYMBOL_CLASS_WAIT_OTHER,
        [WAIT_EXIT] = SYMBOL_CLASS_WAIT_OTHER,       [WAIT_DISK_WRITE] = SYMBOL_CLASS_WAIT_DISK,
        [WAIT_LOST] = SYMBOL_CLASS_UNKNOWN,
    };
    return classes[(unsigned)reason < WAIT_REASONS ? reason : WAIT_UNKNOWN];
}

uint64_t symbolizer_script(struct symbolizer *sy, const char *name)
{
    char text[SHOWN_MAX];
    uint32_t number;

    text_clean(text, sizeof text, name, strlen(name));
    pthread_mutex_lock(&sy->lock);
    number = number_of(sy, text);
    pthread_mutex_unlock(&sy->lock);
    return MODULE_SCRIPT_BASE + number;
}

void symbolizer_script_text(struct symbolizer *sy, uint64_t offset, char *dst, size_t cap)
{
    pthread_mutex_lock(&sy->lock);
    uint64_t number = offset - MODULE_SCRIPT_BASE;
    bool known = sy->scripts && number < intern_count(sy->scripts);
    (void)snprintf(dst, cap, "%s", known ? intern_str(sy->scripts, (uint32_t)number) : "");
    pthread_mutex_unlock(&sy->lock);
}

bool scripts_tell(struct symbolizer *sy, const struct symbol_module *mod, uint64_t offset, struct symbol *out)
{
    const char *text;
    bool known = true, idle = false;
    enum module_kind kind = mod->module->kind;
    bool wait = kind == MODULE_WAIT;
    enum symbol_class class = SYMBOL_CLASS_UNKNOWN;
    if (wait && offset < MODULE_SCRIPT_BASE) {
        text = wait_reason_frame((enum wait_reason)offset);
        class = class_of_wait((enum wait_reason)offset);
        idle = wait_reason_is_for_work((enum wait_reason)offset);
    } else if (wait || kind == MODULE_SCRIPT || kind == MODULE_OPERATION) {
        uint64_t number = offset - MODULE_SCRIPT_BASE;
        known = sy->scripts && number < intern_count(sy->scripts);
        text = known ? intern_str(sy->scripts, (uint32_t)number) : "[unknown]";
    } else {
        return false;
    }
    *out = (struct symbol){ .state = known ? SYMBOL_FOUND : SYMBOL_NONE,
                            .class = known && *text != '[' ? SYMBOL_CLASS_JIT : class,
                            .name = text,
                            .start = offset,
                            .size = 1,
                            .idle = idle,
                            .key = map_mix(mod->name_hash + map_hash_bytes(text, strlen(text), KEY_SEED)) };
    return true;
}
