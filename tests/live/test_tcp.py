#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""TCP sessions (--latency tcp, tcp-connect, tcp-failed), compared with what a load measures itself, and with
perf's record of the same tracepoint."""
import collections
import json
import os
import re
import signal
import subprocess
import sys

import machine as m
from ptyscreen import PROGRAM, Skip, run, shared

SESSIONS = 100
REFUSED = 10
RARE = 3
NEAR = 10**6  # ns by which durations may differ
EVENT = "sock:inet_sock_set_state"
RETRANSMIT = "tcp:tcp_retransmit_skb"
ERROR = "sock:inet_sk_error_report"
ROWS = "tcp", "tcp-connect", "tcp-failed"

# The server closes each connection after a time of its own, the client then at once. Prints the processes and
# ports, and of each connection the client's port, the times before and after its connect() and close(), and
# how long the server had the connection: packets may wait for a CPU, and the socket of the side that closes
# first may end before the other one closes.
LOAD = """
import os, socket, sys, time
family, bound, host, sessions, refused = int(sys.argv[1]), *sys.argv[2:4], int(sys.argv[4]), int(sys.argv[5])
listener = socket.socket(family)
listener.bind((bound, 0))
listener.listen(sessions)
port = listener.getsockname()[1]
now = time.monotonic_ns
read_end, write_end = os.pipe()
server = os.fork()
if not server:
    for i in range(sessions):
        accepted = listener.accept()[0]
        begun = now()
        time.sleep(0.002 + 0.001 * (i % 20))
        os.write(write_end, b"%20d" % (now() - begun))
        accepted.close()
    os._exit(0)
listener.close()
closed = socket.socket(family)
closed.bind((bound, 0))
print(os.getpid(), server, port, closed.getsockname()[1])
for i in range(sessions):
    client = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    times = [now()]
    client.connect((host, port))
    times.append(now())
    assert not client.recv(1)
    own = client.getsockname()[1]
    times.append(now())
    client.close()
    print(own, *times, now(), int(os.read(read_end, 20)))
for i in range(refused):
    client = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    assert client.connect_ex((host, closed.getsockname()[1]))
    client.close()
os.waitpid(server, 0)
"""

Told = collections.namedtuple("Told", "client server port closed times")
Operation = collections.namedtuple("Operation", "row name pid ns")


def load(family, bound, host, sessions=SESSIONS, refused=REFUSED):
    """the command"""
    return sys.executable, m.write("load.py", LOAD), str(family), bound, host, str(sessions), str(refused)


def told_by(output):
    first, *lines = output.strip().split("\n")
    times = [list(map(int, line.split())) for line in lines]
    return Told(*map(int, first.split()), {port: tuple(more) for port, *more in times})


def in_background(*args):
    """flametop, once it has opened its events"""
    process = m.start(PROGRAM, *args)
    m.until(lambda: m.is_sampling(process.pid), "no events")
    return process


def ended(process):
    process.send_signal(signal.SIGINT)
    process.wait()


def talking(name, text):
    """a program of Python that tells and is told"""
    return m.adopt(subprocess.Popen((sys.executable, m.write(name, text)), stdin=subprocess.PIPE,
                                    stdout=subprocess.PIPE, text=True))


def tell(program):
    program.stdin.write("\n")
    program.stdin.flush()


def recorded_by_perf(file, *command):
    """the output of the command, whose events perf records"""
    events = [word for event in (EVENT, RETRANSMIT, ERROR) for word in ("-e", event)]
    done = m.ran("perf", *m.RECORD, "-a", *events, "-o", file, "--", *command)
    assert not done.returncode, done.stderr
    return done.stdout


def operations_in(file):
    """the operations in the order of their ends"""
    rows = ",".join("latency:" + row for row in ROWS)
    text = m.export(file, "script", "-e", rows, "--fields", "pid,period,sym,ip")
    line = r"^ *(-?\d+) +(\d+)\s+[0-9a-f]+ \[(tcp[\w-]*): ([^\n\]]*(?:\][^\n\]]*)*)\]"
    found = re.findall(line, text, re.M)
    return [Operation(row, name, int(pid), int(ns)) for pid, ns, row, name in found]


def without_retransmits(name):
    """A packet that waits for a CPU may be sent again."""
    return re.sub(r", \d+ retransmits?$", "", name)


def durations_by_perf(file):
    """{(row, port of the socket, port of its peer): ns}; a client has a port once it is connected"""
    script = m.perf("script", "-i", file, "--ns", "-F", "tid,time,event,trace")[0]
    line = (r"^ *(\d+) +(\d+)\.(\d{9}): +%s: .* sport=(\d+) dport=(\d+) .* oldstate=(\w+) newstate=(\w+)$"
            % EVENT)
    opened, connects, found = {}, None, {}
    for _, s, ns, local, peer, old, new in re.findall(line, script, re.M):
        now, ports = int(s) * 10**9 + int(ns), (int(local), int(peer))
        if new == "TCP_SYN_SENT":
            connects = now
        elif old == "TCP_SYN_SENT":
            found["tcp-failed" if new == "TCP_CLOSE" else "tcp-connect", *ports] = now - connects
            opened[ports] = connects
        elif new == "TCP_SYN_RECV":
            opened[ports] = now
        elif new == "TCP_CLOSE" and ports in opened:
            found["tcp", *ports] = now - opened[ports]
    assert found, script[:400]
    return found


def compare(operations, wanted, what):
    """the durations of each, in the order of their ends"""
    assert len(operations) == len(wanted), (what, len(operations), len(wanted))
    for found, ns in zip(operations, wanted):
        assert abs(found.ns - ns) <= NEAR, (what, found, ns)


def compare_with_load(clients, servers, connects, perfs, told):
    """Names have no ports of clients. perf has the ports, in the order of the ends. The last packet of a
    session may come after close(), of few by the time of a retransmission."""
    late = 0
    for found, row, side in (clients, "tcp", 0), (servers, "tcp", 1), (connects, "tcp-connect", 0):
        ports = [key[1 + side] for key in perfs if key[0] == row and key[2 - side] == told.port]
        for operation, port in zip(found, ports):
            before, connected, closing, after, had = told.times[port]
            least, most = (had if side else closing - connected, after - before)
            if row == "tcp-connect":
                least, most = 0, connected - before
            assert least <= operation.ns, (operation, told.times[port])
            late += operation.ns > most + NEAR
    assert late <= RARE, late


def check(family, bound, host, client_name, server_name):
    """Names have %d for the port."""
    file = m.path("tcp.data")
    rows = ",".join("latency:" + row for row in ROWS)
    flametop = in_background("-e", rows, "--call-graph", "fp", "-o", file)
    m.need_perf()
    command = load(family, bound, host)
    recorded = m.path("perf.data")
    told, perfs = told_by(recorded_by_perf(recorded, *command)), durations_by_perf(recorded)
    ended(flametop)
    assert len(told.times) == SESSIONS
    every = operations_in(file)
    every = [o._replace(name=without_retransmits(o.name)) for o in every]
    ours = [o for o in every if re.search(r":(%d|%d)\b" % (told.port, told.closed), o.name)]
    of = lambda row, name, pid: [o for o in ours if o.row == row and o.name == name and o.pid == pid]
    clients = of("tcp", client_name % told.port, told.client)
    servers = of("tcp", server_name % told.port, told.server)
    connects = of("tcp-connect", client_name % told.port, told.client)
    failed = of("tcp-failed", client_name % told.closed + ", refused", told.client)
    counts = collections.Counter(o[:3] for o in ours)
    assert len(clients) == len(connects) == SESSIONS and len(failed) == REFUSED, (counts, told[:4])
    # a last state is in no record if its packet interrupts a thread whose events the kernel hides
    assert SESSIONS - RARE <= len(servers) <= SESSIONS, (counts, told[:4])
    assert len(ours) == len(clients + servers + connects + failed), (counts, told[:4])  # nothing else
    by_perf = lambda row, local, peer: [
        ns for key, ns in perfs.items()
        if key[0] == row and (key[1] == local or not local) and (key[2] == peer or not peer)]
    compare(clients, by_perf("tcp", 0, told.port), "clients of perf")
    compare(servers, by_perf("tcp", told.port, 0), "servers of perf")
    compare(connects, by_perf("tcp-connect", 0, told.port), "connects of perf")
    compare(failed, by_perf("tcp-failed", 0, told.closed), "refusals of perf")
    compare_with_load(clients, servers, connects, perfs, told)
    of_perf = [o for o in operations_in(recorded) if re.search(r":(%d|%d)\b" % told[2:4], o.name)]
    ports, durations = {told.port, told.closed}, sorted(o.ns for o in of_perf)
    assert durations == sorted(ns for key, ns in perfs.items() if ports & set(key[1:])), "perf's own file"
    assert [o.name for o in of_perf if o.row == "tcp-failed"] == [o.name for o in failed], of_perf
    check_text(file, {client_name % told.port: SESSIONS, server_name % told.port: len(servers)})
    return file


def check_text(file, counts):
    shown = m.flametop("-i", file, "--latency", "tcp")[1]
    for name, count in counts.items():
        line = r"^ +(\d+) .*  %s(?:, \d+ retransmits?)?$" % re.escape(name)
        assert sum(map(int, re.findall(line, shown, re.M))) == count, (count, shown)


@m.seen_everywhere()
def ipv4():
    """100 connections are 100 sessions of each side, by process, address and port; 10 are refused"""
    m.need_tracepoints("latencies")
    file = check(2, "127.0.0.1", "127.0.0.1", "127.0.0.1 to 127.0.0.1:%d", "127.0.0.1:%d from 127.0.0.1")
    stacks = m.stacks_of(m.export(file, "folded"))
    for name, call in ("to", "connect"), ("from", "close"):  # who connects, and who closes what was accepted
        found = [frames for frames, _ in stacks if re.match(r"\[tcp: \S+ %s " % name, frames[-1])]
        assert found and all(any(re.search("sys_%s$" % call, f) for f in frames) for frames in found), found


@m.seen_everywhere()
def ipv6():
    """the same with IPv6"""
    m.need_tracepoints("latencies")
    if not os.path.exists("/proc/net/if_inet6"):
        raise Skip("no IPv6")
    check(10, "::1", "::1", "::1 to [::1]:%d", "[::1]:%d from ::1")


@m.seen_everywhere()
def ipv4_of_ipv6_sockets():
    """a socket of IPv6 that accepts IPv4"""
    m.need_tracepoints("latencies")
    if not os.path.exists("/proc/net/if_inet6"):
        raise Skip("no IPv6")
    check(10, "::", "127.0.0.1", "127.0.0.1 to 127.0.0.1:%d", "127.0.0.1:%d from 127.0.0.1")


# A listener whose queue is full drops what asks for a connection, so that it is sent again. One connection
# times out, then one is given up, and one is accepted at last. Prints the retransmits of the last two, from
# their sockets, with their ports.
FULL = """
import os, select, socket, struct, time
listener = socket.create_server(("127.0.0.1", 0), backlog=0)
address = listener.getsockname()
first = socket.create_connection(address)
def begun():
    client = socket.socket()
    client.setblocking(False)
    client.connect_ex(address)
    return client
def retransmits(client):  # tcpi_total_retrans
    return struct.unpack_from("I", client.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 128), 100)[0]
late, vain, timed = begun(), begun(), socket.socket()
timed.setsockopt(socket.IPPROTO_TCP, socket.TCP_SYNCNT, 1)
timed.bind(("127.0.0.1", 0))
assert timed.connect_ex(address) == 110
print(os.getpid(), address[1], timed.getsockname()[1])
print(vain.getsockname()[1], retransmits(vain))
vain.close()
accepted = listener.accept()[0]
select.select([], [late], [])
assert not late.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
other = listener.accept()[0]
print(late.getsockname()[1], retransmits(late))
for s in late, other, first, accepted:
    s.close()
"""


def retransmits_by_perf(file):
    """{port of the socket: count}"""
    script = m.perf("script", "-i", file, "-F", "event,trace")[0]
    return collections.Counter(map(int, re.findall(r"^ *%s: .* sport=(\d+) " % RETRANSMIT, script, re.M)))


def full_queue():
    """connections that wait for a full queue, time out or are given up: with as many retransmits as perf and
    the sockets count, and of the process that connected"""
    file, recorded = m.path("full.data"), m.path("full_perf.data")
    told = slow_connections()[0]
    pid, port, timed, vain, vain_count, late, late_count = told
    counts = retransmits_by_perf(recorded)
    assert counts[vain] == vain_count and counts[late] == late_count > 0 and counts[timed] > 0, (counts, told)
    name = "127.0.0.1 to 127.0.0.1:%d" % port
    after = lambda n: ", %d retransmit%s" % (n, "s" if n > 1 else "")
    wanted = [("tcp", name), ("tcp", name + after(late_count)),
              ("tcp-connect", name), ("tcp-connect", name + after(late_count)),
              ("tcp-failed", name + ", given up" + after(vain_count)),
              ("tcp-failed", name + ", timed out" + after(counts[timed]))]
    for where in file, recorded:
        found = sorted(o for o in operations_in(where) if o.name.startswith(name))
        assert [o[:2] for o in found] == wanted and {o.pid for o in found} == {pid}, (where, found, wanted)


# A network with a bridge in between, whose slow queue drops most of a burst. Nothing answers at 198.51.100.9.
# Arguments: python, the server's program, the client's.
SLOW = """
unshare --net sleep 100 &
other=$!
trap 'kill $other' EXIT
until [ "$(readlink /proc/$other/ns/net)" != "$(readlink /proc/self/ns/net)" ]; do sleep 0.01; done
in_other() { nsenter --target $other --net "$@"; }
ip link set lo up && ip link add here type veth peer name there && ip link set there netns $other &&
ip addr add 198.51.100.1/24 dev here && ip link set here gso_max_segs 1 up &&
in_other sh -c "ip link add near type veth peer name far && ip link add between type bridge forward_delay 0 &&
    ip link set there master between up && ip link set near master between up && ip link set between up &&
    ip addr add 198.51.100.3/24 dev far && ip link set far up &&
    echo 1 >/proc/sys/net/ipv4/conf/all/arp_ignore &&
    tc qdisc add dev near root tbf rate 8mbit burst 3000 limit 6000" || exit 77
[ "$1" ] || exit 0
in_other "$1" -c "$2" &
"$1" -c "$3"
"""
RECEIVES = """
import socket
accepted = socket.create_server(("198.51.100.3", 99)).accept()[0]
while accepted.recv(65536):
    pass
"""
SENDS = """
import socket, struct, time
silent = socket.socket()
assert silent.connect_ex(("198.51.100.9", 99)) == 113
client = socket.create_connection(("198.51.100.3", 99))
client.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"reno")  # it fills the queue
client.sendall(b"x" * 300000)
client.shutdown(socket.SHUT_WR)
assert not client.recv(1)
print(struct.unpack_from("I", client.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 128), 100)[0])
"""


def of_full_queue():
    """What FULL tells, recorded in full.data and by perf."""
    flametop = in_background("-e", ",".join("latency:" + row for row in ROWS), "-o", m.path("full.data"))
    told = recorded_by_perf(m.path("full_perf.data"), sys.executable, "-c", FULL)
    ended(flametop)
    return list(map(int, told.split()))


def of_slow_link():
    """The retransmits that SENDS tells, recorded in slow.json; or why there are none."""
    script = "unshare", "--net", "sh", "-c", SLOW, "-"
    try:
        m.need_tools("unshare", "nsenter", "ip", "tc")
    except Skip as why:
        return why
    if m.ran(*script).returncode:
        return Skip("this kernel lacks bridges, pairs of links (veth), or slow queues (tbf)")
    return int(m.flametop("--latency", ",".join(ROWS), "-o", m.path("slow.json"), "--", *script,
                          sys.executable, RECEIVES, SENDS)[1])


@shared
@m.seen_everywhere()
def slow_connections():
    """Both at the same time: they wait for timeouts of the kernel, in networks of their own."""
    m.need_tracepoints("latencies")
    m.need_perf()
    return m.at_once(lambda work: work(), of_full_queue, of_slow_link)


def slow_link():
    """data that is lost: as many retransmits as the socket counts; and a host that does not answer"""
    count = slow_connections()[1]
    if isinstance(count, Skip):
        raise count
    with open(m.path("slow.json")) as f:
        found = {(r["row"], r["name"]): r["count"] for r in json.load(f)["latency"]}
    assert count > 10, found  # or this tests nothing
    name = "198.51.100.1 to 198.51.100.3:99"
    assert found.get(("tcp", "%s, %d retransmits" % (name, count))) == 1, (count, found)
    assert found.get(("tcp-connect", name)) == 1, (count, found)
    failed = [name for row, name in found if row == "tcp-failed"]
    assert len(failed) == 1, found
    wanted = r"198\.51\.100\.1 to 198\.51\.100\.9:99, host unreachable(, \d+ retransmits?)?"
    assert re.fullmatch(wanted, failed[0]), failed


# Connections as fast as possible; a reset leaves no socket in TIME_WAIT.
FAST = """
import os, socket, struct, sys
listener = socket.create_server(("127.0.0.1", 0), backlog=100)
n, server = int(sys.argv[1]), os.fork()
if not server:
    for i in range(n):
        accepted = listener.accept()[0]
        accepted.recv(1)
        accepted.close()
    os._exit(0)
print(listener.getsockname()[1])
for i in range(n):
    client = socket.create_connection(listener.getsockname())
    client.sendall(b"x")
    client.recv(1)
    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    client.close()
os.waitpid(server, 0)
"""


def budget():
    """beyond the budget one session in N is sampled, by its socket: counts are estimated well"""
    m.need_tracepoints("latencies")
    n, period = 20000, 128  # each session stands for less: N is at most 64
    for _ in range(5):  # records may be lost if other programs keep flametop from running
        options = "--latency", ",".join(ROWS), "--budget", "0.2", "-o", m.path("fast.json")
        _, text, _ = m.flametop(*options, "--", sys.executable, "-c", FAST, str(n))
        with open(m.path("fast.json")) as f:
            report = json.load(f)
        if not report["lost"]:
            break
    port = int(text)
    found = {(r["row"], r["name"]): r for r in report["latency"]}
    off = 5 * (n * period) ** 0.5 + period
    client, server = "127.0.0.1 to 127.0.0.1:%d" % port, "127.0.0.1:%d from 127.0.0.1" % port
    for key in ("tcp", client), ("tcp", server), ("tcp-connect", client):
        row = found[key]
        assert row["sampled"] < n / 4, row  # or this tests nothing
        assert abs(row["count"] - n) <= off + report["lost"] / 2, (row, report["lost"])


def measured(*args):
    """{row: {name: count}} and the losses of a run with its own load"""
    told = told_by(m.flametop("--latency", ",".join(ROWS), "-o", m.path("tcp.json"), *args)[1])
    with open(m.path("tcp.json")) as f:
        report = json.load(f)
    counts = collections.defaultdict(collections.Counter)
    for r in report["latency"]:
        counts[r["row"]][without_retransmits(r["name"])] += r["count"]
    return told, counts, {r["row"]: r for r in report["latency_rows"]}


@m.seen_everywhere()
def of_a_command():
    """a command has the sessions of both sides, as both are its processes"""
    m.need_tracepoints("latencies")
    told, counts, lost = measured("--", *load(2, "127.0.0.1", "127.0.0.1", 20, 3))
    client, server = "127.0.0.1 to 127.0.0.1:%d", "127.0.0.1:%d from 127.0.0.1"
    assert counts == {"tcp": {client % told.port: 20, server % told.port: 20},
                      "tcp-connect": {client % told.port: 20},
                      "tcp-failed": {client % told.closed + ", refused": 3}}, counts
    for r in lost.values():
        assert not any(r[what] for what in ("open", "unbegun", "replaced", "lost", "refused")), lost


# The server has two connections before flametop starts, of which it resets one, and later one that stays.
STAYS = """
import os, socket, struct, sys
listener = socket.create_server(("127.0.0.1", 0))
here, there = os.pipe(), os.pipe()
client = os.fork()
if not client:
    sockets = [socket.create_connection(listener.getsockname()) for i in range(2)]
    os.write(there[1], b"2")
    os.read(here[0], 1)
    sockets.append(socket.create_connection(listener.getsockname()))
    os.write(there[1], b"3")
    os.read(here[0], 1)
    os._exit(0)
accepted = [listener.accept()[0] for i in range(2)]
os.read(there[0], 1)
print(os.getpid(), client, flush=True)
sys.stdin.readline()
accepted[0].setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
accepted[0].close()
os.write(here[1], b"3")
os.read(there[0], 1)
accepted.append(listener.accept()[0])
print("open", flush=True)
sys.stdin.readline()
os.write(here[1], b"x")
os.waitpid(client, 0)
"""


@m.seen_everywhere()
def open_sessions():
    """sessions that were open before are ends without a begin, others that do not end are still open; of
    another scope they are not"""
    m.need_tracepoints("latencies")
    program = talking("stays.py", STAYS)
    server, client = map(int, program.stdout.readline().split())
    everything = in_background("--latency", "tcp", "-o", m.path("all.json"))
    clients = in_background("--latency", "tcp", "-p", str(client), "-o", m.path("clients.json"))
    tell(program)
    assert program.stdout.readline() == "open\n"
    ended(everything)
    ended(clients)
    tell(program)
    assert not program.wait()
    reports = []
    for name in "all.json", "clients.json":
        with open(m.path(name)) as f:
            reports.append(json.load(f))
    rows = [next(r for r in report["latency_rows"] if r["row"] == "tcp") for report in reports]
    assert rows[0]["open"] >= 2 and rows[0]["unbegun"] >= 2, rows  # both sides; others may be open, too
    assert rows[1]["open"] == 1 and rows[1]["unbegun"] == 0, (rows, server, client)
    assert not reports[1]["latency"], reports[1]["latency"]


ECHO = """
import socket
listener = socket.create_server(("127.0.0.1", 0))
print(listener.getsockname()[1], flush=True)
for i in range(20):
    accepted = listener.accept()[0]
    accepted.recv(1)
    accepted.close()
"""
VISITS = """
import socket, sys
for i in range(20):
    client = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
    client.sendall(b"x")
    assert not client.recv(1)
    client.close()
"""


@m.seen_everywhere()
def one_side():
    """a scope of the server only: its sessions, although other threads receive the packets that open them"""
    m.need_tracepoints("latencies")
    program = talking("echo.py", ECHO)
    port = int(program.stdout.readline())
    server = in_background("--latency", "tcp", "-p", str(program.pid), "-o", m.path("server.json"))
    m.tool(sys.executable, "-c", VISITS, str(port))
    ended(server)
    with open(m.path("server.json")) as f:
        report = json.load(f)
    assert not program.wait()
    counts = {r["name"]: r["count"] for r in report["latency"]}
    assert counts == {"127.0.0.1:%d from 127.0.0.1" % port: 20}, counts
    assert {p["pid"] for p in report["pids"]} == {program.pid}, report["pids"]


def rows_of_users():
    """a row of the user may have conditions; wrong ones are told with their line"""
    m.need_tracepoints("latencies")
    config = m.path("config")
    os.makedirs(config + "/flametop", exist_ok=True)
    line = "syns %s[newstate=TCP_SYN_SENT] %s[oldstate=2;newstate!=7] skaddr address(daddr) - begin -\n"
    m.write("config/flametop/latency", line % (EVENT, EVENT))
    env = {"XDG_CONFIG_HOME": config}
    m.flametop("--latency", "syns", "-o", m.path("mine.json"), "--",
               *load(2, "127.0.0.1", "127.0.0.1", 7, 2), env=env)
    with open(m.path("mine.json")) as f:
        rows = json.load(f)["latency"]
    assert [(r["row"], r["name"], r["count"]) for r in rows] == [("syns", "127.0.0.1", 7)], rows
    cases = {"[newstate=TCP_SYN": "latency:1: \"%s[newstate=TCP_SYN\" has conditions without a ]" % EVENT,
             "[newstate]": "latency:1: \"[newstate]\" is no condition",
             "[state=2]": "latency:1: latency row 'syns': %s has no field 'state'; its fields are" % EVENT,
             "[newstate=SYN]": "'SYN' is no value of newstate in %s; its values are numbers and" % EVENT}
    for conditions, words in cases.items():
        m.write("config/flametop/latency", "syns %s%s %s skaddr - - begin -\n" % (EVENT, conditions, EVENT))
        code, _, said = m.flametop("--latency", "syns", "--duration", "1", check=False, env=env)
        assert code and words in said, (conditions, said)


run(ipv4, ipv6, ipv4_of_ipv6_sockets, full_queue, slow_link, of_a_command, budget, one_side, open_sessions,
    rows_of_users)
