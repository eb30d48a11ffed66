"""Cold reads, writes, readers of one cold object and starts: Railhead beside its own store, by turns.

Both are reached by one link of a fixed rate and latency; --rate 0 leaves it out. HTTP is curl's, for Railhead and for the store; what
is written by tokens is written by a client of ours (benchmarks/src/main/java). The link is ours, too: toxiproxy limits each connection by
itself and takes twice the processor time (benchmarks/README.md), and not every kernel has netem.
"""

import argparse
import dataclasses
import hashlib
import re
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

import bed
import loads
import machine
import rack
from bed import BUCKET, KEYS, MIB, say
from figures import Row, Spread, Turn, doubts, number, ratio, size, size_text, table

WRITTEN = "written"
DIRECT, SIGNED, TOKEN, DISK = "direct", "railhead-signed", "railhead-token", "railhead-disk"
LABELS = {DIRECT: "the store itself", SIGNED: "Railhead, signed", TOKEN: "Railhead, token over loopback",
          DISK: "Railhead, signed, held on disk"}
MODES = {DIRECT: ["none", "the store's"]} | dict.fromkeys((SIGNED, TOKEN, DISK), ["immutable", "each verified; yes remembered"])
# Parts of an upload, and of the large object those that small cases take.
SHARE = 16
MOST_LATE, MOST_START_SECONDS, MOST_CPU, MOST_ASKED, LEAST_OF_RATE = 1.3, 3, 0.5, 1.005, 0.85
# Of the object, the memory of the gateway with a disk; passes until the disk holds the rest.
MEMORY_SHARE, MOST_PASSES = 5, 12
TICK_SECONDS = 0.01


@dataclasses.dataclass(frozen=True)
class Case:
    """One kind of request."""

    label: str
    # Throughput of Railhead's, of the store's own; 0 where that is not the point.
    goal: float = 0
    # Of the object, in sixteenths of --bytes.
    sixteenths: int = SHARE
    connections: int = 1
    # Bytes of one request; 0 for one request of all.
    piece: int = 0
    systems: tuple = (DIRECT, SIGNED)

    @property
    def writes(self):
        return TOKEN in self.systems


CASES = {
    "cold-get": Case("cold, one GET", 0.95),
    "cold-ranges": Case("cold, 8 ranges at a time", 0.95, connections=8, piece=8 * MIB),
    "sequential-256k": Case("cold, 256 KiB after 256 KiB", 2, 2, piece=MIB // 4),
    "sequential-1m": Case("cold, 1 MiB after 1 MiB", 2, 2, piece=MIB),
    "put-small": Case("PUT, a sixteenth", 0.95, 1, systems=(DIRECT, SIGNED, TOKEN)),
    "put": Case("PUT", 0.95, systems=(DIRECT, SIGNED, TOKEN)),
    "parts": Case("UploadPart, 4 at a time", 0.95, connections=4, systems=(DIRECT, SIGNED, TOKEN)),
    "disk-get": Case("held on disk, one GET", 3, systems=(SIGNED, DISK)),
    "disk-ranges": Case("held on disk, 8 ranges at a time", 3, connections=8, piece=8 * MIB, systems=(SIGNED, DISK)),
    "readers": Case("all readers of one cold object at a time", sixteenths=1, systems=(SIGNED,)),
    "start": Case("from exec to the first answer", systems=()),
}


@dataclasses.dataclass
class Goal:
    """A figure and what it should be."""

    what: str
    measured: Spread
    limit: float
    more_is_better: bool = True

    def line(self):
        met = self.measured.median >= self.limit if self.more_is_better else self.measured.median <= self.limit
        return [self.what, self.measured, f"{'≥' if self.more_is_better else '≤'} {number(self.limit)}", "met" if met else "missed"]


def arguments(options):
    parser = argparse.ArgumentParser("benchmarks/run misses", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    bed.common_options(parser, "misses")
    parser.add_argument("--only", default="", help=f"of {', '.join(CASES)} (all)")
    parser.add_argument("--bytes", default="1GiB", help="of the large object; the others are parts of it (%(default)s)")
    parser.add_argument("--rate", type=float, default=2, help="Gb/s that the link lets pass each way; 0 for no link (%(default)s)")
    parser.add_argument("--latency", type=float, default=5, help="milliseconds before each answer of the store (%(default)s)")
    parser.add_argument("--readers", type=bed.positive, default=200, help="of one cold object at a time, at most 300 (%(default)s)")
    parser.add_argument("--disk", type=Path, default=Path("/var/tmp"), help="folder for the disk tier's file, read past the page cache (%(default)s)")
    parser.add_argument("--caches", default="64MiB,8GiB", help="whose start is measured (%(default)s)")
    asked = parser.parse_args(options)
    try:
        asked.bytes, asked.caches = size(asked.bytes), [size(text) for text in asked.caches.split(",")]
    except ValueError as problem:
        parser.error(str(problem))
    if not 0 < asked.bytes <= 1 << 30 or asked.bytes % MIB:
        parser.error("--bytes: a multiple of 1MiB up to 1GiB")
    if asked.rate < 0 or asked.latency < 0 or asked.readers > 300:
        parser.error("--rate and --latency: not below 0; --readers: at most 300")
    asked.only = asked.only.split(",") if asked.only else list(CASES)
    for name in asked.only:
        if name not in CASES:
            parser.error(f"--only: {name} is none of {', '.join(CASES)}")
    if not asked.rate:
        # What comes from the store is counted by the link.
        asked.only = [name for name in asked.only if DISK not in CASES[name].systems]
    return asked


class Link:
    """The throttling proxy, a process of its own."""

    def __init__(self, folder, store, rate, latency):
        command = loads.java("io.railhead.benchmarks.misses.LinkProcess", "-Xmx128m")
        guard = ["setpriv", "--pdeathsig", "TERM"] if shutil.which("setpriv") else []
        with open(folder / "link.log", "ab") as log:
            self._process = subprocess.Popen(
                [*guard, *map(str, command), store.rsplit(":", 1)[1], str(round(rate * 1e9)), str(latency)],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True, start_new_session=True)
        self.host, self.pid = f"{rack.LOOPBACK}:{int(self._process.stdout.readline())}", self._process.pid

    def bytes_from_store(self):
        """Heads included, since its start."""
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        return int(self._process.stdout.readline().split()[1])

    def close(self):
        self._process.stdin.close()
        self._process.wait()


class Site:
    """A store behind a link, and a gateway that reaches it by the same link as whoever asks it directly."""

    def __init__(self, processes, cores, asked):
        self._processes, self._cores, self._asked = processes, cores, asked
        cases = [CASES[name] for name in asked.only]
        stored = {self.bytes_of(case) for case in cases if not case.writes}
        # What is read, and twice what is written: the old is garbage for a while.
        self._store = bed.start_store(processes, sum(stored) + 2 * asked.bytes).removeprefix("http://")
        client = bed.signer(self._store)
        bed.require(client, 200, "PUT", f"/{BUCKET}")
        for count in stored:
            bed.require(client, 200, "PUT", f"/{BUCKET}/{count}", bed.content(processes.folder, count).read_bytes())
        self.link = Link(processes.folder, self._store, asked.rate, asked.latency) if asked.rate else None
        self._admin = f"{rack.LOOPBACK}:{rack.free_port()}"
        self._gateway = bed.start_gateway(
            processes, cores, "gateway", self._config("gateway", self._admin, 256 * MIB + 3 * asked.bytes),
            (asked.out / "gateway.jfr").absolute() if asked.jfr else None)
        self._hosts = {DISK: self._start_over_disk()} if any(DISK in case.systems for case in cases) else {}
        self._curl, self._one_sided = loads.Curl(cores, processes.folder), loads.OneSided(cores, processes.folder)

    def _start_over_disk(self):
        """A gateway whose memory has room for a fifth of what is read."""
        memory = max(64 * MIB, self._asked.bytes // MEMORY_SHARE)
        config = self._config("disk", f"{rack.LOOPBACK}:{rack.free_port()}", memory)
        # Written as often as it takes: the budget is no part of this.
        self._disk = tempfile.TemporaryDirectory(prefix="railhead-disk-", dir=self._asked.disk)
        config["cache"]["disk"] = {"paths": [f"{self._disk.name}/disk"], "size": f"{self._asked.bytes * 3 // 2 // MIB + 192}MiB",
                                   "writes_per_day": 0}
        return bed.start_gateway(self._processes, self._cores, "disk", config, None)

    def fill_disk(self, case):
        """Reads all until the store is asked for next to nothing; returns the part that a pass still asks it for."""
        part = 1
        for _ in range(MOST_PASSES):
            before = self.link.bytes_from_store()
            self._measure(DISK, case, "")
            part = (self.link.bytes_from_store() - before) / self.bytes_of(case)
            if part < 0.01:
                break
            time.sleep(1)
        return part

    def bytes_of(self, case):
        return self._asked.bytes * case.sixteenths // SHARE

    def _config(self, name, admin, cache):
        return {
            "cache": {"memory": f"{cache // MIB}MiB"},
            "backends": {"store": {"endpoints": [f"http://{self.link.host if self.link else self._store}"]}},
            "rules": [{"bucket": BUCKET, "freshness": "immutable", "authorization": {"remember": "1h"}}],
            "rdma": {"loopback": {"enabled": True, "socket": str(self._processes.folder / f"{name}.sock")}, "fence_timeout": "5m"},
            "admin": {"listen": admin},
        }

    def turn(self, system, case):
        if case is not CASES["parts"]:
            self.forget()
            return self._measure(system, case, "")
        upload = self._begin_upload()
        turn = self._measure(system, case, upload)
        bed.require(bed.signer(self._store), 204, "DELETE", f"/{BUCKET}/{WRITTEN}", query=f"uploadId={upload}")
        return turn

    def again(self, system, case):
        """The same, of what is held now."""
        return self._measure(system, case, "")

    def _measure(self, system, case, upload):
        def meter():
            server = self._processes["disk" if system == DISK else "gateway"]
            return machine.Meter(server=machine.tree(server.pid) if system != DIRECT else [],
                                 store=[self._processes["store"].pid], link=[self.link.pid] if self.link else [])
        count, connections = self.bytes_of(case), self.connections(case)
        content, pieces = bed.content(self._processes.folder, count), SHARE if upload else 1
        if system == TOKEN:
            return self._one_sided.measure(
                meter, way="WRITE", host=self._gateway, bucket=BUCKET, key=WRITTEN, bytes=count, connections=connections, lead_seconds=0,
                seconds=0, content=content, access_key=KEYS[0], secret_key=KEYS[1], pieces=pieces, upload=upload)
        host = self._hosts.get(system, self._gateway) if system != DIRECT else self.link.host if self.link else self._store
        transfers = self._writes(host, count, upload) if case.writes else self._reads(host, case, count)
        return self._curl.measure(transfers, connections, meter)

    def connections(self, case):
        return self._asked.readers if case is CASES["readers"] else case.connections

    def _reads(self, host, case, count):
        path = f"/{BUCKET}/{count}"
        request, each = (f"http://{host}{path}", bed.signer(host).signed("GET", path)), min(case.piece, count)
        if case is CASES["readers"]:
            return [(*request, count, {})] * self._asked.readers
        if not each:
            return [(*request, count, {})]
        # The range is not signed, so one signature serves all.
        return [(*request, min(each, count - at), {"range": f"{at}-{min(at + each, count) - 1}"}) for at in range(0, count, each)]

    def _writes(self, host, count, upload):
        path, signer = f"/{BUCKET}/{WRITTEN}", bed.signer(host)
        if not upload:
            return [(f"http://{host}{path}", signer.signed("PUT", path), count, {"upload-file": bed.content(self._processes.folder, count)})]
        each = count // SHARE
        file = bed.content(self._processes.folder, each)
        queries = [f"partNumber={part}&uploadId={upload}" for part in range(1, SHARE + 1)]
        return [(f"http://{host}{path}?{query}", signer.signed("PUT", path, query), each, {"upload-file": file}) for query in queries]

    def forget(self):
        """Nothing is held afterwards."""
        body = f'{{"bucket": "{BUCKET}", "prefix": ""}}'.encode()
        bed.require(bed.signer(self._admin), 200, "POST", "/.railhead/admin/evict", body, headers={
            "content-type": "application/json", "x-amz-content-sha256": hashlib.sha256(body).hexdigest()})

    def _begin_upload(self):
        answer = bed.require(bed.signer(self._store), 200, "POST", f"/{BUCKET}/{WRITTEN}", query="uploads=")
        return re.search(rb"<UploadId>([^<]+)</UploadId>", answer)[1].decode()

    def etag(self):
        """The store's word for the bytes that were written last."""
        client = bed.signer(self._store)
        bed.require(client, 200, "HEAD", f"/{BUCKET}/{WRITTEN}")
        return client.headers["ETag"]

    def require_right(self, case):
        """Throws unless the gateway gives the object's own bytes."""
        count = self.bytes_of(case)
        if bed.require(bed.signer(self._gateway), 200, "GET", f"/{BUCKET}/{count}") != bed.content(
                self._processes.folder, count).read_bytes():
            raise loads.Failed("the gateway's bytes are not the store's")

    def start_seconds(self, cache):
        """From exec to an answer for an object, of a JVM as the gateway's own; it has all cores: nothing else runs."""
        with open(f"/proc/{self._processes['gateway'].pid}/cmdline", encoding="utf-8") as file:
            command = [word for word in file.read().split("\0")[:-1] if "FlightRecording" not in word]
        path = f"/{BUCKET}/{self.bytes_of(CASES['start'])}"
        began = time.monotonic()
        process, host, _ = bed.exec_gateway(self._processes, command[:command.index("serve")], "started",
                                            self._config("started", f"{rack.LOOPBACK}:{rack.free_port()}", cache))
        try:
            while not self._answers(host, path):
                if process.poll() is not None or time.monotonic() - began > 60:
                    raise loads.Failed(f"it did not start: {rack.tail(process.log)}")
                time.sleep(0.005)
            return time.monotonic() - began
        finally:
            self._processes.stop(process)

    @staticmethod
    def _answers(host, path):
        try:
            return bed.signer(host).request("HEAD", path)[0] == 200
        except OSError:
            return False

    def close(self):
        self._one_sided.close()
        if self._hosts:
            self._processes.stop(self._processes["disk"])
            self._disk.cleanup()
        if self.link:
            self.link.close()


class Bench:
    """Rounds in which each system has its turn, case by case."""

    def __init__(self, site, asked):
        self._site, self._asked = site, asked
        # Each row with its case and its words.
        self.rows, self.goals, self.notes = [], [], []

    def run(self):
        for name in self._asked.only:
            case = CASES[name]
            try:
                if name == "start":
                    self._starts(case)
                elif name == "readers":
                    self._readers(case)
                elif DISK in case.systems:
                    self._held_on_disk(case)
                else:
                    self._beside(case)
            except loads.Failed as problem:
                self.notes.append(f"FAILED, and left out: {case.label}: {problem}")
                say(self.notes[-1])

    def _row(self, case, system, turns, label=""):
        row = Row(system, label or LABELS[system], self._site.bytes_of(case), self._site.connections(case), turns)
        self.rows.append((case, row))
        return row

    def _beside(self, case):
        for system in case.systems:
            say(f"{case.label}, warming up: {LABELS[system]}")
            bed.warm_up(lambda of=system: self._site.turn(of, case), self._asked.warm, system != DIRECT)
        turns, written = {system: [] for system in case.systems}, set()
        for round_ in range(self._asked.rounds):
            # Another one begins each round.
            first = round_ % len(case.systems)
            for system in case.systems[first:] + case.systems[:first]:
                say(f"{case.label}, round {round_ + 1} of {self._asked.rounds}: {LABELS[system]}")
                turns[system].append(self._site.turn(system, case))
                if case.writes and case is not CASES["parts"]:
                    written.add(self._site.etag())
        if len(written) > 1:
            raise loads.Failed(f"not all wrote the same bytes: {written}")
        if not case.writes:
            self._site.require_right(case)
        self._compare(case, {system: self._row(case, system, of) for system, of in turns.items()})

    def _compare(self, case, rows):
        direct, http, token = (rows.get(system) for system in (DIRECT, SIGNED, TOKEN))
        self.goals.append(Goal(f"{case.label}: throughput, of the store's own", ratio(http, direct, Turn.gigabits), case.goal))
        if token:
            # The kernel counts in ticks: none of them is no proof of none.
            cpu = ratio(token, http, lambda turn: max(TICK_SECONDS, turn.client_cpu))
            self.goals += [Goal(f"{case.label} by token: throughput, of the store's own", ratio(token, direct, Turn.gigabits), case.goal),
                           Goal(f"{case.label} by token: client's CPU, of HTTP's", cpu, MOST_CPU, False)]
        reached = direct.gigabits().median
        if case.goal < 1 and self._site.link and reached < LEAST_OF_RATE * self._asked.rate:
            self.notes.append(f"{case.label}: the store itself reached {number(reached)} Gb/s, so not the link but the machine was the limit")

    def _held_on_disk(self, case):
        say(f"{case.label}: filling the disk")
        part = self._site.fill_disk(case)
        if part >= 0.01:
            self.notes.append(f"{case.label}: after {MOST_PASSES} passes still {number(part)} of the bytes came from the store")
        bed.warm_up(lambda: self._site.turn(SIGNED, case), self._asked.warm, True)
        turns, asked = {SIGNED: [], DISK: []}, []
        for round_ in range(self._asked.rounds):
            for system in (SIGNED, DISK) if round_ % 2 else (DISK, SIGNED):
                say(f"{case.label}, round {round_ + 1} of {self._asked.rounds}: {LABELS[system]}")
                if system == SIGNED:
                    turns[system].append(self._site.turn(system, case))
                else:
                    before = self._site.link.bytes_from_store()
                    turns[system].append(self._site.again(system, case))
                    asked.append((self._site.link.bytes_from_store() - before) / self._site.bytes_of(case))
        cold = self._row(case, SIGNED, turns[SIGNED], f"{LABELS[SIGNED]}, cold")
        held = self._row(case, DISK, turns[DISK])
        self.goals += [Goal(f"{case.label}: throughput, of cold", ratio(held, cold, Turn.gigabits), case.goal),
                       Goal(f"{case.label}: gateway's CPU, of cold", ratio(held, cold, lambda turn: max(TICK_SECONDS, turn.server_cpu)),
                            MOST_CPU, False)]
        if max(asked) >= 0.01:
            self.notes.append(f"{case.label}: of the bytes, the store gave {Spread.of(asked)}")

    def _readers(self, case):
        say(f"{case.label}, warming up")
        bed.warm_up(lambda: self._site.turn(SIGNED, case), self._asked.warm, True)
        cold, held, asked = [], [], []
        for round_ in range(self._asked.rounds):
            say(f"{case.label}, round {round_ + 1} of {self._asked.rounds}: cold, then held")
            before = self._site.link.bytes_from_store() if self._site.link else 0
            cold.append(self._site.turn(SIGNED, case))
            if self._site.link:
                asked.append((self._site.link.bytes_from_store() - before) / self._site.bytes_of(case))
            held.append(self._site.again(SIGNED, case))
        self._site.require_right(case)
        first = self._row(case, SIGNED, cold, f"{LABELS[SIGNED]}, cold")
        second = self._row(case, SIGNED, held, f"{LABELS[SIGNED]}, held")
        if asked:
            self.goals.append(Goal(f"{self._asked.readers} readers: bytes from the store, heads included, of the object's",
                                   Spread.of(asked), MOST_ASKED, False))
        self.goals.append(Goal(f"{self._asked.readers} readers: the last one's time, of the same with the object held",
                               ratio(first, second, lambda turn: turn.seconds), MOST_LATE, False))

    def _starts(self, case):
        seconds = {cache: [] for cache in self._asked.caches}
        for round_ in range(self._asked.rounds):
            for cache, of in seconds.items():
                say(f"{case.label}, round {round_ + 1} of {self._asked.rounds}: a cache of {size_text(cache)}")
                of.append(self._site.start_seconds(cache))
        self.goals += [Goal(f"seconds from exec to the first answer, cache of {size_text(cache)}", Spread.of(of), MOST_START_SECONDS, False)
                       for cache, of in seconds.items()]


def line(case, row):
    return [case.label, size_text(row.bytes), row.connections, row.label, *MODES[row.system],
            f"{row.gigabits()}{' ~' if row.is_noisy() else ''}", number(row.spread(lambda turn: turn.seconds).median),
            "–" if row.system == DIRECT else number(row.per_gib("server").median),
            *(number(row.per_gib(kind).median) for kind in ("client", "store", "link"))]


def markdown(where, asked, bench):
    link = (f"The link to the store lets {number(asked.rate)} Gb/s pass each way, and each answer comes {number(asked.latency)} ms later."
            if asked.rate else "There is no link: the store is asked by loopback.")
    return "\n".join([
        f"{where} {asked.rounds} rounds. {link}\n", *(f"- **{note}**" for note in bench.notes),
        "\nMedians of the rounds' own ratios (or seconds); least to most in brackets.",
        table(["what", "measured", "goal", ""], [goal.line() for goal in bench.goals]),
        "Medians of the rounds; least to most in brackets. CPU is user and system time of all the processes, by the kernel's account, for "
        "each GiB of bodies.",
        table(["what", "object", "requests at a time", "who", "freshness", "authorization", "Gb/s", "seconds", "gateway s/GiB",
               "client s/GiB", "store s/GiB", "link s/GiB"], [line(*each) for each in bench.rows])])


def main(options):
    asked = arguments(options)
    loads.require_programs()
    rack.build()
    cores = machine.Cores(asked.pin)
    where = machine.describe(bed.command(), cores)
    asked.out.mkdir(parents=True, exist_ok=True)
    with rack.ended_by_signals(), bed.temporary_folder() as folder, rack.Processes(folder) as processes:
        say("starting the store, the link, the gateway and the clients")
        site = Site(processes, cores, asked)
        bench = Bench(site, asked)
        bench.run()
        site.close()
    bench.notes += doubts([row for _, row in bench.rows], asked.rounds, cores.is_pinned)
    bed.write_report(asked.out, "misses", markdown(where, asked, bench), {
        "where": where, "rounds": asked.rounds, "bytes": asked.bytes, "rate": asked.rate, "latency": asked.latency, "notes": bench.notes,
        "goals": [dataclasses.asdict(goal) for goal in bench.goals],
        "rows": [{"case": case.label, **dataclasses.asdict(row)} for case, row in bench.rows]})
