// SPDX-License-Identifier: GPL-2.0-or-later
#include <string.h>

#include "process/cgroup_label.h"
#include "unit_test.h"

#define ID          "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define UID         "8d5cdf4e-5a1b-4f0e-9d3c-2b1a0f9e8d7c"
#define UID_ESCAPED "8d5cdf4e_5a1b_4f0e_9d3c_2b1a0f9e8d7c"

static void expect_label(const char *path, const char *name, const char *label)
{
    char text[256];

    assert_int_equal(cgroup_label(path, name, text, sizeof text), strlen(label));
    assert_string_equal(text, label);
}

TEST(containers_are_labelled_by_runtime_and_short_id)
{
    expect_label("/docker/" ID, NULL, "docker 0123456789ab");
    expect_label("/system.slice/docker-" ID ".scope", NULL, "docker 0123456789ab");
    expect_label("/user.slice/user-1000.slice/user@1000.service/user.slice/docker-" ID ".scope", "",
                 "docker 0123456789ab");
    expect_label("/machine.slice/libpod-" ID ".scope", NULL, "podman 0123456789ab");
    expect_label("/machine.slice/libpod-" ID ".scope/container", NULL, "podman 0123456789ab");
    expect_label("/libpod_parent/libpod-" ID, NULL, "podman 0123456789ab");
    expect_label("/machine.slice/libpod-conmon-" ID ".scope", NULL, "podman conmon 0123456789ab");
    expect_label("/default/" ID, NULL, "container 0123456789ab");
}

TEST(named_containers_are_labelled_by_name)
{
    expect_label("/docker/" ID, "web", "docker web");
    expect_label("/machine.slice/libpod-" ID ".scope/container", "db", "podman db");
    expect_label("/kubepods/burstable/pod" UID "/" ID, "default/web-7d4/nginx", "pod default/web-7d4/nginx");
}

TEST(pods_are_labelled_by_uid_and_container)
{
    expect_label("/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" UID_ESCAPED
                 ".slice/cri-containerd-" ID ".scope",
                 NULL, "pod 8d5cdf4e/0123456789ab");
    expect_label("/kubepods.slice/kubepods-pod" UID_ESCAPED ".slice/crio-" ID ".scope", NULL,
                 "pod 8d5cdf4e/0123456789ab");
    expect_label("/kubepods/besteffort/pod" UID "/" ID, NULL, "pod 8d5cdf4e/0123456789ab");
    expect_label("/system.slice/containerd.service/kubepods-burstable-pod" UID_ESCAPED
                 ".slice:cri-containerd:" ID,
                 NULL, "pod 8d5cdf4e/0123456789ab");
    expect_label("/kubepods.slice/kubepods-pod" UID_ESCAPED ".slice", NULL, "pod 8d5cdf4e");
    expect_label("/kubepods.slice", NULL, "kubepods.slice");
}

TEST(parsing_returns_the_full_container_id_and_pod_uid)
{
    struct cgroup_container c;

    assert_true(
        cgroup_container("/kubepods.slice/kubepods-pod" UID_ESCAPED ".slice/crio-" ID ".scope/x", &c));
    assert_string_equal(c.kind, "cri-o");
    assert_string_equal(c.id, ID);
    assert_string_equal(c.pod, UID);
    assert_string_equal(c.below, "/x");
    assert_false(cgroup_container("/system.slice/ssh.service", &c));
}

TEST(the_innermost_container_gives_the_label)
{
    expect_label(
        "/docker/" ID "/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-pod" UID_ESCAPED
        ".slice/cri-containerd-ffff456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef.scope",
        NULL, "pod 8d5cdf4e/ffff456789ab");
}

TEST(units_inside_a_container_follow_the_container_label)
{
    expect_label("/docker/" ID "/system.slice/nginx.service", "web", "docker web/nginx.service");
    expect_label("/lxc.payload.db/init.scope", NULL, "lxc db/init.scope");
    expect_label("/lxc/db/worker", NULL, "lxc db/worker");
}

TEST(machines_are_labelled_by_kind_and_name)
{
    expect_label("/lxc.payload.db", NULL, "lxc db");
    expect_label("/lxc.monitor.db", NULL, "lxc monitor db");
    expect_label("/machine.slice/systemd-nspawn@build.service/payload", NULL, "nspawn build/payload");
    expect_label("/machine.slice/machine-qemu\\x2d1\\x2dvm.scope", NULL, "machine qemu-1-vm");
}

TEST(systemd_units_are_labelled_by_unit_name)
{
    expect_label("/system.slice/ssh.service", NULL, "ssh.service");
    expect_label("/system.slice/system-getty.slice/getty@tty1.service", NULL, "getty@tty1.service");
    expect_label("/system.slice/foo.service/worker", NULL, "foo.service/worker");
    expect_label("/system.slice", NULL, "system.slice");
    expect_label("/user.slice/user-1000.slice/session-3.scope", NULL, "session-3.scope");
    expect_label("/user.slice/user-1000.slice/user@1000.service", NULL, "user@1000.service");
    expect_label("/user.slice/user-1000.slice/user@1000.service/app.slice/app-fire\\x2dfox.scope", NULL,
                 "user@1000 app-fire-fox.scope");
}

TEST(unrecognized_paths_stay_unchanged)
{
    expect_label("/", NULL, "/");
    expect_label("", NULL, "");
    expect_label("/a/b", NULL, "/a/b");
    expect_label("/docker/0123", NULL, "/docker/0123");
    expect_label("/docker-" ID "0.scope", NULL, "docker-" ID "0.scope");
    expect_label("//", NULL, "//");
    expect_label("/.service", NULL, "/.service");
}

TEST(hostile_names_are_cleaned_and_truncated)
{
    char path[4000], text[40], exact[7];

    expect_label("/docker/" ID, "a\033[2Jb", "docker a?[2Jb");
    expect_label("/lxc.payload.a\nb", NULL, "lxc a?b");
    expect_label("/machine-a\\x0ab\\x.scope", NULL, "machine a\\x0ab\\x");
    memset(path, 'a', sizeof path);
    path[0] = '/';
    memcpy(path + sizeof path - 9, ".service", 9);
    assert_true(cgroup_label(path, path, text, sizeof text) < sizeof text);
    memset(path, '/', sizeof path - 1);
    assert_true(cgroup_label(path, path, text, sizeof text) < sizeof text);
    assert_int_equal(cgroup_label("/docker/" ID, "web", exact, sizeof exact), 6);
    assert_string_equal(exact, "docker");
}

TEST_MAIN(NULL, NULL)
