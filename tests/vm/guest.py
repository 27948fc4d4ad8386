# SPDX-License-Identifier: GPL-2.0-or-later
"""Emulated machines: a kernel, busybox, perf and flametop from Debian's packages, in an initramfs, under
qemu. Nothing is installed: packages are downloaded and unpacked in a separate folder (FLAMETOP_VM_CACHE),
which may be deleted. Without qemu or a network, tests skip and say so.
    with Guest("arm64", ["-icount", "shift=1"], files={"/bin/work": work}) as g:
        text = g.run("perf stat -e cycles /bin/work")"""
import atexit
import glob
import lzma
import os
import re
import shutil
import socket
import stat
import struct
import subprocess
import time

import machine as m
from ptyscreen import LIMIT, Screen, Skip

CACHE = os.environ.get("FLAMETOP_VM_CACHE", "/var/tmp/flametop-vm-%d" % os.getuid())
LIBRARIES = ["libncurses-dev", "libelf-dev", "libdw-dev", "libtraceevent-dev", "libinih-dev", "libiberty-dev",
             "libseccomp-dev", "libcap-ng-dev", "libzstd-dev", "zlib1g-dev", "liblzma-dev", "libbz2-dev"]
BOOT_LIMIT = 900  # seconds for each step of a guest: two busy cores emulate 64 slowly
BEGIN, END = "=== begin ===", "=== rc="

# qemu's program, the rest of its command line, the console's device, the second shell's device and qemu's
# option for it, the compiler, the libraries' folder
MACHINES = {
    "arm64": ("qemu-system-aarch64", ["-M", "virt,gic-version=3", "-cpu", "max,pauth=off"], "ttyAMA0",
              ("ttyS0", ["-device", "pci-serial,chardev=shell"]), "aarch64-linux-gnu-gcc",
              "aarch64-linux-gnu"),
    # For CPUs of other vendors the kernel does not accept this emulator's data about siblings.
    "amd64": ("qemu-system-x86_64", ["-M", "q35", "-cpu", "max,vendor=GenuineIntel"], "ttyS0",
              ("ttyS1", ["-serial", "chardev:shell"]), "gcc", "x86_64-linux-gnu"),
}

# The script itself is /command: the console is its terminal. Until a controller is delegated, the kernel has
# no perf events in cgroups either.
INIT = """#!/bin/busybox sh
/bin/busybox mkdir -p /proc /sys /dev /tmp /root /usr/bin /usr/sbin /sbin
/bin/busybox --install -s /bin
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs dev /dev 2>/dev/null
mount -t tracefs tracefs /sys/kernel/tracing
mount -t debugfs debugfs /sys/kernel/debug 2>/dev/null
mount -t cgroup2 cgroup2 /sys/fs/cgroup
echo +pids >/sys/fs/cgroup/cgroup.subtree_control
echo 0 >/proc/sys/kernel/kptr_restrict
echo -1 >/proc/sys/kernel/perf_event_paranoid
echo 1 >/proc/sys/kernel/printk
export HOME=/root TERM=xterm PATH=/bin:/usr/bin
stty -F /dev/CONSOLE -onlcr rows ROWS cols COLUMNS
setsid sh -c 'exec </dev/CONSOLE >/dev/CONSOLE 2>&1; echo "BEGIN"; sh /command; echo "ENDTEXT$? ==="'
poweroff -f
"""

# What a Seat runs: commands from the second serial line, and commands from the console with it as their
# terminal.
SEAT = """
setsid sh -c 'exec </dev/SHELL >/dev/SHELL 2>&1; stty -echo -onlcr
              while IFS= read -r line; do eval "$line"; done' &
until grep -q SHELL /proc/*/cmdline; do usleep 10000; done
n=0 rc=0
while stty sane -echo -onlcr rows ROWS cols COLUMNS
    printf '\\033[m\\033[H\\033[2J=== waits %d, %d ===' $n $rc
    IFS= read -r line; do
    eval "$line"
    rc=$? n=$((n + 1))
done
"""


def _quietly(argv, what, **more):
    done = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, errors="replace", **more)
    if done.returncode:
        raise Skip("%s: %s" % (what, done.stdout.strip().split("\n")[-1]))
    return done.stdout


def _unpacked(arch):
    """The folder with the unpacked packages of an architecture; downloaded at the first use."""
    root = os.path.join(CACHE, "root-" + arch)
    if os.path.exists(root + ".done"):
        return root
    for tool in ("apt-get", "dpkg-deb"):
        if not shutil.which(tool):
            raise Skip("%s is missing: guests are made from Debian's packages" % tool)
    apt = os.path.join(CACHE, "apt-" + arch)
    for folder in ("lists/partial", "archives/partial"):
        os.makedirs(os.path.join(apt, folder), exist_ok=True)
    open(os.path.join(apt, "status"), "w").close()
    settings = {"APT::Architecture": arch, "APT::Architectures::": arch, "Dir::State::lists": apt + "/lists",
                "Dir::State::status": apt + "/status", "Dir::Cache": apt,
                "Dir::Cache::archives": apt + "/archives", "Debug::NoLocking": "1",
                "Acquire::Languages": "none", "APT::Sandbox::User": "root"}
    command = ["nice", "apt-get", "-q",
               "-y"] + [word for item in settings.items() for word in ("-o", "%s=%s" % item)]
    _quietly([*command, "update"], "Debian's package lists cannot be had")
    _quietly([*command, "install", "--no-install-recommends", "--download-only", "linux-image-" + arch,
              "linux-perf", "busybox-static", *(LIBRARIES if arch != "amd64" else [])],
             "Debian's packages cannot be had")
    for package in sorted(glob.glob(apt + "/archives/*.deb")):
        # the cross compiler has its own C library
        if not re.match(r"(libc6|libc|linux-libc)-dev", os.path.basename(package)):
            _quietly(["nice", "dpkg-deb", "-x", package, root], "cannot unpack " + package)
    open(root + ".done", "w").close()
    return root


def _kernel(arch):
    """The kernel's file; amd64's is decompressed, so that the guest need not do it."""
    (packed,) = glob.glob(_unpacked(arch) + "/boot/vmlinuz-*")
    if arch != "amd64":
        return packed
    plain = os.path.join(CACHE, os.path.basename(packed).replace("vmlinuz", "vmlinux"))
    if not os.path.exists(plain):
        with open(packed, "rb") as f:
            image = f.read()
        with open(plain + ".tmp", "wb") as f:
            f.write(lzma.LZMADecompressor(lzma.FORMAT_XZ).decompress(image[image.index(b"\xfd7zXZ\0"):]))
        os.replace(plain + ".tmp", plain)
    return plain


def release(arch):
    """The kernel's release: "6.1.0-56-arm64"."""
    return os.path.basename(glob.glob(_unpacked(arch) + "/boot/vmlinuz-*")[0])[len("vmlinuz-"):]


def _needs(root, triplet, program):
    """Paths below root of a program's shared libraries, their own libraries, and the dynamic linker."""
    folders = [prefix + name for name in (triplet, "") for prefix in ("lib/", "usr/lib/")] + ["lib64"]
    found, todo = {}, [program]
    while todo:
        text = m.tool("readelf", "-W", "-d", "-l", os.path.join(root, todo.pop()))
        names = re.findall(r"\(NEEDED\).*\[(.*)\]",
                           text) + re.findall(r"interpreter: /(?:lib64|lib)/(.*)\]", text)
        for name in names:
            if name in found:
                continue
            at = [os.path.join(f, name) for f in folders if os.path.exists(os.path.join(root, f, name))]
            if at:
                found[name] = at[0]
                todo.append(at[0])
    return found


class Archive:
    """A cpio archive in the format that kernels unpack (newc)."""

    def __init__(self, path):
        self.file = open(path, "wb")
        self.number = 0
        self.folders = set()

    def _entry(self, name, mode, data=b""):
        self.number += 1
        fields = [self.number, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(name) + 1, 0]
        head = b"070701" + b"".join(b"%08x" % field for field in fields) + name.encode() + b"\0"
        self.file.write(head + bytes(-len(head) % 4) + data + bytes(-len(data) % 4))

    def folder(self, name):
        if name and name not in self.folders:
            self.folder(os.path.dirname(name))
            self.folders.add(name)
            self._entry(name, stat.S_IFDIR | 0o755)

    def add(self, name, data):
        name = name.lstrip("/")
        self.folder(os.path.dirname(name))
        self._entry(name, stat.S_IFREG | 0o755, data)

    def copy(self, name, source):
        with open(source, "rb") as f:
            self.add(name, f.read())

    def close(self):
        self._entry("TRAILER!!!", 0)
        self.file.write(bytes(-self.file.tell() % 512))
        self.file.close()


def _base(arch):
    """The files of all guests: busybox, and perf with its libraries."""
    path = os.path.join(CACHE, "base-%s.cpio" % arch)
    if os.path.exists(path):
        return path
    root = _unpacked(arch)
    archive = Archive(path + ".tmp")
    archive.copy("/bin/busybox", os.path.join(root, "bin/busybox"))
    perf = "usr/bin/perf"
    archive.copy("/usr/bin/perf", os.path.join(root, perf))
    for name, at in _needs(root, MACHINES[arch][5], perf).items():
        archive.copy("/lib64/" + name if name.startswith("ld-") and arch == "amd64" else "/lib/" + name,
                     os.path.join(root, at))
    archive.close()
    os.replace(path + ".tmp", path)
    return path


def _tool(name, package):
    m.need_tools(name, package=package)
    return name


def compile_for(arch, name, *flags):
    """Compiles tests/vm/NAME.c for a guest, without shared libraries."""
    compiler = _tool(MACHINES[arch][4], "gcc" if arch == "amd64" else "gcc-aarch64-linux-gnu")
    out = m.path("%s-%s" % (name, arch))
    m.tool(compiler, "-static", "-O0", "-g", "-fno-omit-frame-pointer", *flags, "-o", out,
           os.path.join(m.SOURCE, "tests", "vm", name + ".c"))
    return out


def instructions_plugin():
    """qemu's arguments to tell instructions_of() how many instructions each of the guest's CPUs has run."""
    out = m.path("instructions.so")
    m.tool(_tool("gcc", "gcc"), "-shared", "-fPIC", "-O2", "-o", out,
           os.path.join(m.SOURCE, "tests", "vm", "instructions.c"))
    return ["-plugin", "%s,into=%s" % (out, m.path("instructions"))]


def instructions_of(cpu):
    with open(m.path("instructions"), "rb") as f:
        f.seek(8 * cpu)
        return struct.unpack("=Q", f.read(8))[0]


def flametop_for(arch):
    """flametop as one file for a guest: from make static, or cross-compiled."""
    if arch == "amd64":
        path = os.environ.get("FLAMETOP_STATIC", "flametop-static")
        if not os.path.exists(path):
            raise Skip("%s is missing: run make static" % path)
        return path
    build = os.path.join(CACHE, "build-" + arch)
    if os.environ.get("FLAMETOP_STATIC_" + arch.upper()):
        return os.environ["FLAMETOP_STATIC_" + arch.upper()]
    triplet = MACHINES[arch][5]
    _tool(triplet + "-gcc", "gcc-aarch64-linux-gnu libc6-dev-arm64-cross")
    if not os.path.exists(os.path.join(m.SOURCE, "configure")):
        raise Skip("configure is missing: run autoreconf -fi")
    root = _unpacked(arch)
    libraries = "%s/usr/lib/%s" % (root, triplet)
    environment = dict(os.environ, PKG_CONFIG="pkg-config", PKG_CONFIG_LIBDIR=libraries + "/pkgconfig",
                       PKG_CONFIG_SYSROOT_DIR=root)
    for name in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL"):
        environment.pop(name, None)
    configure = [os.path.abspath(os.path.join(m.SOURCE, "configure")), "--quiet", "--host=" + triplet,
                 "CPPFLAGS=-idirafter %s/usr/include" % root, "LDFLAGS=-L" + libraries,
                 "--enable-static-program", "--without-cmocka"]
    stamp = os.path.join(build, "configured")
    if not os.path.exists(stamp) or open(stamp).read() != repr(configure):
        shutil.rmtree(build, ignore_errors=True)  # its makefiles refer to another source folder
        os.makedirs(build)
        m.tool(*configure, cwd=build, env=environment)
        with open(stamp, "w") as f:
            f.write(repr(configure))
    log = os.path.join(build, "make.log")
    with open(log, "w") as f:
        done = subprocess.run(["nice", "make", "-j2", "all-static-program"], cwd=build,
                              env=environment, stdout=f, stderr=f, stdin=subprocess.DEVNULL)
    assert done.returncode == 0, "flametop does not build for %s: see %s" % (arch, log)
    return os.path.join(build, "flametop")


class Guest:
    def __init__(self, arch, qemu=(), files=None, kernel="", memory="1G"):
        """files: {path in the guest: path here}; qemu: more arguments; kernel: more of its command line."""
        program, arguments, self.console, self.shell = MACHINES[arch][:4]
        _tool(program, "qemu-system-arm" if arch == "arm64" else "qemu-system-x86")
        self.files = dict(files or {})
        self.files["/bin/flametop"] = flametop_for(arch)
        self.base = _base(arch)
        line = "console=%s quiet panic=-1 oops=panic mitigations=off nokaslr %s" % (self.console, kernel)
        self.initramfs = m.path("initramfs-%s.cpio" % arch)
        self.argv = ["nice", "-n", "10", program, "-name", "guest,debug-threads=on", *arguments, *qemu,
                     "-m", memory, "-kernel", _kernel(arch), "-initrd",
                     self.initramfs, "-append", line, "-nodefaults", "-display", "none",
                     "-no-reboot", "-monitor", "none", "-chardev", "stdio,id=console,signal=off", "-serial",
                     "chardev:console"]

    def _prepare(self, script, size):
        init = INIT
        for word, value in (("CONSOLE", self.console), ("ROWS", size[1]), ("COLUMNS", size[0]),
                            ("BEGIN", BEGIN), ("ENDTEXT", END)):
            init = init.replace(word, str(value))
        overlay = self.initramfs + ".overlay"
        archive = Archive(overlay)
        for name, source in self.files.items():
            archive.copy(name, source)
        archive.add("/init", init.encode())
        archive.add("/command", script.encode())
        archive.close()
        with open(self.initramfs, "wb") as out:
            for part in (self.base, overlay):
                with open(part, "rb") as f:
                    shutil.copyfileobj(f, out)

    def run(self, script, check=True, timeout=BOOT_LIMIT):
        """Boots, runs a shell script, and returns its output; fails unless it exits with 0."""
        self._prepare(script, (120, 40))
        with open(m.path("console"), "wb") as log:
            process = m.adopt(subprocess.Popen(self.argv, stdin=subprocess.DEVNULL, stdout=log,
                                               stderr=subprocess.STDOUT, start_new_session=True))
            try:
                process.wait(timeout)
            except subprocess.TimeoutExpired:
                m.stop(process)
        with open(m.path("console"), errors="replace") as f:
            text = f.read().replace("\r", "")
        done = re.search(re.escape(BEGIN) + r"\n(.*?)" + re.escape(END) + r"(\d+) ===", text, re.S)
        assert done, "the guest did not come to its end: " + text[-3000:]
        assert not check or done.group(2) == "0", \
            "the script ended with %s: %s" % (done.group(2), done.group(1)[-3000:])
        return done.group(1)

    def screen(self, script, size=(120, 40)):
        """Boots, and returns the screen of a shell script."""
        self._prepare(script, size)
        return Screen(self.argv[1:], size=size, program=self.argv[0], limit=BOOT_LIMIT)

    def seat(self, size=(120, 40)):
        """Boots, and returns a Seat."""
        return Seat(self, size)


class Seat:
    """A running guest: a screen, which is its console, and a second shell for commands meanwhile."""

    def __init__(self, guest, size):
        at = m.path("shell")
        if os.path.exists(at):
            os.unlink(at)  # left by an earlier guest
        device, arguments = guest.shell
        script = SEAT.replace("SHELL", device).replace("ROWS", str(size[1])).replace("COLUMNS", str(size[0]))
        guest._prepare(script, size)
        self.screen = Screen([*guest.argv[1:], "-chardev", "socket,id=shell,server=on,wait=off,path=" + at,
                              *arguments],
                             size=size, program=guest.argv[0], limit=BOOT_LIMIT)
        atexit.register(self.screen.close)
        self.screen.until(lambda: os.path.exists(at), "qemu did not start", LIMIT)
        self.line = socket.socket(socket.AF_UNIX)
        self.line.connect(at)
        self.number = 0
        self.screen.wait(r"=== waits 0, 0 ===")

    def answers(self):
        """Whether the guest still runs commands, within two minutes."""
        try:
            self.run("true", limit=120)
            return True
        except AssertionError:
            return False

    def run(self, command, check=True, limit=BOOT_LIMIT):
        """Runs a shell command next to the screen; returns its output."""
        self.number += 1
        said, end = b"", re.compile(rb"<<%d\n(.*)>>%d (\d+)\n" % (self.number, self.number), re.S)
        self.line.sendall(b"echo '<<'%d; { %s; } 2>&1; echo '>>'%d $?\n" %
                          (self.number, command.encode(), self.number))
        end_at = time.monotonic() + limit
        while not end.search(said):
            assert time.monotonic() < end_at, \
                "the guest's shell does not answer: %s: %r" % (command, said[-2000:])
            self.screen.pump(0.01)
            self.line.settimeout(0.05)
            try:
                said += self.line.recv(65536)
            except socket.timeout:
                pass
        text, status = end.search(said).groups()
        text = text.decode(errors="replace")
        assert not check or status == b"0", "%s ended with %s: %s" % (command, status.decode(), text)
        return text

    def start(self, command):
        """Starts a command on the screen; one that still has the screen is killed."""
        found = self.screen.find(r"=== waits (\d+), \d+ ===")
        if not found:
            self.run("killall -9 flametop", check=False)
            found = self.screen.wait(r"=== waits (\d+), \d+ ===")
        self.waits = int(found.group(1)) + 1
        self.screen.send(command + "\n")
        self.screen.wait_not(r"=== waits")
        return self.screen

    def ended(self):
        """Waits until the command has ended; returns its exit status."""
        return int(self.screen.wait(r"=== waits %d, (\d+) ===" % self.waits).group(1))
