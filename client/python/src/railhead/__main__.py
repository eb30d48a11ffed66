"""python -m railhead: which way bytes go, and how fast."""

from __future__ import annotations

import argparse
import math
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from railhead import _bench
from railhead._settings import MOST_IN_FLIGHT
from railhead.client import Client
from railhead.errors import RailheadError


def sizes(text: str) -> list[int]:
    made = [_bench.size_of(each) for each in text.split(",")]
    if min(made) < 1:
        raise ValueError(f"not sizes such as 64KiB,1MiB: {text!r}")
    return made


def count(text: str) -> int:
    number = int(text)
    if not 0 < number <= MOST_IN_FLIGHT:
        raise ValueError(f"not a count of reads: {text!r}")
    return number


def seconds(text: str) -> float:
    number = float(text)
    if not 0 <= number < math.inf:
        raise ValueError(f"not a time: {text!r}")
    return number


def _arguments(words: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m railhead", description="Gateway and credentials are the environment's.")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("report", help="which way bytes go, and why; exit status 1 where it is plain S3")
    bench = commands.add_parser("bench", help="read objects of its own by each way there is")
    bench.add_argument("url", help="s3://BUCKET/PREFIX, where it may write and delete")
    bench.add_argument("--sizes", type=sizes, default="64KiB,1MiB,16MiB", help="of objects (%(default)s)")
    bench.add_argument("--in-flight", type=count, default=8, help="reads at a time (%(default)s)")
    bench.add_argument("--seconds", type=seconds, default=3.0, help="for each way and size (%(default)s)")
    bench.add_argument("--store", metavar="URL", help="the store behind the gateway, for boto3 to read from, too")
    bench.add_argument("--json", type=Path, metavar="FILE")
    bench.add_argument("--plot", type=Path, metavar="FILE", help="such as bench.svg or bench.png; needs matplotlib")
    return parser.parse_args(words)


def _report() -> int:
    with Client() as client:
        report = client.report()
    print(report)
    return 1 if report.via.startswith("http") else 0


def _run_bench(arguments: argparse.Namespace) -> int:
    if arguments.plot:
        _bench.require_matplotlib()
    rows = _bench.measure(arguments.url, arguments.sizes, arguments.in_flight, arguments.seconds, arguments.store)
    print(_bench.table(rows))
    if arguments.json:
        _bench.write_json(rows, arguments.json)
    if arguments.plot:
        _bench.plot(rows, arguments.plot)
    return 0


@contextmanager
def _ended_by_signals() -> Iterator[None]:
    """SIGTERM unwinds as an interrupt does, so that what was written is deleted."""
    def leave(number: int, _: object) -> None:
        sys.exit(128 + number)

    before = signal.signal(signal.SIGTERM, leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def main(words: Sequence[str] | None = None) -> int:
    arguments = _arguments(words)
    try:
        with _ended_by_signals():
            return _report() if arguments.command == "report" else _run_bench(arguments)
    except (RailheadError, ValueError) as error:
        print(f"railhead: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("railhead: interrupted", file=sys.stderr)
        return 128 + signal.SIGINT


if __name__ == "__main__":
    sys.exit(main())
