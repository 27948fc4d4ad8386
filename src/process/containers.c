// SPDX-License-Identifier: GPL-2.0-or-later
#include "process/containers.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/thread.h"
#include "process/cgroup_label.h"

#define DOCKER_FOLDER  "/var/lib/docker/containers"
#define STORAGE_FILE   "/var/lib/containers/storage/overlay-containers/containers.json"
#define LOGS_FOLDER    "/var/log/containers"
#define DOCKER_MAX     (1u << 20) /* most bytes read of a file */
#define STORAGE_MAX    (8u << 20)
#define LOGS_MAX       20000 /* most entries read of the folder */
#define CONTAINERS_MAX 4096  /* most containers cached */
#define TRIES_MAX      3     /* a new container's name may not be written yet */
#define RETRY_NS       (10 * NS_PER_SEC)
#define LEAVE_WAIT_NS  (500 * NS_PER_MS)

struct container {
    struct cgroup_container what;
    char name[CONTAINERS_NAME_MAX];
    uint64_t tried_ns;
    unsigned tries;
    bool wanted;
};

struct containers {
    pthread_mutex_t lock;
    pthread_cond_t work;
    pthread_t thread;
    bool runs, stop;
    char *root;
    struct map by_id; /* hash of the id → struct container * */
    unsigned n_wanted;
    atomic_uint generation;
};

struct containers *containers_new(const char *root)
{
    struct containers *c = mem_zalloc(sizeof *c);

    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->work, NULL);
    c->root = mem_strdup(strcmp(root, "/") ? root : "");
    return c;
}

static struct container *container_at(uint64_t value)
{
    return (struct container *)(uintptr_t)value;
}

static void forget_all(struct containers *c)
{
    uint64_t value;

    for (size_t pos = 0; map_next(&c->by_id, &pos, NULL, &value);)
        mem_free(container_at(value));
    map_clear(&c->by_id);
    c->n_wanted = 0;
}

/* A hanging disk must not delay the exit: then all memory is left as it is. */
static bool end_thread(struct containers *c)
{
    struct timespec until = clock_deadline(CLOCK_REALTIME, LEAVE_WAIT_NS);

    pthread_mutex_lock(&c->lock);
    c->stop = true;
    pthread_cond_signal(&c->work);
    pthread_mutex_unlock(&c->lock);
    return !c->runs || !pthread_timedjoin_np(c->thread, NULL, &until);
}

void containers_free(struct containers *c)
{
    if (!c || !end_thread(c))
        return;
    forget_all(c);
    map_done(&c->by_id);
    pthread_cond_destroy(&c->work);
    pthread_mutex_destroy(&c->lock);
    mem_free(c->root);
    mem_free(c);
}

/* ---- files, read in the thread ---- */

static bool read_regular(const char *path, size_t max, struct buf *text)
{
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    struct stat st;
    bool ok = fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode) && file_read_fd(fd, path, max, text, NULL);

    if (fd >= 0)
        close(fd);
    return ok;
}

static bool ask_docker(const char *root, struct container *to)
{
    struct buf text = { 0 };
    char path[4096];
    bool ok;

    snprintf(path, sizeof path, "%s" DOCKER_FOLDER "/%s/config.v2.json", root, to->what.id);
    ok = read_regular(path, DOCKER_MAX, &text) && containers_docker_name(text.data, text.len, to->name);
    buf_done(&text);
    return ok;
}

static bool ask_storage(const char *root, struct container *to)
{
    struct buf text = { 0 };
    char path[4096];
    bool ok;

    snprintf(path, sizeof path, "%s" STORAGE_FILE, root);
    ok = read_regular(path, STORAGE_MAX, &text) &&
         containers_storage_name(text.data, text.len, to->what.id, to->name);
    buf_done(&text);
    return ok;
}

static bool ask_logs(const char *root, struct container *to)
{
    struct dirent *entry;
    char path[4096];
    bool found = false;
    unsigned n = 0;
    DIR *dir;

    snprintf(path, sizeof path, "%s" LOGS_FOLDER, root);
    dir = opendir(path);
    while (dir && !found && n++ < LOGS_MAX && (entry = readdir(dir)))
        found = containers_log_name(entry->d_name, to->what.id, to->name);
    if (dir)
        closedir(dir);
    return found;
}

static void find_name(const char *root, struct container *to)
{
    if (to->what.pod[0] ? ask_logs(root, to) : ask_docker(root, to) || ask_storage(root, to))
        return;
    to->name[0] = '\0';
}

static struct container *next_wanted(struct containers *c)
{
    uint64_t value;

    for (size_t pos = 0; c->n_wanted && map_next(&c->by_id, &pos, NULL, &value);)
        if (container_at(value)->wanted)
            return container_at(value);
    return NULL;
}

static uint64_t key_of(const char *id)
{
    return map_hash_bytes(id, strlen(id), 0);
}

/* The container may have been forgotten meanwhile. */
static void install(struct containers *c, const struct container *reply)
{
    uint64_t value;
    struct container *to = map_get(&c->by_id, key_of(reply->what.id), &value) ? container_at(value) : NULL;

    if (!to || strcmp(to->what.id, reply->what.id))
        return;
    memcpy(to->name, reply->name, sizeof to->name);
    if (to->name[0])
        atomic_fetch_add(&c->generation, 1);
}

static void *read_names(void *containers)
{
    struct containers *c = containers;

    pthread_mutex_lock(&c->lock);
    while (!c->stop) {
        struct container *wanted = next_wanted(c), reply;
        if (!wanted) {
            pthread_cond_wait(&c->work, &c->lock);
            continue;
        }
        wanted->wanted = false;
        wanted->tries++;
        wanted->tried_ns = clock_now_ns();
        c->n_wanted--;
        reply = *wanted;
        pthread_mutex_unlock(&c->lock);
        find_name(c->root, &reply);
        pthread_mutex_lock(&c->lock);
        install(c, &reply);
    }
    pthread_mutex_unlock(&c->lock);
    return NULL;
}

/* ---- lookups ---- */

static void want(struct containers *c, struct container *to)
{
    if (to->wanted || to->name[0] || to->tries >= TRIES_MAX ||
        (to->tries && clock_now_ns() - to->tried_ns < RETRY_NS))
        return;
    if (!c->runs)
        c->runs = !thread_start(&c->thread, read_names, c);
    to->wanted = true;
    c->n_wanted++;
    pthread_cond_signal(&c->work);
}

static void look_up(struct containers *c, const struct cgroup_container *what, char name[CONTAINERS_NAME_MAX])
{
    struct container *to;
    bool created;
    uint64_t *at;

    pthread_mutex_lock(&c->lock);
    if (c->by_id.n >= CONTAINERS_MAX)
        forget_all(c);
    at = map_at(&c->by_id, key_of(what->id), 0, &created);
    if (created) {
        to = mem_zalloc(sizeof *to);
        to->what = *what;
        to->what.below = ""; /* points into the path, which is borrowed */
        *at = (uintptr_t)to;
    }
    to = container_at(*at);
    if (!strcmp(to->what.id, what->id)) {
        want(c, to);
        memcpy(name, to->name, sizeof to->name);
    }
    pthread_mutex_unlock(&c->lock);
}

size_t containers_label(struct containers *c, const char *path, char *dst, size_t cap)
{
    char name[CONTAINERS_NAME_MAX] = "";
    struct cgroup_container what;

    if (c && cgroup_container(path, &what) && strlen(what.id) == 64)
        look_up(c, &what, name);
    return cgroup_label(path, name, dst, cap);
}

uint32_t containers_generation(const struct containers *c)
{
    return c ? atomic_load(&c->generation) : 0;
}
