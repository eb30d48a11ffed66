"""RAG: random point reads of vectors.

An index in this machine's memory names the nearest few candidates of a query; their exact vectors, too many for that memory,
lie in the store. Each query reads eight of them, 3 KiB each, from anywhere in the collection, and ranks them. What counts is
how long a query waits: the percentiles are of queries.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from railhead import Read

import comparison
from comparison import Site
from measuring import MIB, Stopwatch, Way, check

DIMENSION = 768
CANDIDATES = 8  # of a query; boto3 has a connection for each
QUERIES = 50  # of a pass
VECTOR_BYTES = DIMENSION * 4
SHARD_VECTORS = 16 * MIB // VECTOR_BYTES


@dataclass(frozen=True)
class Collection:
    """Vectors in objects of SHARD_VECTORS each; `vectors` is what the answers are compared with."""

    vectors: np.ndarray

    def shards(self) -> Iterator[tuple[str, np.ndarray]]:
        for first in range(0, len(self.vectors), SHARD_VECTORS):
            yield self.place(first)[0], self.vectors[first : first + SHARD_VECTORS]

    def place(self, vector: int) -> tuple[str, int]:
        """The object's name and the offset in it, bytes."""
        return f"vectors-{vector // SHARD_VECTORS:05d}", vector % SHARD_VECTORS * VECTOR_BYTES


def rank(question: np.ndarray, found: np.ndarray) -> np.ndarray:
    return np.argsort(found @ question)[::-1]


def by_railhead(site: Site, collection: Collection, queries: np.ndarray) -> Way:
    found = site.client.empty((CANDIDATES, DIMENSION), np.float32)  # memory that the gateway writes into directly

    def ask(candidates: np.ndarray) -> np.ndarray:
        reads = []
        for row, vector in zip(found, candidates):
            name, start = collection.place(vector)
            reads.append(Read(site.url(name), row, start=start))
        site.client.get_many(reads)
        return found

    return run(ask, collection, queries)


def by_boto3(site: Site, s3: Any, threads: ThreadPoolExecutor, collection: Collection, queries: np.ndarray) -> Way:
    def get(vector: int) -> bytes:
        name, start = collection.place(vector)
        wanted = f"bytes={start}-{start + VECTOR_BYTES - 1}"
        return s3.get_object(Bucket=site.bucket, Key=site.key(name), Range=wanted)["Body"].read()

    def ask(candidates: np.ndarray) -> np.ndarray:
        bodies = threads.map(get, candidates)
        return np.stack([np.frombuffer(body, np.float32) for body in bodies])

    return run(ask, collection, queries)


def run(ask: Any, collection: Collection, queries: np.ndarray) -> Way:
    def way(watch: Stopwatch) -> int:
        for candidates in queries:
            with watch.operation():
                found = ask(candidates)
            with watch.aside():
                check(np.array_equal(found, collection.vectors[candidates]), f"vectors {candidates}")
                assert rank(found[0], found)[0] == 0, "a vector is nearest to itself"
        return queries.size * VECTOR_BYTES

    return way


def ask_for(count: int, random: np.random.Generator) -> np.ndarray:
    """Each query's candidates, no two of which are one."""
    return np.stack([random.choice(count, CANDIDATES, replace=False) for _ in range(QUERIES)])


def work(site: Site) -> None:
    count = max(CANDIDATES, site.options.nbytes // VECTOR_BYTES)
    vectors = site.random.standard_normal((count, DIMENSION), np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    collection = Collection(vectors)
    for name, shard in collection.shards():
        site.write(name, shard)
    print(f"{count} vectors of {DIMENSION} float32 in {-(-count // SHARD_VECTORS)} objects; each query reads {CANDIDATES}")

    queries = ask_for(count, site.random)
    with ThreadPoolExecutor(CANDIDATES) as threads:
        ways = {"railhead": by_railhead(site, collection, queries)}
        for name, s3 in site.plain.items():
            ways[name] = by_boto3(site, s3, threads, collection, queries)
        site.compare("queries", ways)


if __name__ == "__main__":
    sys.exit(comparison.main("rag", __doc__, "64MiB", work))
