// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads the config file: [options] with the long names of options.def, and [keys] with action = keys. It is
 * the file of --config, else $XDG_CONFIG_HOME/flametop/config, else SYSCONFDIR/flametop/config; never one in
 * the current folder. */
#include <string.h>
#include <unistd.h>

#include "base/ini.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/options.h"

static const char *keep(struct options *o, const char *text)
{
    return *VEC_PUSH(&o->strings) = mem_strdup(text);
}

static bool config_option(struct options *o, const char *key, const char *value, struct error *e)
{
    const char *names[OPTION_COUNT_ALL];
    size_t n = 0;
    for (int i = 0; i < OPTION_COUNT_ALL; i++) {
        const struct option_row *r = &option_table[i];
        if (r->where != WHERE_CONFIG)
            continue;
        if (!strcmp(r->name, key))
            return options_set(o, (enum option_id)i, keep(o, value), e);
        names[n++] = r->name;
    }
    int near = text_nearest(key, names, n);
    error_set(e, ERROR_ARGUMENT, "unknown option %s", key);
    return near >= 0 ? error_hint(e, "did you mean %s?", names[near]) : false;
}

static bool config_line(void *ctx, const char *section, const char *key, const char *value, struct error *e)
{
    struct options *o = ctx;
    if (!strcmp(section, "options") || !*section)
        return config_option(o, key, value, e);
    if (strcmp(section, "keys"))
        return error_set(e, ERROR_ARGUMENT, "unknown section [%s]: there are [options] and [keys]", section);
    const char *action = keep(o, key), *keys = keep(o, value);
    *VEC_PUSH(&o->keys) = (struct key_binding){ action, keys };
    return true;
}

const char *config_own_path(const struct options *o, char *path, size_t cap)
{
    if (o->config_path)
        return o->config_path[0] == '/' ? o->config_path : NULL;
    return ini_user_path("config", path, cap) ? path : NULL;
}

const char *config_model_path(const struct options *o)
{
    return o->config_path ? NULL : FLAMETOP_SYSCONF_DIR "/config";
}

bool config_read(struct options *o, struct error *e)
{
    char path[1024];
    if (o->config_path && !strcmp(o->config_path, "/dev/null"))
        return true;
    if (o->config_path)
        return ini_read(o->config_path, config_line, o, e);
    if (ini_user_path("config", path, sizeof path) && access(path, F_OK) == 0)
        return ini_read(path, config_line, o, e);
    if (access(FLAMETOP_SYSCONF_DIR "/config", F_OK) == 0)
        return ini_read(FLAMETOP_SYSCONF_DIR "/config", config_line, o, e);
    return true;
}
