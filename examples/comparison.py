"""What the examples share: the gateway and the store, by whatever way, and the command line."""

from __future__ import annotations

import argparse
import json
import math
import os
import re
import signal
import sys
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import boto3
import botocore.exceptions
import numpy as np
import railhead

from measuring import GIB, KIB, MIB, Row, Way, Wrong, by_turns, check, saving, table

INTERRUPTED = 128 + signal.SIGINT
UNITS = {"": 1, "B": 1, "KIB": KIB, "MIB": MIB, "GIB": GIB}
BY_GATEWAY, BY_STORE = "boto3, gateway", "boto3, store"
WRITES = ("A write is answered after the store's own answer: it is as durable as the store, and as slow. "
          "What a write saves is processor time.")


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
    gateway_pid: int | None
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
        self._is_at_disk = False  # some write was acknowledged there
        self.gateway.meta.events.register("after-call.s3", self._look_at)
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

    def read_into(self, s3: Any, name: str, memory: memoryview) -> None:
        """As boto3 does it with the fewest copies: `memory` is of bytes, as many as the object has."""
        body, have = s3.get_object(Bucket=self.bucket, Key=self.key(name))["Body"], 0
        while have < len(memory):
            got = body.readinto(memory[have:])
            check(got > 0, f"{name} ends after {have} bytes")
            have += got

    def put_from(self, name: str, data: Any) -> None:
        self._is_at_disk |= self.client.put_from(self.url(name), data).acknowledged == "disk"

    def _look_at(self, parsed: dict[str, Any], **_: object) -> None:
        headers = parsed.get("ResponseMetadata", {}).get("HTTPHeaders", {})
        self._is_at_disk |= headers.get("x-railhead-acknowledged") == "disk"

    def flush(self, prefix: str) -> None:
        """Returns once the store has what was written below the prefix, as one that is no gateway has when it answers."""
        try:
            self.client.flush(self.url(prefix))
        except railhead.NotServed:
            if self._is_at_disk:
                raise

    def delete(self, names: Iterable[str]) -> None:
        for name in names:
            self.gateway.delete_object(Bucket=self.bucket, Key=self.key(name))

    def compare(self, title: str, ways: Mapping[str, Way]) -> None:
        """Measures, prints the table, and what the first way saved beside each of the others."""
        passes = by_turns(ways, self.options.seconds, self.options.gateway_pid)
        rows = [Row.of(way, each) for way, each in passes.items()]
        self._tables[title] = rows
        print(f"\n{title}\n\n{table(rows, bool(self.options.gateway_pid))}\n", flush=True)
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


def size(text: str) -> int:
    number = re.fullmatch(r"(\d+) *(|B|KiB|MiB|GiB)", text.strip(), re.IGNORECASE)
    if number is None or int(number[1]) == 0:
        raise ValueError(f"not a size such as 64MiB: {text!r}")
    return int(number[1]) * UNITS[number[2].upper()]


def seconds(text: str) -> float:
    number = float(text)
    if not 0 <= number < math.inf:
        raise ValueError(f"not a time: {text!r}")
    return number


def seed(text: str) -> int:
    number = int(text)
    if number < 0:
        raise ValueError(f"not a seed: {text!r}")
    return number


# These two are asked of the machine at once: what is measured in vain took minutes.


def process(text: str) -> int:
    if not Path(f"/proc/{int(text)}/stat").exists():
        raise argparse.ArgumentTypeError(f"no process {text}")
    return int(text)


def new_file(text: str) -> Path:
    file = Path(text)
    if file.is_dir() or not os.access(file if file.exists() else file.parent, os.W_OK):
        raise argparse.ArgumentTypeError(f"cannot be written: {text}")
    return file


def parse(example: str, doc: str, nbytes: str, arguments: Sequence[str]) -> Options:
    environment = os.environ.get
    parser = argparse.ArgumentParser(prog=example, description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--endpoint", metavar="URL", help="the gateway; else RAILHEAD_ENDPOINT, AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL",
        default=environment("RAILHEAD_ENDPOINT") or environment("AWS_ENDPOINT_URL_S3") or environment("AWS_ENDPOINT_URL"))
    add("--store", metavar="URL", default=environment("RAILHEAD_STORE"),
        help="the store behind it, for a row of its own; else RAILHEAD_STORE, else that row is left out")
    add("--store-profile", metavar="NAME", help="the AWS profile with the store's key, where that is another one")
    add("--gateway-pid", metavar="PID", type=process, default=environment("RAILHEAD_GATEWAY_PID"),
        help="of a gateway on this host: a column on its processor time; else RAILHEAD_GATEWAY_PID")
    add("--bucket", default="railhead-examples", help="made where there is none; default %(default)s")
    add("--fabric", choices=["auto", "loopback", "verbs", "http"], default="auto", help="default %(default)s")
    add("--bytes", dest="nbytes", type=size, default=nbytes, metavar="SIZE", help="of data, such as 64MiB; default %(default)s")
    add("--seconds", type=seconds, default=5.0, help="of measuring for each table, at least two passes; default %(default)s")
    add("--seed", type=seed, default=1, help="of data and order; default %(default)s")
    add("--json", type=new_file, metavar="FILE", help="the figures, for programs")
    options = parser.parse_args(arguments)
    if not options.endpoint:
        parser.error("no gateway: give --endpoint, or start this by examples/run, which starts one")
    return Options(example, **vars(options))


def main(example: str, doc: str, nbytes: str, work: Callable[[Site], None]) -> int:
    """Exit status: 1 where a byte was wrong or a request failed, 2 for wrong usage, 130 after an interrupt."""
    options = parse(example, doc, nbytes, sys.argv[1:])
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    try:
        with Site(options) as site:
            work(site)
            report = site.report()
    except (Wrong, railhead.RailheadError, botocore.exceptions.BotoCoreError, botocore.exceptions.ClientError) as failure:
        print(f"{example}: {type(failure).__name__}: {failure}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(f"{example}: interrupted", file=sys.stderr)
        return INTERRUPTED
    print(f"\nEvery byte of every way was compared. Railhead's way: {report['via']}.")
    if options.json:
        options.json.write_text(json.dumps(report, indent=2) + "\n")
    return 0
