"""Clients that write and read through chosen gateways, and compare every byte with what was written.

Each key has one writer, so its versions are in order. A read is stale if a later version was acknowledged before it began.
"""

import http.client
import random
import threading
import time

import place
import s3


def content(seed, path, version, size):
    """The bytes of a version: its number in front, then what the seed, path and number give."""
    body = random.Random(f"{seed} {path} {version}").randbytes(min(size, 4096) - 8)
    whole = version.to_bytes(8, "big") + body
    return (whole * (size // len(whole) + 1))[:size]


class Reference:
    """What may be read of each key: versions that were begun, none older than the last acknowledged one. For any thread."""

    def __init__(self, seed):
        self.seed = seed
        self._lock = threading.Lock()
        self._begun, self._acknowledged, self._sizes = {}, {}, {}

    def begin(self, path, size):
        """The bytes of the next version."""
        with self._lock:
            version = self._begun[path] = self._begun.get(path, 0) + 1
            self._sizes[path] = size
        return version, content(self.seed, path, version, size)

    def acknowledge(self, path, version):
        with self._lock:
            self._acknowledged[path] = version

    def oldest(self, path):
        """The version that a read which begins now may not be older than."""
        with self._lock:
            return self._acknowledged.get(path, 0)

    def judge(self, path, oldest, got):
        """'' or what is wrong with the bytes of a read."""
        version = int.from_bytes(got[:8], "big")
        with self._lock:
            newest, size = self._begun[path], self._sizes[path]
        if version > newest or got != content(self.seed, path, version, size):
            return "wrong"
        return "stale" if version < oldest else ""


class Client:
    """A connection to each of some gateways. A failure is repeated at the next one, as behind a Service; for one thread."""

    def __init__(self, gateways, attempts):
        self._ways = [s3.S3(gateway.endpoint, place.KEYS, attempts=1) for gateway in gateways]
        self._attempts, self._turn = attempts, 0

    def request(self, method, path, body=b""):
        """Body of the first 200, or None after so many attempts."""
        for attempt in range(self._attempts):
            if attempt:
                time.sleep(random.random() * 2**attempt)
            self._turn += 1
            try:
                status, got = self._ways[self._turn % len(self._ways)].request(method, path, body)
            except (OSError, http.client.HTTPException):
                continue
            if status == 200:
                return got
        return None


class Load:
    """Writers and readers that run until it is left; the counts are whole then."""

    KEYS_PER_BUCKET, SIZE = 6, 100_000

    def __init__(self, reference, writers, readers, attempts=1, readers_each=2):
        self.reference = reference
        self.counts = dict.fromkeys(("reads", "writes", "failed_reads", "failed_writes", "wrong", "stale"), 0)
        self._puts = []
        self._lock, self._stop = threading.Lock(), threading.Event()
        self._threads = [threading.Thread(target=self._write, args=(bucket, Client(writers, attempts)))
                         for bucket in place.LOADED_BUCKETS]
        # Clients that keep to one gateway show what that one serves, unless a failure may move them on.
        groups = [[gateway] for gateway in readers] if attempts == 1 else [readers] * len(readers)
        self._threads += [threading.Thread(target=self._read, args=(Client(group, attempts), seed))
                          for group in groups for seed in range(readers_each)]
        writer = Client(writers, attempts)
        for path in self._paths():
            self._put(writer, path)
        self._puts.clear()

    def _paths(self, *buckets):
        return [f"/{bucket}/load-{number}" for bucket in buckets or place.LOADED_BUCKETS
                for number in range(self.KEYS_PER_BUCKET)]

    def __enter__(self):
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def _write(self, bucket, client):
        while not self._stop.is_set():
            for path in self._paths(bucket):
                self._put(client, path)
                time.sleep(0.05)

    def _put(self, client, path):
        version, body = self.reference.begin(path, self.SIZE)
        begun = time.monotonic()
        done = client.request("PUT", path, body) is not None
        ended = time.monotonic()
        if done:
            self.reference.acknowledge(path, version)
        with self._lock:
            self._puts.append((begun, ended - begun))
        self._count("writes" if done else "failed_writes")

    def _read(self, client, seed):
        order = random.Random(seed)
        while not self._stop.is_set():
            path = order.choice(self._paths())
            oldest = self.reference.oldest(path)
            got = client.request("GET", path)
            if got is None:
                self._count("failed_reads")
                continue
            self._count("reads")
            wrong = self.reference.judge(path, oldest, got)
            if wrong:
                self._count(wrong)
            time.sleep(0.01)

    def _count(self, what):
        with self._lock:
            self.counts[what] += 1

    def longest_put(self, since=0.0, until=float("inf")):
        """Of the PUTs that ended after one moment and began before the other, in seconds."""
        with self._lock:
            return max((took for begun, took in self._puts if begun + took >= since and begun < until), default=0.0)

    def faults(self):
        """What none of the promises allows; '' if all is right."""
        bad = {name: count for name, count in self.counts.items() if count and name not in ("reads", "writes")}
        if not self.counts["reads"] or not self.counts["writes"]:
            bad["reads or writes"] = 0
        return ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in bad.items())
