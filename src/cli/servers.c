// SPDX-License-Identifier: GPL-2.0-or-later
/* Sets the option --debuginfod: the servers of debug files. $DEBUGINFOD_URLS is used only if the option is
 * given. If the variable is not set, the system's list is used, because sudo removes the variable. */
#include <glob.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/options.h"

#define SYSTEM_FILES "/etc/debuginfod/*.urls" /* as /etc/profile.d/debuginfod.sh reads them */
#define URLS_MAX     4096

static bool is_url(const char *text, size_t n)
{
    static const char *const schemes[] = { "http://", "https://", "file://" };
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++)
        if (n > strlen(schemes[i]) && !strncmp(text, schemes[i], strlen(schemes[i])))
            return true;
    return false;
}

/* Adds the URLs of text, separated by one blank. Returns false with the error if one is not a URL. */
static bool add_urls(struct buf *urls, const char *text, struct error *e)
{
    static const char blanks[] = " \t\r\n";
    for (size_t n; *(text += strspn(text, blanks)); text += n) {
        n = strcspn(text, blanks);
        if (!is_url(text, n))
            return error_set(e, ERROR_ARGUMENT,
                             "--debuginfod %.*s: a URL is needed, as in https://debuginfod.debian.net",
                             (int)(n < 200 ? n : 200), text);
        buf_printf(urls, "%s%.*s", urls->len ? " " : "", (int)n, text);
        if (urls->len > URLS_MAX)
            return error_set(e, ERROR_LIMIT, "--debuginfod: more than %d characters of URLs", URLS_MAX);
    }
    return true;
}

static void add_system_urls(struct buf *urls)
{
    glob_t found;
    if (glob(SYSTEM_FILES, 0, NULL, &found))
        return;
    for (size_t i = 0; i < found.gl_pathc; i++) {
        struct buf text = { 0 };
        if (file_read(found.gl_pathv[i], URLS_MAX, &text, NULL))
            add_urls(urls, buf_str(&text), NULL);
        buf_done(&text);
    }
    globfree(&found);
}

static bool find_urls(const char *value, struct buf *urls, struct error *e)
{
    const char *from = value ? value : getenv("DEBUGINFOD_URLS");
    if (from && !add_urls(urls, from, e))
        return false;
    if (!urls->len && !value)
        add_system_urls(urls);
    return urls->len || error_set(e, ERROR_ARGUMENT,
                                  "--debuginfod: no server is named: --debuginfod=URL, or set "
                                  "DEBUGINFOD_URLS");
}

bool options_set_debuginfod(struct options *o, const char *value, struct error *e)
{
    struct buf urls = { 0 };
    bool on = true;
    if (value && text_parse_bool(value, &on))
        value = NULL;
    bool ok = !on || (symbolizer_can_fetch() && find_urls(value, &urls, e));
    if (on && !symbolizer_can_fetch())
        error_set(e, ERROR_UNSUPPORTED, "--debuginfod: this program was built without libdebuginfod");
    mem_free(o->servers);
    o->servers = ok && on ? mem_strdup(buf_str(&urls)) : NULL;
    o->session.debuginfod = o->servers;
    buf_done(&urls);
    return ok;
}
