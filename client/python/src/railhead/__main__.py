"""python -m railhead: objects as files, which way bytes go, and how fast."""

from __future__ import annotations

import argparse
import difflib
import math
import os
import re
import signal
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

import railhead
from railhead import _bench, _check, _files
from railhead._settings import FABRICS, MOST_IN_FLIGHT
from railhead._unfinished import ended_by_signals
from railhead.client import Client
from railhead.errors import RailheadError

_NOT_HERE = 69  # EX_UNAVAILABLE


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


class Parser(argparse.ArgumentParser):
    """Names what is nearest to a command that is none."""

    def error(self, message: str) -> NoReturn:
        unknown = re.match(r"argument command: invalid choice: '([^']*)' \(choose from (.*)\)", message)
        if unknown:
            near = difflib.get_close_matches(unknown[1], re.findall(r"\w+", unknown[2]), 1)
            message = f"unknown command '{unknown[1]}'" + (f"; did you mean '{near[0]}'?" if near else "; see --help")
        super().error(message)


def _arguments(words: Sequence[str] | None) -> argparse.Namespace:
    parser = Parser(prog="python -m railhead", description="Gateway and credentials are the environment's.")
    parser.add_argument("--version", action="version", version=f"railhead {railhead.__version__}")
    commands = parser.add_subparsers(dest="command", required=True)
    get = _with_way(commands.add_parser("get", help="read an object into a file"))
    get.add_argument("url", help="s3://BUCKET/KEY")
    get.add_argument("-o", "--output", metavar="FILE", help="- is the standard output; else the key's last part")
    put = _with_way(commands.add_parser("put", help="write a file as an object"))
    put.add_argument("source", metavar="FILE", help="- is the standard input")
    put.add_argument("url", help="s3://BUCKET/KEY, or s3://BUCKET/FOLDER/")
    cat = _with_way(commands.add_parser("cat", help="write objects to the standard output"))
    cat.add_argument("urls", nargs="+", metavar="url", help="s3://BUCKET/KEY")
    ls = _with_way(commands.add_parser("ls", help="list objects: time, bytes, key; or buckets"))
    ls.add_argument("url", nargs="?", default="s3://", help="s3://BUCKET[/PREFIX]")
    prefetch = commands.add_parser("prefetch", help="bring objects into the gateway's cache; exit status 1 where one is not held")
    prefetch.add_argument("urls", nargs="+", metavar="url", help="s3://BUCKET/KEY, or s3://BUCKET/FOLDER/ for all below it")
    prefetch.set_defaults(via="http")
    for each in (get, put, ls, prefetch):
        each.add_argument("-v", "--verbose", action="store_true", help="say what was done, also where nobody watches")
        each.add_argument("--json", action="store_true", help="write what was done to the standard output as JSON")
    check = _with_way(commands.add_parser("check", help="whether objects arrive whole in a device's memory; "
                                          "exit status 69 where there is no torch, or no such device"))
    check.add_argument("urls", nargs="+", metavar="url", help="s3://BUCKET/KEY")
    check.add_argument("--device", default="cuda", help="as torch names it (%(default)s)")
    check.add_argument("--json", action="store_true", help="one object a line, for each way of reaching the memory")
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


def _with_way(parser: argparse.ArgumentParser) -> argparse.ArgumentParser:
    parser.add_argument("--via", choices=FABRICS, default="auto", help="how the bytes move (%(default)s)")
    return parser


def _tell(arguments: argparse.Namespace) -> _files.Tell:
    return _files.Tell(arguments.verbose, arguments.json)


def _run_files(arguments: argparse.Namespace) -> int:
    try:
        with Client(fabric=arguments.via) as client:
            if arguments.command == "get":
                _files.get(client, arguments.url, arguments.output, _tell(arguments))
            elif arguments.command == "put":
                _files.put(client, arguments.source, arguments.url, _tell(arguments))
            elif arguments.command == "prefetch":
                return 0 if _files.prefetch(client, arguments.urls, _tell(arguments)) else 1
            elif arguments.command == "cat":
                _files.cat(client, arguments.urls)
            else:
                _files.ls(client, arguments.url, _tell(arguments))
            sys.stdout.flush()
    except BrokenPipeError:
        # Who read the output has what it wanted; nothing is flushed into the pipe at the end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 128 + signal.SIGPIPE
    except (RailheadError, OSError) as error:
        print(f"railhead: {error}", file=sys.stderr)
        return 1
    return 0


def _report() -> int:
    with Client() as client:
        report = client.report()
    print(report)
    return 1 if report.via.startswith("http") else 0


def _run_check(arguments: argparse.Namespace) -> int:
    try:
        _check.run(arguments.urls, arguments.device, arguments.via, arguments.json)
    except _check.NotHere as error:
        print(f"railhead: {error}", file=sys.stderr)
        return _NOT_HERE
    except _check.WrongBytes as error:
        print(f"railhead: {error}", file=sys.stderr)
        return 1
    return 0


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


def _warn(message: Warning | str, *_: object, **__: object) -> None:
    print(f"railhead: {message}", file=sys.stderr)


def main(words: Sequence[str] | None = None) -> int:
    arguments = _arguments(words)
    commands = {"report": lambda _: _report(), "bench": _run_bench, "check": _run_check}
    try:
        with ended_by_signals(), warnings.catch_warnings():
            warnings.showwarning = _warn
            return commands.get(arguments.command, _run_files)(arguments)
    except (RailheadError, ValueError) as error:
        print(f"railhead: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("railhead: interrupted", file=sys.stderr)
        return 128 + signal.SIGINT


if __name__ == "__main__":
    sys.exit(main())
