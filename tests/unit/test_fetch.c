// SPDX-License-Identifier: GPL-2.0-or-later
/* Fetches debug files from a debuginfod server that is a thread of this test. */
#include "files.h"
#include "symbolizer_fixture.h"

#include <arpa/inet.h>
#include <poll.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <sys/wait.h>

#define SECRET_AT (ELF_MAKER_OFFSET + 0x40)
#define URL_MAX   64

enum behaviour { SERVES, HANGS, HAS_NOTHING, SENDS_GARBAGE, SENDS_ANOTHER, STALLS };

static const struct elf_maker_symbol plain = { "plain_function", ELF_MAKER_VADDR + 0x10, 0x10, 0 };
static const struct elf_maker_symbol secret = { "secret", ELF_MAKER_VADDR + 0x40, 0x10, 0 };

struct server {
    enum behaviour behaviour;
    int listener, stop[2];
    atomic_uint asked; /* number of requests; read only after the request: */
    char last[256];    /* request line */
    char url[URL_MAX];
    pthread_t thread;
};
struct fetching { /* a symbolizer with its two threads, server and folder */
    struct setup setup;
    struct server server;
    pthread_t fetcher;
};

/* ---- the server ---- */

static void send_all(int fd, const void *bytes, size_t n)
{
    const char *p = bytes;

    while (n) {
        ssize_t done = send(fd, p, n, MSG_NOSIGNAL);
        if (done <= 0)
            return;
        p += done;
        n -= (size_t)done;
    }
}

static void send_file(int fd, const void *bytes, size_t n, size_t says)
{
    char head[160];

    send_all(fd, head,
             (size_t)snprintf(head, sizeof head,
                              "HTTP/1.1 200 OK\r\nContent-Length: %zu\r\nX-DEBUGINFOD-SIZE: %zu\r\n"
                              "Connection: close\r\n\r\n",
                              says, says));
    send_all(fd, bytes, n);
}

static void wait_for_hangup(const struct server *v)
{
    struct pollfd p = { .fd = v->stop[0], .events = POLLIN };

    while (poll(&p, 1, -1) < 0)
        ;
}

static void send_reply(struct server *v, int fd)
{
    static const char missing[] = "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
    struct elf_maker debug = { .symbols = &secret, .n_symbols = 1, .symtab_type = SHT_SYMTAB, .id = 0x3e };
    struct elf_maker_file f;

    debug.id = v->behaviour == SENDS_ANOTHER ? 0x77 : 0x3e;
    elf_maker_fill(&f, &debug);
    switch (v->behaviour) {
    case SERVES:
    case SENDS_ANOTHER:
        send_file(fd, &f, sizeof f, sizeof f);
        break;
    case SENDS_GARBAGE:
        memset(&f, 0xa5, sizeof f);
        send_file(fd, &f, sizeof f, sizeof f);
        break;
    case STALLS:
        send_file(fd, &f, sizeof f / 2, sizeof f);
        wait_for_hangup(v);
        break;
    case HANGS:
        wait_for_hangup(v);
        break;
    case HAS_NOTHING:
        send_all(fd, missing, sizeof missing - 1);
        break;
    }
}

static void *serve_requests(void *server)
{
    struct server *v = server;
    struct pollfd p[] = { { .fd = v->listener, .events = POLLIN }, { .fd = v->stop[0], .events = POLLIN } };

    while (poll(p, 2, -1) < 0 || !p[1].revents) {
        int fd = p[0].revents ? accept4(v->listener, NULL, NULL, SOCK_CLOEXEC) : -1;
        char text[4096] = "";
        if (fd < 0)
            continue;
        if (recv(fd, text, sizeof text - 1, 0) > 0) {
            snprintf(v->last, sizeof v->last, "%.*s", (int)strcspn(text, "\r\n"), text);
            v->asked++;
            send_reply(v, fd);
        }
        close(fd);
    }
    return NULL;
}

static void start_server(struct server *v, enum behaviour behaviour)
{
    struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t n = sizeof a;

    v->behaviour = behaviour;
    v->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(v->listener >= 0);
    assert_int_equal(bind(v->listener, (struct sockaddr *)&a, sizeof a), 0);
    assert_int_equal(listen(v->listener, 8), 0);
    assert_int_equal(getsockname(v->listener, (struct sockaddr *)&a, &n), 0);
    assert_int_equal(pipe2(v->stop, O_CLOEXEC), 0);
    snprintf(v->url, sizeof v->url, "http://127.0.0.1:%u", ntohs(a.sin_port));
    assert_int_equal(pthread_create(&v->thread, NULL, serve_requests, v), 0);
}

static void stop_server(struct server *v)
{
    assert_int_equal(write(v->stop[1], "x", 1), 1);
    pthread_join(v->thread, NULL);
    close(v->listener);
    close(v->stop[0]);
    close(v->stop[1]);
}

/* ---- the symbolizer ---- */

static void *fetch_name(void *sy)
{
    symbolizer_fetch(sy);
    return NULL;
}

static void start_with_servers(struct fetching *g, enum behaviour behaviour, uint64_t silence_ns)
{
    struct symbolizer_config cfg = { .live = true,
                                     .debuginfod = g->server.url,
                                     .fetch_silence_ns = silence_ns };
    char cache[100];

    if (!symbolizer_can_fetch())
        skip();
    memset(g, 0, sizeof *g);
    strcpy(g->setup.dir, "/tmp/flametop-test-XXXXXX");
    assert_non_null(mkdtemp(g->setup.dir));
    snprintf(cache, sizeof cache, "%s/cache", g->setup.dir);
    setenv("DEBUGINFOD_CACHE_PATH", cache, 1);
    start_server(&g->server, behaviour);
    start(&g->setup, &cfg);
    assert_int_equal(pthread_create(&g->fetcher, NULL, fetch_name, g->setup.sy), 0);
}

static void stop_and_remove(struct fetching *g)
{
    symbolizer_stop(g->setup.sy);
    pthread_join(g->fetcher, NULL);
    stop(&g->setup);
    stop_server(&g->server);
    assert_int_equal(remove_tree(g->setup.dir), 0);
}

static struct module *stripped(const struct fetching *g, const char *name)
{
    struct elf_maker maker = { .symbols = &plain, .n_symbols = 1, .symtab_type = SHT_DYNSYM, .id = 0x3e };

    return make_elf_module(&g->setup, name, &maker);
}

/* Returns the symbol once the fetch has finished. */
static struct symbol fetched(struct fetching *g, struct module *m, uint64_t offset)
{
    settled(&g->setup, m, offset);
    assert_true(symbolizer_settle_fetches(g->setup.sy, LONG_ENOUGH));
    return settled(&g->setup, m, offset);
}

TEST(a_stripped_module_gets_its_symbols_from_a_debuginfod_server)
{
    struct fetching g;
    struct module *m;

    start_with_servers(&g, SERVES, 0);
    m = stripped(&g, "a");
    assert_string_equal(fetched(&g, m, SECRET_AT).name, "secret");
    assert_string_equal(trouble(&g.setup, m), "");
    assert_int_equal(g.server.asked, 1);
    assert_string_equal(g.server.last,
                        "GET /buildid/3e3e3e3e3e3e3e3e3e3e3e3e3e3e3e3e3e3e3e3e/debuginfo HTTP/1.1");
    module_put(m);
    stop_and_remove(&g);
}

TEST(two_modules_of_the_same_build_are_fetched_once)
{
    struct fetching g;
    struct module *m, *other;

    start_with_servers(&g, SERVES, 0);
    m = stripped(&g, "a");
    other = stripped(&g, "b");
    settled(&g.setup, other, SECRET_AT);
    assert_string_equal(fetched(&g, m, SECRET_AT).name, "secret");
    assert_string_equal(fetched(&g, other, SECRET_AT).name, "secret");
    assert_int_equal(g.server.asked, 1);
    module_put(m);
    module_put(other);
    stop_and_remove(&g);
}

TEST(a_module_with_all_its_symbols_is_not_fetched)
{
    struct elf_maker maker = { .symbols = &plain, .n_symbols = 1, .symtab_type = SHT_SYMTAB, .id = 0x3e };
    struct fetching g;
    struct module *m;

    start_with_servers(&g, SERVES, 0);
    m = make_elf_module(&g.setup, "a", &maker);
    assert_string_equal(fetched(&g, m, ELF_MAKER_OFFSET + 0x10).name, "plain_function");
    assert_int_equal(g.server.asked, 0);
    module_put(m);
    stop_and_remove(&g);
}

TEST(missing_files_are_reported_and_not_requested_again)
{
    struct fetching g;
    struct module *m, *other;

    start_with_servers(&g, HAS_NOTHING, 0);
    m = stripped(&g, "a");
    other = stripped(&g, "b");
    assert_int_equal(fetched(&g, m, SECRET_AT).state, SYMBOL_NONE);
    assert_non_null(strstr(trouble(&g.setup, m), "stripped"));
    assert_non_null(strstr(trouble(&g.setup, m), "debuginfod: no server has it"));
    assert_int_equal(fetched(&g, other, SECRET_AT).state, SYMBOL_NONE);
    assert_non_null(strstr(trouble(&g.setup, other), "debuginfod: no server has it"));
    assert_int_equal(g.server.asked, 1);
    module_put(m);
    module_put(other);
    stop_and_remove(&g);
}

static void expect_trouble(enum behaviour behaviour, const char *words)
{
    struct fetching g;
    struct module *m;

    start_with_servers(&g, behaviour, 500 * NS_PER_MS);
    m = stripped(&g, "a");
    /* during the fetch */
    assert_string_equal(settled(&g.setup, m, ELF_MAKER_OFFSET + 0x10).name, "plain_function");
    fetched(&g, m, SECRET_AT);
    assert_non_null(strstr(trouble(&g.setup, m), "stripped"));
    if (!strstr(trouble(&g.setup, m), words))
        fail_msg("%s", trouble(&g.setup, m));
    assert_string_equal(settled(&g.setup, m, ELF_MAKER_OFFSET + 0x10).name, "plain_function");
    module_put(m);
    stop_and_remove(&g);
}

TEST(hanging_servers_time_out)
{
    expect_trouble(HANGS, "debuginfod: the server does not respond");
}

TEST(servers_that_stop_in_the_middle_time_out)
{
    expect_trouble(STALLS, "debuginfod: the server does not respond");
}

TEST(invalid_debug_files_are_refused)
{
    expect_trouble(SENDS_GARBAGE, "debuginfod: the server sent an unusable file");
}

TEST(debug_files_of_another_build_are_refused)
{
    expect_trouble(SENDS_ANOTHER, "debuginfod: the server sent an unusable file");
}

TEST(a_running_fetch_shows_progress_and_does_not_delay_exit)
{
    struct symbolizer_stats stats;
    uint64_t end_ns = clock_now_ns() + LONG_ENOUGH;
    struct fetching g;
    struct module *m;

    start_with_servers(&g, HANGS, LONG_ENOUGH);
    m = stripped(&g, "a");
    settled(&g.setup, m, SECRET_AT);
    do {
        usleep(1000);
        symbolizer_stats(g.setup.sy, &stats);
    } while (!g.server.asked && clock_now_ns() < end_ns);
    assert_string_equal(stats.fetching, "debuginfod: requesting a");
    assert_false(symbolizer_settle_fetches(g.setup.sy, NS_PER_MS));
    module_put(m);
    stop_and_remove(&g); /* takes a minute and fails below if the fetch delays exit */
    assert_true(clock_now_ns() < end_ns);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* no child remains */
}

TEST_WITH(nothing_is_fetched_without_servers, set_up, tear_down)
{
    struct setup *s = *state;

    symbolizer_fetch(s->sy);
    assert_true(symbolizer_settle_fetches(s->sy, 0));
}

SYMBOLIZER_TEST_MAIN(NULL, NULL)
