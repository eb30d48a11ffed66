"""Hits of Railhead beside nginx, Varnish and Traffic Server before the same store, by turns.

Hits over HTTP are asked for by wrk, on kept connections. A signed request is signed once for a turn and sent again and again: the
gateway verifies each. One-sided rows are of a client of ours (benchmarks/src/main/java): tokens, which must be signed anew each
time, and the native channel, with one thread's plain copy as their bound. Installs nothing: benchmarks/peers/install does that
on Debian, and a peer that is missing is left out. Charts are drawn where Python has matplotlib.
"""

import argparse
import contextlib
import dataclasses
import getpass
import http.client
import json
import subprocess
import sys
from pathlib import Path

import bed
import identity
import loads
import machine
import rack
from bed import BUCKET, HOME, KEYS, say
from figures import Row, Turn, doubts, number, ratio, size, size_text, table

STRONG_BUCKET = "bench-strong"
TEMPLATES = HOME / "benchmarks/peers"
PUBLIC = {"x-amz-acl": "public-read"}
MOST_SIZE = 1 << 30
LEAST_COPIED = 64 << 10
MOST_STORE_SHARE = 0.05
# Below it a p99 is one request's.
FEW = 100
WARM_CONNECTIONS = 16
TRAFFIC_SERVER_FOLDERS = "data", "include", "lib", "plugins", "state", "run", "log", "cachedir", "cache"


@dataclasses.dataclass(frozen=True)
class System:
    """A measured system, how it is asked, and what its figures mean."""

    name: str
    label: str
    way: str
    freshness: str
    authorization: str
    # Of another HTTP cache: how it is called, and asked for its version.
    program: str = ""
    version_option: str = "-V"

    @property
    def is_railhead(self):
        return self.name.startswith("railhead")

    @property
    def is_one_sided(self):
        return self.way in ("TOKEN", "NATIVE", "COPY")

    @property
    def bucket(self):
        return STRONG_BUCKET if self.freshness == "strong" else BUCKET


SYSTEMS = {system.name: system for system in (
    System("railhead-signed", "Railhead, signed", "SIGNED", "immutable", "each verified; yes remembered"),
    System("railhead-session", "Railhead, signed by a session", "SESSION", "immutable", "each verified; yes remembered"),
    System("railhead-unsigned", "Railhead, unsigned", "UNSIGNED", "immutable", "anonymous; yes remembered"),
    System("railhead-strong", "Railhead, signed, strong", "SIGNED", "strong", "each verified; store asked"),
    System("railhead-token", "Railhead, token over loopback", "TOKEN", "immutable", "each verified; yes remembered"),
    System("railhead-native", "Railhead, native channel over loopback", "NATIVE", "immutable", "session proved; yes remembered"),
    System("copy", "one thread that only copies", "COPY", "none", "none"),
    System("nginx", "nginx, sendfile", "UNSIGNED", "2 h", "none", "nginx", "-v"),
    System("nginx-copy", "nginx, sendfile off", "UNSIGNED", "2 h", "none", "nginx", "-v"),
    System("varnish", "Varnish, malloc", "UNSIGNED", "2 h", "none", "varnishd"),
    System("trafficserver", "Traffic Server, RAM cache", "UNSIGNED", "2 h", "none", "traffic_server"),
)}


def arguments(options):
    parser = argparse.ArgumentParser("benchmarks/run peers", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    bed.common_options(parser, "peers")
    parser.add_argument("--sizes", default="4KiB,64KiB,1MiB,16MiB,64MiB", help="of the objects (%(default)s)")
    parser.add_argument("--connections", default="1,16,64", help="how many at a time (%(default)s)")
    parser.add_argument("--seconds", type=bed.positive, default=1, help="measured of each turn (%(default)s)")
    parser.add_argument("--only", default="", help=f"of {', '.join(SYSTEMS)} (all)")
    asked = parser.parse_args(options)
    try:
        asked.sizes = [size(text) for text in asked.sizes.split(",")]
        asked.connections = [bed.positive(text) for text in asked.connections.split(",")]
    except ValueError as problem:
        parser.error(f"--sizes, --connections: {problem}")
    if any(count < 8 or count > MOST_SIZE or count % 8 for count in asked.sizes):
        parser.error("--sizes: each a multiple of 8 bytes up to 1GiB")
    asked.only = asked.only.split(",") if asked.only else list(SYSTEMS)
    for name in asked.only:
        if name not in SYSTEMS:
            parser.error(f"--only: {name} is none of {', '.join(SYSTEMS)}")
    if not any(is_measured(SYSTEMS[name], count) for name in asked.only for count in asked.sizes):
        parser.error("none of these is measured at any of these sizes")
    return asked


def is_measured(system, count):
    """A copy of a few KiB takes less time than noting it."""
    return system.way != "COPY" or count >= LEAST_COPIED


class Peers:
    """The servers, each filled with every object, and turns of them."""

    def __init__(self, processes, cores, systems, asked):
        self._processes, self._cores, self._systems, self._asked = processes, cores, systems, asked
        self._store = bed.start_store(processes, 2 * sum(asked.sizes)).removeprefix("http://")
        self._issuer, self._session = identity.Issuer(processes.folder), None
        self._content = {count: bed.content(processes.folder, count) for count in asked.sizes}
        self._publish()
        self._hosts, self._head_bytes, self._roots = {}, {}, {}
        for system in systems:
            self._start(system)
        for system in systems:
            if system.way != "COPY":
                for count in asked.sizes:
                    self._fill(system, count)
                cores.hold_on_server(self._pids(system))
        self._one_sided = loads.OneSided(cores, processes.folder)

    def _publish(self):
        """Anybody may read the buckets, since the other caches cannot sign."""
        client = bed.signer(self._store)
        for bucket in BUCKET, STRONG_BUCKET:
            bed.require(client, 200, "PUT", f"/{bucket}")
            bed.require(client, 200, "PUT", f"/{bucket}", query="acl=", headers=PUBLIC)
            for count, file in self._content.items():
                bed.require(client, 200, "PUT", f"/{bucket}/{count}", file.read_bytes(), headers=PUBLIC)

    def _start(self, system):
        if system.program:
            self._hosts[system.name] = self._start_peer(system)
            process = self._processes[system.name]
        elif system.is_railhead:
            host = next((self._hosts[name] for name in self._hosts if SYSTEMS[name].is_railhead), None)
            self._hosts[system.name] = host or bed.start_gateway(
                self._processes, self._cores, "gateway", self._gateway(),
                (self._asked.out / "gateway.jfr").absolute() if self._asked.jfr else None,
                [self._issuer.role(KEYS)])
            process = self._processes["gateway"]
        else:
            return
        self._roots[system.name] = process.pid

    def _pids(self, system):
        """Of a server's processes; none of a plain copy."""
        root = self._roots.get(system.name)
        return machine.tree(root) if root else []

    def _gateway(self):
        # Both buckets, in whole pages, twice: nothing that is measured is ever evicted.
        return {
            "gateway": {"web_identity": self._issuer.web_identity()},
            "cache": {"memory": f"{256 + 4 * sum(self._asked.sizes) // bed.MIB}MiB"},
            "backends": {"store": {"endpoints": [f"http://{self._store}"]}},
            "rules": [{"bucket": STRONG_BUCKET, "freshness": "strong"},
                      {"bucket": BUCKET, "freshness": "immutable", "authorization": {"remember": "1h"}}],
            "rdma": {"loopback": {"enabled": True, "socket": str(self._processes.folder / "loopback.sock")},
                     "channel": {"max_requests": 1024}},
        }

    def _start_peer(self, system):
        """Starts another cache by its configuration in benchmarks/peers, and waits for an object of the store."""
        program, _ = machine.version(system.program, system.version_option)
        folder, port = self._processes.folder / system.name, rack.free_port()
        for name in TRAFFIC_SERVER_FOLDERS if system.program == "traffic_server" else ("conf",):
            (folder / name).mkdir(parents=True, exist_ok=True)
        (folder / "conf").mkdir(exist_ok=True)
        values = {"FOLDER": folder, "PORT": port, "STORE": self._store.rsplit(":", 1)[1], "WORKERS": self._cores.servers,
                  "SENDFILE": "off" if system.name == "nginx-copy" else "on",
                  "USER": "user root;" if getpass.getuser() == "root" else ""}
        source = TEMPLATES / {"nginx": "nginx.conf", "varnishd": "varnish.vcl", "traffic_server": "trafficserver"}[system.program]
        for template in source.iterdir() if source.is_dir() else [source]:
            text = template.read_text()
            for name, value in values.items():
                text = text.replace(f"@{name}@", str(value))
            (folder / "conf" / template.name).write_text(text)
        conf = folder / "conf" / source.name
        command = {
            "nginx": ["-c", conf, "-e", folder / "error.log"],
            # As the user who starts it, without a management port; one pool of threads for each core.
            "varnishd": ["-F", "-j", "none", "-T", "none", "-f", conf, "-a", f"{rack.LOOPBACK}:{port}", "-s", "malloc,1g",
                         "-n", folder / "work", "-p", f"thread_pools={self._cores.servers}"],
            "traffic_server": [f"--run-root={folder / 'conf/runroot.yaml'}"],
        }[system.program]
        process = self._processes.start(system.name, self._cores.on_server([program, *command]))
        host = f"{rack.LOOPBACK}:{port}"
        self._processes.await_answer(process, f"http://{host}/{BUCKET}/{self._asked.sizes[0]}", lambda status: status == 200)
        return host

    def _headers(self, system, count):
        if system.way == "UNSIGNED":
            return {}
        host, keys = self._hosts[system.name], KEYS
        if system.way == "SESSION":
            self._session = keys = self._session or self._issuer.session(host)
        return bed.signer(host, keys).signed("GET", f"/{system.bucket}/{count}")

    def _fill(self, system, count):
        """Asks twice, and compares every byte: what is measured is the right object, and held."""
        expected = self._content[count].read_bytes()
        for _ in range(2):
            connection = http.client.HTTPConnection(self._hosts[system.name], timeout=60)
            connection.request("GET", f"/{system.bucket}/{count}", headers=self._headers(system, count))
            answer = connection.getresponse()
            if answer.status != 200 or answer.read() != expected:
                raise rack.CannotStart(f"{system.label} does not serve {count} bytes: {answer.status}")
            lines = [f"HTTP/1.1 {answer.status} {answer.reason}", *(f"{name}: {value}" for name, value in answer.getheaders())]
            self._head_bytes[system.name, count] = sum(len(line) + 2 for line in lines) + 2
            connection.close()

    def turn(self, system, count, connections, seconds):
        def meter():
            return machine.Meter(server=self._pids(system), store=[self._processes["store"].pid])
        if system.is_one_sided:
            return self._one_sided.measure(
                meter, way=system.way, host=self._hosts.get(system.name, ""), bucket=BUCKET, key=str(count), bytes=count,
                connections=connections, lead_seconds=seconds / 4, seconds=seconds, content=self._content[count],
                access_key=KEYS[0], secret_key=KEYS[1], pieces=1, upload="")
        return loads.wrk(self._cores, f"http://{self._hosts[system.name]}/{system.bucket}/{count}", self._headers(system, count),
                         self._head_bytes[system.name, count], connections, seconds, meter)

    def close(self):
        self._one_sided.close()


def measure(peers, systems, asked, notes):
    """Rows in the order of sizes, connections, systems. A system that fails is left out of a cell, and named."""
    cells = [(count, connections) for count in asked.sizes for connections in asked.connections]
    present = {count: [system for system in systems if is_measured(system, count)] for count in asked.sizes}
    for count in asked.sizes:
        for system in present[count]:
            say(f"warming up: {size_text(count)}, {system.label}")
            # A system that fails here fails in its turns, too, where that is noted.
            with contextlib.suppress(loads.Failed):
                bed.warm_up(lambda at=count, of=system: peers.turn(of, at, min(WARM_CONNECTIONS, max(asked.connections)), max(1, asked.warm)),
                            asked.warm, system.is_railhead)
    rows = []
    for count, connections in cells:
        turns, failed = {system.name: [] for system in present[count]}, set()
        for round_ in range(asked.rounds):
            say(f"{size_text(count)}, {connections} connections, round {round_ + 1} of {asked.rounds}")
            # Another one begins each round, so that none always follows the same.
            first = round_ % len(present[count])
            for system in present[count][first:] + present[count][:first]:
                try:
                    turns[system.name].append(peers.turn(system, count, connections, asked.seconds))
                except loads.Failed as problem:
                    if system.name not in failed:
                        notes.append(f"FAILED, and left out: {system.label} at {size_text(count)}, {connections} connections: {problem}")
                        say(notes[-1])
                    failed.add(system.name)
        rows += [Row(system.name, system.label, count, connections, turns[system.name]) for system in present[count]
                 if system.name not in failed]
    return rows


def asks_store(row):
    """Hits leave the store alone, unless the rule is to ask it."""
    return SYSTEMS[row.system].freshness != "strong" and row.spread(lambda turn: turn.store_cpu).median > MOST_STORE_SHARE * row.spread(
        lambda turn: turn.server_cpu).median


def beside(rows):
    """Ours of the best of the others in the same cell, and what goes one-sided of a plain copy."""
    of_best, of_copy = [], []
    for row in rows:
        if not SYSTEMS[row.system].is_railhead:
            continue
        cell = [other for other in rows if (other.bytes, other.connections) == (row.bytes, row.connections)]
        others = [other for other in cell if SYSTEMS[other.system].program]
        where = size_text(row.bytes), row.connections, row.label
        if others:
            widest = max(others, key=lambda other: other.gigabits().median)
            leanest = min(others, key=lambda other: other.per_gib("server", "client").median)
            of_best.append([*where, ratio(row, widest, Turn.gigabits), widest.label,
                            ratio(row, leanest, lambda turn: turn.per_gib("server", "client")), leanest.label])
        of_copy += [[*where, ratio(row, other, Turn.gigabits)] for other in cell
                    if other.system == "copy" and SYSTEMS[row.system].is_one_sided]
    return of_best, of_copy


def line(row):
    system, p99 = SYSTEMS[row.system], row.spread(lambda turn: turn.p99_us).median
    few = " (few)" if min(turn.requests for turn in row.turns) < FEW else ""
    return [size_text(row.bytes), row.connections, row.label, system.freshness, system.authorization,
            f"{row.gigabits()}{' ~' if row.is_noisy() else ''}",
            # By bytes, so that what has not ended counts, too.
            number(row.spread(lambda turn: turn.bytes / row.bytes / turn.seconds).median),
            number(row.spread(lambda turn: turn.p50_us).median), number(p99) + few,
            *(number(row.per_gib(*kinds).median) for kinds in (["server"], ["client"], ["store"], ["server", "client"]))]


def markdown(where, asked, software, notes, rows):
    of_best, of_copy = beside(rows)
    text = [f"{where} {asked.rounds} rounds of {asked.seconds} s.\n", *(f"- {name}: {version}" for name, version in software.items()), "",
            *(f"- **{note}**" for note in notes)]
    if of_best:
        text += ["\nOurs beside the best of the others at the same size and connections: medians of the rounds' own ratios, least to most "
                 "in brackets. Throughput: more is better. CPU is server and client together: less is better.",
                 table(["size", "connections", "ours", "throughput", "of", "CPU s/GiB", "of"], of_best)]
    if of_copy:
        text += ["One-sided rows beside one thread that only copies the same bytes, on the client's core; medians of the rounds' own "
                 "ratios of throughput.", table(["size", "connections", "ours", "throughput"], of_copy)]
    text += ["Medians of the rounds; least to most in brackets. CPU is user and system time of all the processes, by the kernel's account, "
             "for each GiB of bodies. Over the native channel *connections* are requests under way on one session.",
             table(["size", "connections", "system", "freshness", "authorization", "Gb/s", "requests/s", "p50 µs", "p99 µs",
                    "server s/GiB", "client s/GiB", "store s/GiB", "server + client s/GiB"], map(line, rows))]
    return "\n".join(text)


def main(options):
    asked = arguments(options)
    loads.require_programs()
    rack.build()
    cores = machine.Cores(asked.pin)
    where = machine.describe(bed.command(), cores)
    software, notes, systems = {"Railhead": "this build"}, [], []
    if loads.wrk_program():
        software["wrk"], is_patched = loads.wrk_version()
        notes += [] if is_patched else ["wrk without benchmarks/peers/wrk.patch is the limit from 64 KiB on"]
    for system in map(SYSTEMS.get, asked.only):
        version = machine.version(system.program, system.version_option) if system.program else ("", "")
        if not system.is_one_sided and not loads.wrk_program():
            notes.append(f"LEFT OUT: {system.label}, since wrk is not installed (benchmarks/peers/install)")
        elif version is None:
            notes.append(f"LEFT OUT: {system.label} is not installed (benchmarks/peers/install)")
        else:
            systems.append(system)
            software |= {system.program: version[1]} if system.program else {}
    if not systems:
        raise rack.CannotStart("nothing is left to measure")
    asked.out.mkdir(parents=True, exist_ok=True)
    with rack.ended_by_signals(), bed.temporary_folder() as folder, rack.Processes(folder) as processes:
        say(f"starting the store, {len(systems)} systems and the client")
        peers = Peers(processes, cores, systems, asked)
        rows = measure(peers, systems, asked, notes)
        peers.close()
    notes += doubts(rows, asked.rounds, cores.is_pinned)
    notes += [f"{row.label} asked the store at {size_text(row.bytes)}, {row.connections} connections: not all were hits"
              for row in rows if asks_store(row)]
    record = {"where": where, "rounds": asked.rounds, "seconds": asked.seconds, "software": software, "notes": notes,
              "rows": [{**dataclasses.asdict(row), "freshness": SYSTEMS[row.system].freshness,
                        "authorization": SYSTEMS[row.system].authorization, "is_one_sided": SYSTEMS[row.system].is_one_sided} for row in rows]}
    bed.write_report(asked.out, "peers", markdown(where, asked, software, notes, rows), record)
    drawn = subprocess.run([sys.executable, HOME / "benchmarks/peers/chart", asked.out / "peers.json"], check=False)
    if drawn.returncode not in (0, 69):
        raise rack.CannotStart("the charts were not drawn")
