// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "process/containers.h"
#include "unit_test.h"
#include "files.h"

#define ID     "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define OTHER  "fedcba9876543210fedcba9876543210fedcba9876543210fedcba9876543210"
#define DOCKER "/docker/" ID
#define PODMAN "/machine.slice/libpod-" ID ".scope"
#define POD    "/kubepods/pod8d5cdf4e-5a1b-4f0e-9d3c-2b1a0f9e8d7c/" ID

static char root[64];
static struct containers *containers;

static int set_up(void **state)
{
    strcpy(root, "/tmp/flametop-containers-XXXXXX");
    if (!mkdtemp(root))
        return -1;
    containers = containers_new(root);
    return 0;
}

static int tear_down(void **state)
{
    containers_free(containers);
    return remove_tree(root);
}

#define FIXTURE_TEST(name) TEST_WITH(name, set_up, tear_down)

static void make_folder(const char *below, char path[512])
{
    char command[600];

    snprintf(path, 512, "%s%s", root, below);
    snprintf(command, sizeof command, "mkdir -p '%s'", path);
    assert_int_equal(system(command), 0);
}

static void write_file(const char *folder, const char *name, const char *text)
{
    char path[512];

    make_folder(folder, path);
    strcat(path, name);
    write_text(path, text);
}

/* Waits for the name and returns the label. */
static const char *label_with_name(const char *path)
{
    uint64_t end = clock_now_ns() + 60 * NS_PER_SEC;
    static char text[300];

    containers_label(containers, path, text, sizeof text);
    while (!containers_generation(containers) && clock_now_ns() < end)
        usleep(1000);
    containers_label(containers, path, text, sizeof text);
    return text;
}

FIXTURE_TEST(docker_container_names_are_read_from_docker_files)
{
    char first[100];

    write_file("/var/lib/docker/containers/" ID, "/config.v2.json",
               "{\"MountPoints\":{\"/data\":{\"Name\":\"volume\"}},"
               "\"Config\":{\"Env\":[\"\\\"Name\\\":\\\"/env\\\"\"]},"
               "\"Name\":\"/web\",\"Driver\":\"overlay2\"}");
    containers_label(containers, DOCKER, first, sizeof first);
    assert_string_equal(first, "docker 0123456789ab");
    assert_string_equal(label_with_name(DOCKER), "docker web");
}

FIXTURE_TEST(podman_container_names_are_read_from_podman_storage)
{
    write_file("/var/lib/containers/storage/overlay-containers", "/containers.json",
               "[{\"id\":\"" OTHER "\",\"names\":[\"other\"]},\n"
               " {\"id\":\"" ID
               "\",\"names\":[\"db\",\"alias\"],\"metadata\":\"{\\\"names\\\":[\\\"no\\\"]}\"}]");
    assert_string_equal(label_with_name(PODMAN), "podman db");
}

FIXTURE_TEST(pod_names_are_read_from_kubelet_log_links)
{
    char path[512];

    make_folder("/var/log/containers", path);
    strcat(path, "/web-7d4_default_nginx-" ID ".log");
    assert_int_equal(symlink("/nowhere", path), 0);
    assert_string_equal(label_with_name(POD), "pod default/web-7d4/nginx");
}

FIXTURE_TEST(only_regular_files_are_read)
{
    char path[512], text[100];

    make_folder("/var/lib/docker/containers/" ID, path);
    strcat(path, "/config.v2.json");
    assert_int_equal(mkfifo(path, 0600), 0);
    containers_label(containers, DOCKER, text, sizeof text);
    write_file("/var/lib/docker/containers/" OTHER, "/config.v2.json", "{\"Name\":\"/other\"}");
    assert_string_equal(label_with_name("/docker/" OTHER), "docker other"); /* the reader did not block */
    containers_label(containers, DOCKER, text, sizeof text);
    assert_string_equal(text, "docker 0123456789ab");
}

TEST(labels_have_no_container_names_without_a_reader)
{
    char text[100];

    containers_label(NULL, DOCKER, text, sizeof text);
    assert_string_equal(text, "docker 0123456789ab");
    assert_int_equal(containers_generation(NULL), 0);
}

static bool docker_name(const char *text)
{
    char name[CONTAINERS_NAME_MAX];

    return containers_docker_name(text, strlen(text), name);
}

static bool storage_name(const char *text)
{
    char name[CONTAINERS_NAME_MAX];

    return containers_storage_name(text, strlen(text), ID, name);
}

TEST(damaged_files_give_no_name)
{
    static const char *const files[] = { "",
                                         "{",
                                         "{\"Name\"",
                                         "{\"Name\":",
                                         "{\"Name\":}",
                                         "{\"Name\":\"",
                                         "{\"Name\":\"/\"}",
                                         "{\"Name\":\"\"}",
                                         "{\"Name\":7}",
                                         "\"Name\":\"/a\"",
                                         "{\"Name\":\"a\\",
                                         "}}}{{{\"Name\":\"/a\"" };
    char name[CONTAINERS_NAME_MAX];

    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        assert_false(docker_name(files[i]));
    assert_false(storage_name("[{\"id\":\"" ID "\"}, {\"id\":\"" OTHER "\",\"names\":[\"its\"]}]"));
    assert_false(storage_name("[{\"id\":\"" ID "\",\"names\":[]}]"));
    assert_false(storage_name("[{\"id\":\"" ID "\",\"names\":null}]"));
    assert_true(storage_name("[{\"id\":\"" ID "\",\"names\":[\"a\"]"));
    assert_false(containers_log_name("", ID, name));
    assert_false(containers_log_name(ID ".log", ID, name));
    assert_false(containers_log_name("-" ID ".log", ID, name));
    assert_false(containers_log_name("a_b-" ID ".log", ID, name));
    assert_false(containers_log_name("a_b_c-" OTHER ".log", ID, name));
    assert_true(containers_log_name("a_b_c-" ID ".log", ID, name));
    assert_string_equal(name, "b/a/c");
}

TEST(hostile_names_are_cleaned_and_truncated)
{
    char text[2000] = "{\"Name\":\"/a\033\n\xff";
    char name[CONTAINERS_NAME_MAX];

    memset(text + strlen(text), 'b', 1000);
    strcat(text, "\"}");
    assert_true(containers_docker_name(text, strlen(text), name));
    assert_int_equal(strlen(name), CONTAINERS_NAME_MAX - 1);
    assert_int_equal(strncmp(name, "a???bbb", 7), 0);
}

TEST_MAIN(NULL, NULL)
