"""A load of reads, with a check of each object's bytes.

    load.py ENDPOINT BUCKET SECONDS|- [--writes] [--large]
reads objects that `seed` made; with - until its standard input ends. It prints one JSON object.
Credentials come from AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, the rest of the environment is that of deploy/lib/s3.py.
"""

import hashlib
import http.client
import json
import os
import random
import sys
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "lib"))

from s3 import S3  # noqa: E402

OBJECTS = 48
# Copies of the largest, for --large.
LARGE_OBJECTS = 100
WORKERS = 6


def content(number):
    """Of the object of that number: from 1 KiB to 4 MiB."""
    return random.Random(number).randbytes(1024 << (number % 13))


def seed(client, bucket):
    for number in range(OBJECTS):
        status, body = client.request("PUT", f"/{bucket}/{number}", content(number))
        if status != 200:
            raise OSError(f"PUT {bucket}/{number}: {status} {body[:300]}")


class Load:
    """Several threads that read, and with `writes` write one of ten, until it is stopped."""

    def __init__(self, endpoint, keys, bucket, writes=False, large=False):
        self._endpoint, self._keys, self._bucket, self._writes, self._large = endpoint, keys, bucket, writes, large
        self._sums = [hashlib.sha256(content(number)).digest() for number in range(OBJECTS)]
        self._stopped = threading.Event()
        self._lock = threading.Lock()
        self.result = {"requests": 0, "failed": 0, "wrong": 0, "retries": 0, "errors": {}, "longest_ms": 0,
                       "longest_without_success_ms": 0, "failures": []}
        self._last_success = time.monotonic()

    def run(self, stop):
        threads = [threading.Thread(target=self._work, args=(index,)) for index in range(WORKERS)]
        self._last_success = time.monotonic()
        for thread in threads:
            thread.start()
        stop()
        self._stopped.set()
        for thread in threads:
            thread.join()
        return self.result

    def _work(self, index):
        random_ = random.Random(index)
        client = S3(self._endpoint, self._keys)
        while not self._stopped.is_set():
            number = 12 if self._large else random_.randrange(OBJECTS)
            name = f"large-{random_.randrange(LARGE_OBJECTS)}" if self._large else number
            write = self._writes and random_.random() < 0.1
            begun = time.monotonic()
            failure = None
            wrong = False
            try:
                if write:
                    status, body = client.request("PUT", f"/{self._bucket}/written-{index}", content(number))
                else:
                    status, body = client.request("GET", f"/{self._bucket}/{name}")
                    wrong = status == 200 and hashlib.sha256(body).digest() != self._sums[number]
                if status != 200:
                    failure = f"{status} {body[:120]!r}"
            except (OSError, http.client.HTTPException) as problem:
                failure = repr(problem)
            self._count(begun, failure, wrong)
        with self._lock:
            self.result["retries"] += client.retries
            for what, count in client.errors.items():
                self.result["errors"][what] = self.result["errors"].get(what, 0) + count

    def _count(self, begun, failure, wrong):
        now = time.monotonic()
        with self._lock:
            result = self.result
            result["requests"] += 1
            result["wrong"] += wrong
            result["longest_ms"] = max(result["longest_ms"], round(1000 * (now - begun)))
            if failure:
                result["failed"] += 1
                if len(result["failures"]) < 5:
                    result["failures"].append(failure)
            else:
                result["longest_without_success_ms"] = max(
                    result["longest_without_success_ms"], round(1000 * (now - self._last_success)))
                self._last_success = now


def main():
    if len(sys.argv) < 4:
        print(__doc__, file=sys.stderr)
        return 2
    endpoint, bucket, seconds = sys.argv[1:4]
    keys = os.environ["AWS_ACCESS_KEY_ID"], os.environ["AWS_SECRET_ACCESS_KEY"]
    load = Load(endpoint, keys, bucket, "--writes" in sys.argv, "--large" in sys.argv)
    print(json.dumps(load.run(sys.stdin.read if seconds == "-" else lambda: time.sleep(float(seconds)))))
    return 0


if __name__ == "__main__":
    sys.exit(main())
