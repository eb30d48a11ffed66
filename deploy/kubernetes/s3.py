"""An S3 client of the standard library's, which retries as the AWS SDKs' standard mode does, and a load made of it.

    s3.py load ENDPOINT BUCKET SECONDS|- [--writes] [--large]
reads objects that `seed` made, and checks each; with - until its standard input ends. It prints one JSON object.
Credentials come from AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, an authority and a client's certificate from
AWS_CA_BUNDLE, CLIENT_CERTIFICATE and CLIENT_KEY.
"""

import hashlib
import hmac
import http.client
import json
import os
import random
import ssl
import sys
import threading
import time
import urllib.parse

ATTEMPTS = 3
MOST_BACKOFF_SECONDS = 20
TIMEOUT_SECONDS = 30
RETRIED = {429, 500, 502, 503, 504}
OBJECTS = 48
# Copies of the largest, for --large.
LARGE_OBJECTS = 100
WORKERS = 6


class S3:
    """One connection, which is kept; for one thread."""

    def __init__(self, endpoint, keys, attempts=ATTEMPTS):
        url = urllib.parse.urlsplit(endpoint)
        self.host, self.tls, self._keys, self._attempts = url.netloc, url.scheme == "https", keys, attempts
        self._connection = None
        self.retries = 0
        self.errors = {}
        # Of the last answer.
        self.headers = {}

    def request(self, method, path, body=b"", query="", headers=()):
        """The last answer: its status and its body. A connection that fails counts as an answer to be retried."""
        for attempt in range(self._attempts):
            if attempt:
                self.retries += 1
                time.sleep(min(random.random() * 2**attempt, MOST_BACKOFF_SECONDS))
            try:
                status, got = self._once(method, path, body, query, dict(headers))
                failure = None
                if status not in RETRIED:
                    return status, got
                self._count(f"status {status}")
            except (OSError, http.client.HTTPException) as problem:
                self.close()
                failure = problem
                self._count(type(problem).__name__)
        if failure:
            raise failure
        return status, got

    def _count(self, what):
        self.errors[what] = self.errors.get(what, 0) + 1

    def close(self):
        if self._connection:
            self._connection.close()
        self._connection = None

    def _once(self, method, path, body, query, headers):
        if self._connection is None:
            self._connection = self._connect()
        self._connection.request(method, path + ("?" + query if query else ""), body,
                                 self._signed(method, path, query, headers))
        answer = self._connection.getresponse()
        got = answer.read()
        self.headers = answer.headers
        if answer.will_close:
            self.close()
        return answer.status, got

    def _connect(self):
        if not self.tls:
            return http.client.HTTPConnection(self.host, timeout=TIMEOUT_SECONDS)
        context = ssl.create_default_context(cafile=os.environ.get("AWS_CA_BUNDLE"))
        context.check_hostname = False
        if os.environ.get("CLIENT_CERTIFICATE"):
            context.load_cert_chain(os.environ["CLIENT_CERTIFICATE"], os.environ["CLIENT_KEY"])
        return http.client.HTTPSConnection(self.host, timeout=TIMEOUT_SECONDS, context=context)

    def _signed(self, method, path, query, headers):
        now = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
        scope = f"{now[:8]}/us-east-1/s3/aws4_request"
        headers = {"host": self.host, "x-amz-date": now, "x-amz-content-sha256": "UNSIGNED-PAYLOAD", **headers}
        names = ";".join(sorted(headers))
        canonical = "\n".join([method, path, query, *(f"{name}:{headers[name]}" for name in sorted(headers)), "", names,
                               "UNSIGNED-PAYLOAD"])
        to_sign = "\n".join(["AWS4-HMAC-SHA256", now, scope, hashlib.sha256(canonical.encode()).hexdigest()])
        key = b"AWS4" + self._keys[1].encode()
        for part in scope.split("/"):
            key = hmac.digest(key, part.encode(), "sha256")
        signature = hmac.new(key, to_sign.encode(), hashlib.sha256).hexdigest()
        headers["Authorization"] = (f"AWS4-HMAC-SHA256 Credential={self._keys[0]}/{scope},SignedHeaders={names},"
                                    f"Signature={signature}")
        return headers


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
    if len(sys.argv) < 5 or sys.argv[1] != "load":
        print(__doc__, file=sys.stderr)
        return 2
    endpoint, bucket, seconds = sys.argv[2:5]
    keys = os.environ["AWS_ACCESS_KEY_ID"], os.environ["AWS_SECRET_ACCESS_KEY"]
    load = Load(endpoint, keys, bucket, "--writes" in sys.argv, "--large" in sys.argv)
    print(json.dumps(load.run(sys.stdin.read if seconds == "-" else lambda: time.sleep(float(seconds)))))
    return 0


if __name__ == "__main__":
    sys.exit(main())
