// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbols/cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/map.h"
#include "base/mem.h"
#include "process/opener.h"
#include "symbols/blob.h"

#define CACHE_MAGIC   0x48434d46u /* FMCH */
#define CACHE_VERSION 2
#define HEAD_BYTES    4096 /* a page, so that the content can be mapped */
#define ENTRY_MAX     (UINT64_C(64) << 20)
#define ID_MAX        20
#define NAME_SIZE     (2 * ID_MAX + 32)

struct head {
    uint32_t magic, version;
    struct cache_key key;
    uint64_t size, checksum;
    char note[CACHE_NOTE_MAX];
};

struct cache {
    int dir;
    uint64_t max_bytes;
    pthread_mutex_t lock; /* for writers */
    uint64_t put_bytes;   /* bytes written since the folder was last measured */
};

/* ---- the folder ---- */

static bool default_folder(char *path, size_t cap)
{
    const char *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");

    if (xdg && *xdg == '/')
        return (size_t)snprintf(path, cap, "%s/flametop", xdg) < cap;
    return home && *home == '/' && (size_t)snprintf(path, cap, "%s/.cache/flametop", home) < cap;
}

bool cache_make_parents(char *path)
{
    for (char *p = path + 1; (p = strchr(p, '/')); p++) {
        *p = '\0';
        bool ok = !mkdir(path, 0700) || errno == EEXIST;
        *p = '/';
        if (!ok)
            return false;
    }
    return true;
}

/* Reject what belongs to another user or may be written by others. */
static bool is_ours(int fd, mode_t kind, struct stat *st)
{
    return !fstat(fd, st) && (st->st_mode & S_IFMT) == kind && st->st_uid == geteuid() &&
           !(st->st_mode & 022);
}

struct cache *cache_open(const char *folder, uint64_t max_bytes, struct error *e)
{
    char path[4096];
    struct stat st;
    struct cache *c;
    int dir;

    if (!folder && !default_folder(path, sizeof path)) {
        error_set(e, ERROR_MISSING, "no folder for the cache: XDG_CACHE_HOME and HOME are not set");
        return NULL;
    }
    if (folder && (size_t)snprintf(path, sizeof path, "%s", folder) >= sizeof path) {
        error_set(e, ERROR_ARGUMENT, "the cache's path is too long");
        return NULL;
    }
    if (!cache_make_parents(path) || (mkdir(path, 0700) && errno != EEXIST)) {
        error_sys(e, errno, "cannot make the folder %s", path);
        return NULL;
    }
    dir = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (dir < 0) {
        error_sys(e, errno, "cannot open the folder %s", path);
        return NULL;
    }
    if (!is_ours(dir, S_IFDIR, &st)) {
        error_set(e, ERROR_PERMISSION, "%s is of another user or writable by others: no cache there", path);
        close(dir);
        return NULL;
    }
    c = mem_zalloc(sizeof *c);
    pthread_mutex_init(&c->lock, NULL);
    c->dir = dir;
    c->max_bytes = max_bytes;
    c->put_bytes = max_bytes; /* the first put measures the folder */
    return c;
}

void cache_free(struct cache *c)
{
    if (!c)
        return;
    close(c->dir);
    pthread_mutex_destroy(&c->lock);
    mem_free(c);
}

/* ---- one table ---- */

uint64_t cache_stamp(int fd)
{
    struct opened of;

    if (!opened_facts(fd, &of))
        return 0;
    const struct stat *st = &of.st;
    const uint64_t facts[] = { st->st_dev,          st->st_ino,           (uint64_t)st->st_size,
                               st->st_mtim.tv_sec,  st->st_mtim.tv_nsec,  st->st_ctim.tv_sec,
                               st->st_ctim.tv_nsec, (uint64_t)st->st_uid, (uint64_t)st->st_mode };
    return map_hash_bytes(facts, sizeof facts, 0);
}

static bool name_of(const struct cache_key *key, char name[NAME_SIZE])
{
    static const char *const suffixes[] = { [CACHE_NAMES] = "names",
                                            [CACHE_UNWIND] = "unwind",
                                            [CACHE_INLINED] = "inlined",
                                            [CACHE_CALLS] = "calls" };
    char *p = name;

    if (!key->id_size || key->id_size > ID_MAX || !key->stamp)
        return false;
    for (unsigned i = 0; i < key->id_size; i++)
        p += sprintf(p, "%02x", key->id[i]);
    sprintf(p, "-%016llx.%s", (unsigned long long)key->stamp, suffixes[key->kind]);
    return true;
}

/* Heads are compared as bytes, so padding is zeroed. */
static void set_head(struct head *h, const struct cache_key *key, const void *bytes, size_t n,
                     const char *note)
{
    memset(h, 0, sizeof *h);
    h->magic = CACHE_MAGIC;
    h->version = CACHE_VERSION;
    h->key.kind = key->kind;
    h->key.version = key->version;
    memcpy(h->key.id, key->id, key->id_size);
    h->key.id_size = key->id_size;
    h->key.stamp = key->stamp;
    h->size = n;
    snprintf(h->note, sizeof h->note, "%s", note);
    h->checksum = map_hash_bytes(h->note, sizeof h->note, map_hash_bytes(bytes, n, n));
}

/* Map the content of an open file. NULL if its head differs from the expected one (except checksum and
 * size). */
static const void *map_content(int fd, const struct cache_key *key, size_t *n, char note[CACHE_NOTE_MAX])
{
    struct stat st;
    struct head h, want;
    const void *p;

    if (!is_ours(fd, S_IFREG, &st) || st.st_size <= HEAD_BYTES ||
        (uint64_t)st.st_size > HEAD_BYTES + ENTRY_MAX || pread(fd, &h, sizeof h, 0) != (ssize_t)sizeof h)
        return NULL;
    *n = (size_t)st.st_size - HEAD_BYTES;
    p = blob_read(fd, HEAD_BYTES, *n);
    if (!p)
        return NULL;
    h.note[CACHE_NOTE_MAX - 1] = '\0';
    set_head(&want, key, p, *n, h.note);
    if (memcmp(&h, &want, sizeof h)) {
        blob_free(p, *n);
        return NULL;
    }
    if (note)
        memcpy(note, h.note, CACHE_NOTE_MAX);
    /* The checksum has read all of it, but little is needed soon. */
    if (blob_is_mapped(*n))
        madvise((void *)(uintptr_t)p, *n, MADV_DONTNEED);
    return p;
}

bool cache_get(struct cache *c, const struct cache_key *key, const void **bytes, size_t *n,
               char note[CACHE_NOTE_MAX])
{
    char name[NAME_SIZE];
    int fd;

    if (!c || !name_of(key, name))
        return false;
    fd = openat(c->dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return false;
    *bytes = map_content(fd, key, n, note);
    if (*bytes)
        futimens(fd, NULL); /* mark as used */
    else
        unlinkat(c->dir, name, 0);
    close(fd);
    return *bytes != NULL;
}

bool cache_has(struct cache *c, const struct cache_key *key)
{
    char name[NAME_SIZE];

    return c && name_of(key, name) && !faccessat(c->dir, name, F_OK, AT_SYMLINK_NOFOLLOW);
}

/* ---- room ---- */

struct entry {
    char name[NAME_MAX + 1];
    struct timespec used;
    uint64_t size;
};
struct entries {
    VEC(struct entry);
};

static int by_use(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;

    if (x->used.tv_sec != y->used.tv_sec)
        return x->used.tv_sec < y->used.tv_sec ? -1 : 1;
    return (x->used.tv_nsec > y->used.tv_nsec) - (x->used.tv_nsec < y->used.tv_nsec);
}

static void list_entries(struct cache *c, struct entries *list, uint64_t *bytes)
{
    int fd = openat(c->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
    struct dirent *de;
    struct stat st;

    *bytes = 0;
    if (!d && fd >= 0)
        close(fd);
    while (d && (de = readdir(d))) {
        if (fstatat(c->dir, de->d_name, &st, AT_SYMLINK_NOFOLLOW) || !S_ISREG(st.st_mode))
            continue;
        struct entry *e = VEC_PUSH(list);
        snprintf(e->name, sizeof e->name, "%s", de->d_name);
        e->used = st.st_mtim;
        e->size = (uint64_t)st.st_size;
        *bytes += e->size;
    }
    if (d)
        closedir(d);
}

/* Evict down to three quarters, so that the folder is not measured at each put. Leftovers of a crash are
 * evicted the same way. */
static void make_room(struct cache *c, uint64_t wanted)
{
    struct entries list = { 0 };
    uint64_t bytes, most = c->max_bytes - c->max_bytes / 4;

    c->put_bytes += wanted;
    if (c->put_bytes < c->max_bytes / 4)
        return;
    c->put_bytes = wanted;
    list_entries(c, &list, &bytes);
    if (bytes + wanted > c->max_bytes) {
        qsort(list.items, list.n, sizeof *list.items, by_use);
        for (size_t i = 0; i < list.n && bytes + wanted > most; i++) {
            unlinkat(c->dir, list.items[i].name, 0);
            bytes -= list.items[i].size;
        }
    }
    mem_free(list.items);
}

static void put(struct cache *c, const struct cache_key *key, const char *name, const void *bytes, size_t n,
                const char *note)
{
    char temporary[NAME_SIZE + 32];
    struct head h;
    int fd;
    bool ok;

    make_room(c, n + HEAD_BYTES);
    snprintf(temporary, sizeof temporary, "%s.%ld.new", name, (long)getpid());
    unlinkat(c->dir, temporary, 0);
    fd = openat(c->dir, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return;
    set_head(&h, key, bytes, n, note ? note : "");
    ok = file_write_all(fd, &h, sizeof h, NULL) && lseek(fd, HEAD_BYTES, SEEK_SET) == HEAD_BYTES &&
         file_write_all(fd, bytes, n, NULL);
    close(fd);
    if (!ok || renameat(c->dir, temporary, c->dir, name))
        unlinkat(c->dir, temporary, 0);
}

void cache_put(struct cache *c, const struct cache_key *key, const void *bytes, size_t n, const char *note)
{
    char name[NAME_SIZE];

    if (!c || !name_of(key, name) || !n || n > ENTRY_MAX || n + HEAD_BYTES > c->max_bytes / 4)
        return;
    pthread_mutex_lock(&c->lock);
    put(c, key, name, bytes, n, note);
    pthread_mutex_unlock(&c->lock);
}
