"""python -m railhead: which way bytes go, and how fast."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from railhead import _bench
from railhead.client import Client
from railhead.errors import RailheadError


def _arguments(words: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m railhead", description="Gateway and credentials are the environment's.")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("report", help="which way bytes go, and why; exit status 1 where it is plain S3")
    bench = commands.add_parser("bench", help="read objects of its own by each way there is")
    bench.add_argument("url", help="s3://BUCKET/PREFIX, where it may write and delete")
    bench.add_argument("--sizes", default="64KiB,1MiB,16MiB", help="of objects (%(default)s)")
    bench.add_argument("--in-flight", type=int, default=8, help="reads at a time (%(default)s)")
    bench.add_argument("--seconds", type=float, default=3.0, help="for each way and size (%(default)s)")
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
    sizes = [_bench.size_of(each) for each in arguments.sizes.split(",")]
    rows = _bench.measure(arguments.url, sizes, arguments.in_flight, arguments.seconds, arguments.store)
    print(_bench.table(rows))
    if arguments.json:
        _bench.write_json(rows, arguments.json)
    if arguments.plot:
        _bench.plot(rows, arguments.plot)
    return 0


def main(words: Sequence[str] | None = None) -> int:
    arguments = _arguments(words)
    try:
        return _report() if arguments.command == "report" else _run_bench(arguments)
    except (RailheadError, ValueError) as error:
        print(f"railhead: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
