"""Each way's time and processor time, the table, and the saving in words."""

from __future__ import annotations

import os
import resource
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
ALIKE = 1.05  # what differs by less is said to be alike: two runs differ by more
LEAST_PASSES = 2
QUIET_SECONDS = 2.0


class Wrong(Exception):
    """Bytes came that are not those that were written, or did not come; the message says which."""


def check(right: bool, what: str) -> None:
    if not right:
        raise Wrong(f"wrong bytes: {what}")


def say(text: str) -> None:
    print(f"  ... {text}", file=sys.stderr, flush=True)


@dataclass(frozen=True)
class Pass:
    """One way, once: bytes moved, seconds, processor seconds of this process and of the gateway, seconds of each operation."""

    nbytes: int
    seconds: float
    cpu_seconds: float
    gateway_seconds: float = 0.0
    operations: tuple[float, ...] = ()


def cpu_seconds() -> float:
    """Of all threads of this process."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def cpu_seconds_of(pid: int) -> float:
    """Of another process, in steps of a hundredth of a second."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Stopwatch:
    """Wall clock, processor time of this process and of `gateway`, from its making on. Of one thread."""

    def __init__(self, gateway: int | None = None) -> None:
        self._gateway = gateway
        self._operations: list[float] = []
        self._aside = np.zeros(3)
        self._stopped: np.ndarray | None = None
        self._begun = self._clocks()

    def _clocks(self) -> np.ndarray:
        return np.array([time.perf_counter(), cpu_seconds(), cpu_seconds_of(self._gateway) if self._gateway else 0.0])

    @contextmanager
    def aside(self) -> Iterator[None]:
        """
        What this thread does in here, such as looking at the bytes, is not counted. Only where nothing is read or written
        meanwhile, by other threads neither: that would take no time then, and cost the gateway nothing. See `stop`.
        """
        before, thread = self._clocks(), time.thread_time()
        try:
            yield
        finally:
            spent = self._clocks() - before
            spent[1] = time.thread_time() - thread
            self._aside += spent

    @contextmanager
    def operation(self) -> Iterator[None]:
        """One of those whose percentiles are wanted."""
        begun = time.perf_counter()
        yield
        self._operations.append(time.perf_counter() - begun)

    def stop(self) -> None:
        """Nothing that comes after is counted, of no thread."""
        if self._stopped is None:
            self._stopped = self._clocks() - self._begun - self._aside

    def read(self, nbytes: int) -> Pass:
        self.stop()
        assert self._stopped is not None
        seconds, cpu, gateway = map(float, self._stopped)
        return Pass(nbytes, seconds, cpu, gateway, tuple(self._operations))


Way = Callable[[Stopwatch], int]
"""Moves the bytes, checks them aside, and returns how many there were."""


def await_quiet() -> None:
    """Threads of numerical libraries turn on the spot for a while after their work: that is no way's cost."""
    deadline = time.monotonic() + QUIET_SECONDS
    while time.monotonic() < deadline:
        before = cpu_seconds()
        time.sleep(0.02)
        if cpu_seconds() - before < 0.005:
            return


def by_turns(ways: Mapping[str, Way], seconds: float, gateway: int | None = None) -> dict[str, list[Pass]]:
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
            watch = Stopwatch(gateway)
            passes[name].append(watch.read(ways[name](watch)))
            if time.monotonic() - told > 2:
                told = time.monotonic()
                say(f"{told - begun:.0f} s of at least {seconds:.0f} s, {sum(map(len, passes.values()))} passes")
        names.append(names.pop(0))
    return passes


# ---- What came out ----


@dataclass(frozen=True)
class Row:
    """All passes of one way."""

    way: str
    mib_per_second: float
    cpu_seconds_per_gib: float
    gateway_seconds_per_gib: float
    passes: int
    p50_micros: float | None = None
    p99_micros: float | None = None

    @staticmethod
    def of(way: str, passes: Sequence[Pass]) -> Row:
        nbytes = sum(each.nbytes for each in passes)
        operations = [micros for each in passes for micros in each.operations]
        p50, p99 = (float(p) * 1e6 for p in np.percentile(operations, [50, 99])) if operations else (None, None)
        return Row(way, nbytes / MIB / sum(each.seconds for each in passes),
                   sum(each.cpu_seconds for each in passes) * GIB / nbytes,
                   sum(each.gateway_seconds for each in passes) * GIB / nbytes, len(passes), p50, p99)


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


def table(rows: Sequence[Row], gateway: bool) -> str:
    """With `gateway`, what that took has a column."""
    columns = {"way": [row.way for row in rows],
               "MiB/s": [f"{row.mib_per_second:.1f}" for row in rows],
               "CPU s/GiB": [f"{row.cpu_seconds_per_gib:.3f}" for row in rows]}
    if gateway:
        columns["gateway's"] = [f"{row.gateway_seconds_per_gib:.2f}" for row in rows]
    if all(row.p50_micros for row in rows):
        columns["p50 µs"] = [f"{row.p50_micros:.0f}" for row in rows]
        columns["p99 µs"] = [f"{row.p99_micros:.0f}" for row in rows]
    columns["passes"] = [str(row.passes) for row in rows]
    widths = [max(map(len, [name, *cells])) for name, cells in columns.items()]
    return "\n".join("  ".join(cell.ljust(width) if i == 0 else cell.rjust(width)
                               for i, (cell, width) in enumerate(zip(line, widths)))
                     for line in [columns, *zip(*columns.values())])
