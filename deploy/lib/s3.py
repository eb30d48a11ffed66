"""An S3 client of the standard library's, which retries as the AWS SDKs' standard mode does.

An authority and a client's certificate come from AWS_CA_BUNDLE, CLIENT_CERTIFICATE and CLIENT_KEY.
"""

import hashlib
import hmac
import http.client
import os
import random
import ssl
import time
import urllib.parse

ATTEMPTS = 3
MOST_BACKOFF_SECONDS = 20
TIMEOUT_SECONDS = 60
RETRIED = {429, 500, 502, 503, 504}


class S3:
    """One connection, which is kept; for one thread. `keys`: access key, secret key, and a session's token if it has one."""

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
                                 self.signed(method, path, query, headers))
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

    def signed(self, method, path, query="", headers=()):
        """The headers of a request, with its signature among them; header names in lower case, the query as it is signed."""
        now, scope = self._now()
        headers = {"host": self.host, "x-amz-date": now, "x-amz-content-sha256": "UNSIGNED-PAYLOAD", **dict(headers)}
        if len(self._keys) > 2:
            headers["x-amz-security-token"] = self._keys[2]
        names = ";".join(sorted(headers))
        canonical = "\n".join([method, path, query, *(f"{name}:{headers[name]}" for name in sorted(headers)), "", names,
                               headers["x-amz-content-sha256"]])
        headers["Authorization"] = (f"AWS4-HMAC-SHA256 Credential={self._keys[0]}/{scope},SignedHeaders={names},"
                                    f"Signature={self._signature(canonical, now, scope)}")
        return headers

    def presigned(self, method, path, seconds=600):
        """The query of a URL that is good for so long, whose signature covers the host alone; `path` as it is signed."""
        now, scope = self._now()
        query = urllib.parse.urlencode({
            "X-Amz-Algorithm": "AWS4-HMAC-SHA256", "X-Amz-Credential": f"{self._keys[0]}/{scope}", "X-Amz-Date": now,
            "X-Amz-Expires": seconds, "X-Amz-SignedHeaders": "host"}, quote_via=urllib.parse.quote, safe="")
        canonical = "\n".join([method, path, query, f"host:{self.host}", "", "host", "UNSIGNED-PAYLOAD"])
        return f"{query}&X-Amz-Signature={self._signature(canonical, now, scope)}"

    @staticmethod
    def _now():
        """The time of a signature and its scope."""
        now = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
        return now, f"{now[:8]}/us-east-1/s3/aws4_request"

    def _signature(self, canonical, now, scope):
        to_sign = "\n".join(["AWS4-HMAC-SHA256", now, scope, hashlib.sha256(canonical.encode()).hexdigest()])
        key = b"AWS4" + self._keys[1].encode()
        for part in scope.split("/"):
            key = hmac.digest(key, part.encode(), "sha256")
        return hmac.new(key, to_sign.encode(), hashlib.sha256).hexdigest()


def ask(method, endpoint, path, keys, body=b""):
    """Status and body of the one answer, whatever the status; on a connection of its own."""
    client = S3(endpoint, keys, attempts=1)
    try:
        return client.request(method, path, body)
    finally:
        client.close()
