# SPDX-License-Identifier: GPL-2.0-or-later
"""A file system in user space that has one file under every name, and hangs on request. Root mounts it with
access for all users, because root cannot enter those of other users."""
import ctypes
import os
import signal
import struct

from ptyscreen import Skip

LOOKUP, FORGET, GETATTR, OPEN, READ, STATFS = 1, 2, 3, 14, 15, 17
RELEASE, FLUSH, INIT, INTERRUPT, BATCH_FORGET = 18, 25, 26, 36, 42
LIBC = ctypes.CDLL(None, use_errno=True)


class HungFileSystem:
    def __init__(self, folder, program):
        self.folder = folder
        with open(program, "rb") as f:
            self.bytes = f.read()

    def __enter__(self):
        os.mkdir(self.folder, 0o755)
        try:
            fd = os.open("/dev/fuse", os.O_RDWR)
        except OSError as e:
            raise Skip("no file systems in user space: %s" % e)
        options = "fd=%d,rootmode=40000,user_id=0,group_id=0,allow_other,default_permissions" % fd
        if LIBC.mount(b"hung", self.folder.encode(), b"fuse", 2 | 4, options.encode()):
            raise Skip("cannot mount a file system in user space: %s" % os.strerror(ctypes.get_errno()))
        self.hang_read, self.hang_write = os.pipe()
        self.server = os.fork()
        if not self.server:
            try:
                self.serve(fd)
            finally:
                os._exit(0)
        os.close(fd)
        return self

    def __exit__(self, *_):
        os.kill(self.server, signal.SIGKILL)
        os.waitpid(self.server, 0)
        LIBC.umount2(self.folder.encode(), 2)
        os.rmdir(self.folder)

    def file(self, name):
        return os.path.join(self.folder, name)

    def hang(self):
        """From now on, opening a file waits forever; content that was already read stays."""
        os.write(self.hang_write, b"x")

    def attributes(self, node):
        size, mode = (0, 0o40755) if node == 1 else (len(self.bytes), 0o100755)
        return struct.pack("=QQQQQQIIIIIIIIII", node, size, (size + 511) // 512, 0, 0, 0, 0, 0, 0, mode, 1, 0,
                           0, 0, 4096, 0)

    def serve(self, fd):
        os.set_blocking(self.hang_read, False)
        hung, nodes = False, {}
        while True:
            request = os.read(fd, 1 << 20)
            _, code, unique, node = struct.unpack_from("=IIQQ", request)
            body = request[40:]
            if not hung:
                try:
                    hung = bool(os.read(self.hang_read, 1))
                except BlockingIOError:
                    pass
            answer, error = b"", 0
            if code in (FORGET, BATCH_FORGET, INTERRUPT):
                continue
            if code == OPEN and hung:
                continue
            if code == INIT:
                answer = struct.pack("=IIIIHHIIHHIII20x", 7, 31, 1 << 16, 0, 8, 8, 1 << 16, 1, 0, 0, 0, 0, 0)
            elif code == LOOKUP:
                name = body.split(b"\0")[0]
                number = nodes.setdefault(name, 2 + len(nodes))
                answer = struct.pack("=QQQQII", number, 1, 3600, 3600, 0, 0) + self.attributes(number)
            elif code == GETATTR:
                answer = struct.pack("=QII", 3600, 0, 0) + self.attributes(node)
            elif code == OPEN:
                answer = struct.pack("=QII", 1, 2, 0)  # kept in the cache
            elif code == READ:
                _, offset, size = struct.unpack_from("=QQI", body)
                answer = self.bytes[offset:offset + size]
            elif code == STATFS:
                answer = struct.pack("=QQQQQIIII", 0, 0, 0, 0, 0, 4096, 255, 4096, 0) + bytes(24)
            elif code not in (FLUSH, RELEASE):
                error = -38
            try:
                os.write(fd, struct.pack("=IiQ", 16 + len(answer), error, unique) + answer)
            except OSError:
                pass
