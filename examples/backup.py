"""Backup ingest: large objects, one after the other, in parts, each with its SHA-256 in a manifest.

Plain S3 uploads by boto3's transfer manager (parts of 8 MiB, ten at a time, CRC32 each); Railhead by put_from, in parts where
an object is larger than 64 MiB. Either way the program computes the SHA-256 of each object, which is counted. Afterwards each
object is read from the store and held against the manifest, which is not.
"""

from __future__ import annotations

import hashlib
import io
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from typing import Any

import numpy as np

import comparison
from comparison import Site
from measuring import GIB, MIB, Stopwatch, Way, check

OBJECT = 128 * MIB
RUNS = count()

Ingest = Callable[[str, bytes], object]


@dataclass(frozen=True)
class Stream:
    """What is backed up: bytes of which no two objects are alike."""

    noise: bytes
    objects: int

    @staticmethod
    def make(nbytes: int, random: np.random.Generator) -> Stream:
        return Stream(random.bytes(min(nbytes, OBJECT)), max(1, nbytes // OBJECT))

    def object(self, run: int, number: int) -> bytes:
        return b"%16d%16d" % (run, number) + self.noise[32:]


def backed_up(site: Site, stream: Stream, ingest: Ingest) -> Way:
    """Each pass is a backup of its own, which is verified and then deleted."""

    def way(watch: Stopwatch) -> int:
        run = next(RUNS)
        manifest = {}
        for number in range(stream.objects):
            with watch.aside():
                data = stream.object(run, number)
            name = f"backup-{run:06d}/{number:06d}"
            manifest[name] = hashlib.sha256(data).hexdigest()
            ingest(name, data)
        ingest(f"backup-{run:06d}/manifest.json", json.dumps(manifest).encode())
        with watch.aside():
            verify(site, f"backup-{run:06d}/manifest.json", manifest)
            site.delete([*manifest, f"backup-{run:06d}/manifest.json"])
        return stream.objects * len(stream.noise)

    return way


def verify(site: Site, name: str, manifest: dict[str, str]) -> None:
    stored: dict[str, str] = json.loads(site.read(name))
    check(stored == manifest, name)
    for each, digest in stored.items():
        check(hashlib.sha256(site.read(each)).hexdigest() == digest, each)


def by_boto3(site: Site, s3: Any) -> Ingest:
    return lambda name, data: s3.upload_fileobj(io.BytesIO(data), site.bucket, site.key(name))


def tell_of_sha256(site: Site, data: bytes) -> None:
    watch = Stopwatch()
    hashlib.sha256(data).digest()
    alone = watch.read(len(data))
    site.tell(f"SHA-256, of each of them: {alone.cpu_seconds * GIB / alone.nbytes:.3f} s/GiB.")


def work(site: Site) -> None:
    stream = Stream.make(site.options.nbytes, site.random)
    print(f"{stream.objects} objects of {len(stream.noise) / MIB:.0f} MiB and a manifest")
    ways = {"railhead": backed_up(site, stream, lambda name, data: site.client.put_from(site.url(name), data))}
    for name, s3 in site.plain.items():
        ways[name] = backed_up(site, stream, by_boto3(site, s3))
    site.compare("ingest", ways)
    tell_of_sha256(site, stream.noise)
    site.tell(comparison.WRITES)


if __name__ == "__main__":
    sys.exit(comparison.main("backup", __doc__, "256MiB", work))
