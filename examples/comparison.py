"""What the examples share: the gateway and the store, each way's time and processor time, the table, and the saving in words."""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import signal
import sys
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import boto3
import botocore.exceptions
import numpy as np
import railhead

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
UNITS = {"": 1, "B": 1, "KIB": KIB, "MIB": MIB, "GIB": GIB}
BY_GATEWAY, BY_STORE = "boto3, gateway", "boto3, store"
ALIKE = 1.05  # what differs by less is said to be alike: two runs differ by more
LEAST_PASSES = 2
QUIET_SECONDS = 2.0
WRITES = ("A write is answered after the store's own answer: it is as durable as the store, and as slow. "
          "What a write saves is processor time.")


class Wrong(Exception):
    """Bytes came that are not those that were written, or did not come; the message says which."""


def check(right: bool, what: str) -> None:
    if not right:
        raise Wrong(f"wrong bytes: {what}")


# ---- Measuring ----


@dataclass(frozen=True)
class Pass:
    """One way, once: bytes moved, seconds, processor seconds of this process, and what its operations took in seconds."""

    nbytes: int
    seconds: float
    cpu_seconds: float
    operations: tuple[float, ...] = ()


class Stopwatch:
    """Wall clock and processor time of all threads of this process, from its making on. Of one thread."""

    def __init__(self) -> None:
        self._operations: list[float] = []
        self._aside = self._cpu_aside = 0.0
        self._stopped: tuple[float, float] | None = None
        self._wall, self._cpu = time.perf_counter(), _cpu_seconds()

    @contextmanager
    def aside(self) -> Iterator[None]:
        """
        What this thread does in here, such as looking at the bytes, is not counted. What others do is, such as a read ahead:
        so no work of several threads in here.
        """
        wall, cpu = time.perf_counter(), time.thread_time()
        try:
            yield
        finally:
            self._aside += time.perf_counter() - wall
            self._cpu_aside += time.thread_time() - cpu

    @contextmanager
    def operation(self) -> Iterator[None]:
        """One of those whose percentiles are wanted."""
        begun = time.perf_counter()
        yield
        self._operations.append(time.perf_counter() - begun)

    def stop(self) -> None:
        """Nothing that comes after is counted, of no thread."""
        if self._stopped is None:
            self._stopped = time.perf_counter() - self._wall, _cpu_seconds() - self._cpu

    def read(self, nbytes: int) -> Pass:
        self.stop()
        assert self._stopped is not None
        seconds, cpu = self._stopped
        return Pass(nbytes, seconds - self._aside, cpu - self._cpu_aside, tuple(self._operations))


def _cpu_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


Way = Callable[[Stopwatch], int]
"""Moves the bytes, checks them aside, and returns how many there were."""


def await_quiet() -> None:
    """Threads of numerical libraries turn on the spot for a while after their work: that is no way's cost."""
    deadline = time.monotonic() + QUIET_SECONDS
    while time.monotonic() < deadline:
        before = _cpu_seconds()
        time.sleep(0.02)
        if _cpu_seconds() - before < 0.005:
            return


def by_turns(ways: Mapping[str, Way], seconds: float) -> dict[str, list[Pass]]:
    """
    Each way in turn, for `seconds` and at least twice. Every round begins with another one.

    A round before that is not counted: it fills caches, opens connections, and compiles the gateway's code.
    """
    passes: dict[str, list[Pass]] = {name: [] for name in ways}
    names = list(ways)
    for name in names:
        ways[name](Stopwatch())
    begun, told = time.monotonic(), time.monotonic()
    while len(passes[names[-1]]) < LEAST_PASSES or time.monotonic() - begun < seconds:
        for name in names:
            await_quiet()
            watch = Stopwatch()
            passes[name].append(watch.read(ways[name](watch)))
            if time.monotonic() - told > 2:
                told = time.monotonic()
                say(f"{told - begun:.0f} s of {seconds:.0f} s, {sum(map(len, passes.values()))} passes")
        names.append(names.pop(0))
    return passes


# ---- What came out ----


@dataclass(frozen=True)
class Row:
    """All passes of one way."""

    way: str
    mib_per_second: float
    cpu_seconds_per_gib: float
    passes: int
    p50_micros: float | None = None
    p99_micros: float | None = None

    @staticmethod
    def of(way: str, passes: Sequence[Pass]) -> Row:
        nbytes = sum(each.nbytes for each in passes)
        operations = [micros for each in passes for micros in each.operations]
        p50, p99 = (float(p) * 1e6 for p in np.percentile(operations, [50, 99])) if operations else (None, None)
        return Row(way, nbytes / MIB / sum(each.seconds for each in passes),
                   sum(each.cpu_seconds for each in passes) * GIB / nbytes, len(passes), p50, p99)


def saving(ours: Row, theirs: Row) -> str:
    """One sentence on speed and processor time, whichever way it went."""
    return (f"{ours.way} {_speed(ours.mib_per_second / theirs.mib_per_second)} {theirs.way}, "
            f"and took {_cost(ours.cpu_seconds_per_gib / theirs.cpu_seconds_per_gib)} processor time of this process: "
            f"{ours.cpu_seconds_per_gib:.3f} s/GiB instead of {theirs.cpu_seconds_per_gib:.3f}.")


def _speed(ratio: float) -> str:
    if 1 / ALIKE < ratio < ALIKE:
        return "was about as fast as"
    return f"was {_times(ratio)} as fast as" if ratio > 1 else f"was SLOWER, it took {_times(1 / ratio)} as long as"


def _cost(ratio: float) -> str:
    if 1 / ALIKE < ratio < ALIKE:
        return "about as much"
    return f"{_times(ratio)} as much" if ratio > 1 else f"1/{_number(1 / ratio)} of the"


def _times(ratio: float) -> str:
    return f"{_number(ratio)} times"


def _number(ratio: float) -> str:
    return f"{ratio:.1f}" if ratio < 10 else f"{ratio:.0f}"


def table(rows: Sequence[Row]) -> str:
    cells = [["way", "MiB/s", "CPU s/GiB", "passes"] + ["p50 µs", "p99 µs"] * (rows[0].p50_micros is not None)]
    for row in rows:
        micros = [] if row.p50_micros is None else [f"{row.p50_micros:.0f}", f"{row.p99_micros:.0f}"]
        cells.append([row.way, f"{row.mib_per_second:.1f}", f"{row.cpu_seconds_per_gib:.3f}", str(row.passes), *micros])
    widths = [max(map(len, column)) for column in zip(*cells)]
    return "\n".join("  ".join(cell.ljust(width) if i == 0 else cell.rjust(width)
                               for i, (cell, width) in enumerate(zip(line, widths))) for line in cells)


# ---- Where the bytes come from ----


def boto3_client(endpoint: str, profile: str | None = None) -> Any:
    """Plain S3 as it comes: botocore's defaults, ten connections, CRC32 on uploads. Any thread may use it."""
    return boto3.Session(profile_name=profile).client("s3", endpoint_url=endpoint)


@dataclass(frozen=True)
class Options:
    """What an example was told. `nbytes` is how much data it makes, `seconds` how long each table is measured."""

    example: str
    endpoint: str
    store: str | None
    store_profile: str | None
    bucket: str
    fabric: str
    nbytes: int
    seconds: float
    seed: int
    json: Path | None


class Site:
    """A gateway, the store behind it if that is known, and a prefix of our own in a bucket, deleted in the end."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self.random = np.random.default_rng(options.seed)
        self.client = railhead.Client(options.endpoint, fabric=options.fabric)
        self.gateway = boto3_client(options.endpoint)
        self.plain = {BY_GATEWAY: self.gateway}
        if options.store:
            self.plain[BY_STORE] = boto3_client(options.store, options.store_profile)
        self.bucket = options.bucket
        self._prefix = f"{options.example}-{uuid.uuid4().hex[:12]}"
        self._tables: dict[str, list[Row]] = {}
        self._sentences: list[str] = []

    def __enter__(self) -> Site:
        if self.bucket not in (each["Name"] for each in self.gateway.list_buckets()["Buckets"]):
            self.gateway.create_bucket(Bucket=self.bucket)
        return self

    def __exit__(self, *_: object) -> None:
        try:
            for page in self.gateway.get_paginator("list_objects_v2").paginate(Bucket=self.bucket, Prefix=self._prefix + "/"):
                for each in page.get("Contents", []):
                    self.gateway.delete_object(Bucket=self.bucket, Key=each["Key"])
        finally:
            self.client.close()

    def key(self, name: str) -> str:
        return f"{self._prefix}/{name}"

    def url(self, name: str) -> str:
        return f"s3://{self.bucket}/{self.key(name)}"

    def write(self, name: str, data: Any) -> None:
        """As another program would have: to the store where it is known, past the gateway and what it keeps."""
        store = self.plain.get(BY_STORE, self.gateway)
        store.put_object(Bucket=self.bucket, Key=self.key(name), Body=bytes(data))

    def read(self, name: str) -> bytes:
        """What lies in the store, or, where that is not known, what the gateway says."""
        store = self.plain.get(BY_STORE, self.gateway)
        body: bytes = store.get_object(Bucket=self.bucket, Key=self.key(name))["Body"].read()
        return body

    def delete(self, names: Iterable[str]) -> None:
        for name in names:
            self.gateway.delete_object(Bucket=self.bucket, Key=self.key(name))

    def compare(self, title: str, ways: Mapping[str, Way]) -> None:
        """Measures, prints the table, and what the first way saved beside each of the others."""
        passes = by_turns(ways, self.options.seconds)
        rows = [Row.of(way, each) for way, each in passes.items()]
        self._tables[title] = rows
        print(f"\n{title}\n\n{table(rows)}\n", flush=True)
        for other in rows[1:]:
            self.tell(saving(rows[0], other))

    def tell(self, sentence: str) -> None:
        self._sentences.append(sentence)
        print(sentence, flush=True)

    def report(self) -> dict[str, Any]:
        options = {**asdict(self.options), "json": None}
        return {**options, "via": self.client.via, "verified": True, "sentences": self._sentences,
                "tables": {title: [asdict(row) for row in rows] for title, rows in self._tables.items()}}


# ---- The command line ----


def say(text: str) -> None:
    print(f"  ... {text}", file=sys.stderr, flush=True)


def size(text: str) -> int:
    number = re.fullmatch(r"(\d+) *(|B|KiB|MiB|GiB)", text.strip(), re.IGNORECASE)
    if number is None or int(number[1]) == 0:
        raise ValueError(f"not a size such as 64MiB: {text!r}")
    return int(number[1]) * UNITS[number[2].upper()]


def parse(example: str, doc: str, nbytes: str, arguments: Sequence[str]) -> Options:
    environment = os.environ.get
    parser = argparse.ArgumentParser(prog=example, description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--endpoint", metavar="URL", help="the gateway; else RAILHEAD_ENDPOINT, AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL",
        default=environment("RAILHEAD_ENDPOINT") or environment("AWS_ENDPOINT_URL_S3") or environment("AWS_ENDPOINT_URL"))
    add("--store", metavar="URL", default=environment("RAILHEAD_STORE"),
        help="the store behind it, for a row of its own; else RAILHEAD_STORE, else that row is left out")
    add("--store-profile", metavar="NAME", help="the AWS profile with the store's key, where that is another one")
    add("--bucket", default="railhead-examples", help="made where there is none; default %(default)s")
    add("--fabric", choices=["auto", "loopback", "verbs", "http"], default="auto", help="default %(default)s")
    add("--bytes", dest="nbytes", type=size, default=nbytes, metavar="SIZE", help="of data, such as 64MiB; default %(default)s")
    add("--seconds", type=float, default=5.0, help="of measuring for each table, at least two passes; default %(default)s")
    add("--seed", type=int, default=1, help="of data and order; default %(default)s")
    add("--json", type=Path, metavar="FILE", help="the figures, for programs")
    options = parser.parse_args(arguments)
    if not options.endpoint:
        parser.error("no gateway: give --endpoint, or start this by examples/run, which starts one")
    return Options(example, **vars(options))


def main(example: str, doc: str, nbytes: str, work: Callable[[Site], None]) -> int:
    """Exit status: 1 where a byte was wrong or a request failed, 2 for wrong usage."""
    options = parse(example, doc, nbytes, sys.argv[1:])
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    try:
        with Site(options) as site:
            work(site)
            report = site.report()
    except (Wrong, railhead.RailheadError, botocore.exceptions.BotoCoreError, botocore.exceptions.ClientError) as failure:
        print(f"{example}: {type(failure).__name__}: {failure}", file=sys.stderr)
        return 1
    print(f"\nEvery byte of every way was compared. Railhead's way: {report['via']}.")
    if options.json:
        options.json.write_text(json.dumps(report, indent=2) + "\n")
    return 0
