"""Reads objects of its own by each way there is, and says what that took of time and of this process's processors."""

from __future__ import annotations

import importlib.util
import json
import random
import secrets
import statistics
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from railhead._settings import split
from railhead.client import Client

MIB = 1 << 20
GIB = 1 << 30


@dataclass(frozen=True)
class Row:
    """One way and size. Latency is one read's at a time; throughput and processor time are of many at a time."""

    path: str
    size: int
    mib_per_second: float
    p50_micros: float
    p99_micros: float
    cpu_seconds_per_gib: float


@dataclass(frozen=True)
class Way:
    name: str
    one: Callable[[str, Any], object]         # reads an object into a buffer
    many: Callable[[list[str], list[Any]], object]


def measure(url: str, sizes: list[int], in_flight: int, seconds: float, store: str | None) -> list[Row]:
    rows: list[Row] = []
    with Client() as client, ExitStack() as stack:
        ways = list(_ways(client, in_flight, store, stack))
        for size in sizes:
            with _objects(client, f"{url.rstrip('/')}/{secrets.token_hex(8)}", size, in_flight) as (names, content):
                for way, registered in ways:
                    rows.append(_measure(client, way, registered, names, content, seconds))
    return rows


@contextmanager
def _objects(client: Client, prefix: str, size: int, count: int) -> Iterator[tuple[list[str], bytes]]:
    content = random.Random(size).randbytes(size)
    names = [f"{prefix}-{i}" for i in range(count)]
    try:
        for name in names:
            client.put_from(name, content)
        yield names, content
    finally:
        for name in names:
            client.delete(name)


def _ways(client: Client, in_flight: int, store: str | None, stack: ExitStack) -> Iterator[tuple[Way, bool]]:
    via = client.via
    if not via.startswith("http"):
        yield Way(via, client.get_into, _many(client)), True
        yield Way(f"{via}, copied", client.get_into, _many(client)), False
    plain = stack.enter_context(Client(fabric="http", in_flight=in_flight))
    yield Way("http", plain.get_into, _many(plain)), False
    try:
        import boto3
        import botocore.config
    except ImportError:
        return
    threads = stack.enter_context(ThreadPoolExecutor(in_flight))
    config = botocore.config.Config(max_pool_connections=in_flight, s3={"addressing_style": "path"})
    endpoint = client.report().endpoint
    for name, at in (("boto3", endpoint), *((("boto3 to the store", store),) if store else ())):
        s3 = boto3.client("s3", endpoint_url=at, config=config)
        yield Way(name, _by_boto3(s3), _by_threads(s3, threads)), False


def _many(client: Client) -> Callable[[list[str], list[Any]], object]:
    return lambda names, buffers: client.get_many(zip(names, buffers, strict=True))


def _by_boto3(s3: Any) -> Callable[[str, Any], object]:
    def read(url: str, buffer: Any) -> None:
        bucket, key = split(url)
        body = s3.get_object(Bucket=bucket, Key=key)["Body"]
        view = memoryview(buffer)
        while view.nbytes and (got := body.readinto(view)):
            view = view[got:]
    return read


def _by_threads(s3: Any, threads: ThreadPoolExecutor) -> Callable[[list[str], list[Any]], object]:
    one = _by_boto3(s3)
    return lambda names, buffers: list(threads.map(one, names, buffers))


def _measure(client: Client, way: Way, registered: bool, names: list[str], content: bytes, seconds: float) -> Row:
    size = len(content)
    buffers = [client.buffer(size) if registered else memoryview(bytearray(size)) for _ in names]
    way.many(names, buffers)
    for buffer in buffers:
        if buffer != content:
            raise AssertionError(f"{way.name}: other bytes than were put")
    latencies = _repeat(lambda: way.one(names[0], buffers[0]), seconds / 2)
    cpu, begun = time.process_time(), time.perf_counter()
    rounds = len(_repeat(lambda: way.many(names, buffers), seconds))
    took, used = time.perf_counter() - begun, time.process_time() - cpu
    moved = rounds * size * len(names)
    centiles = statistics.quantiles(latencies, n=100) if len(latencies) > 1 else latencies * 99
    return Row(way.name, size, moved / MIB / took, centiles[49] * 1e6, centiles[98] * 1e6, used / (moved / GIB))


def _repeat(action: Callable[[], object], seconds: float) -> list[float]:
    took: list[float] = []
    end = time.perf_counter() + seconds
    while not took or time.perf_counter() < end:
        begun = time.perf_counter()
        action()
        took.append(time.perf_counter() - begun)
    return took


def table(rows: list[Row]) -> str:
    lines = ["| path | size | MiB/s | p50 µs | p99 µs | client CPU s/GiB |", "|---|---|---|---|---|---|"]
    lines += [f"| {row.path} | {text_of(row.size)} | {row.mib_per_second:.1f} | {row.p50_micros:.1f} | {row.p99_micros:.1f} "
              f"| {row.cpu_seconds_per_gib:.3f} |" for row in rows]
    return "\n".join(lines)


def write_json(rows: list[Row], file: Path) -> None:
    file.write_text(json.dumps([asdict(row) for row in rows], indent=2) + "\n")


def require_matplotlib() -> None:
    if importlib.util.find_spec("matplotlib") is None:
        raise ValueError("--plot needs matplotlib: pip install matplotlib")


def plot(rows: list[Row], file: Path) -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot

    sizes = sorted({row.size for row in rows})
    figure, (speed, cost) = pyplot.subplots(1, 2, figsize=(10, 4), layout="constrained")
    for path in dict.fromkeys(row.path for row in rows):
        mine = {row.size: row for row in rows if row.path == path}
        speed.plot(sizes, [mine[size].mib_per_second for size in sizes], marker="o", label=path)
        cost.plot(sizes, [mine[size].cpu_seconds_per_gib for size in sizes], marker="o", label=path)
    for axes, title in ((speed, "MiB/s"), (cost, "client CPU s/GiB")):
        axes.set(title=title, xscale="log", yscale="log", xlabel="object size")
        axes.set_xticks(sizes, [text_of(size) for size in sizes])
        axes.grid(visible=True, alpha=0.3)
    speed.legend()
    figure.savefig(file)


_UNITS = {"KiB": 1 << 10, "MiB": MIB, "GiB": GIB}


def size_of(text: str) -> int:
    """Bytes of "64KiB"."""
    for unit, factor in _UNITS.items():
        if text.endswith(unit):
            return int(text.removesuffix(unit)) * factor
    return int(text)


def text_of(size: int) -> str:
    for unit, factor in reversed(_UNITS.items()):
        if size % factor == 0:
            return f"{size // factor}{unit}"
    return str(size)
