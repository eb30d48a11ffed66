"""Requests to an S3 endpoint by presigned URLs, with nothing but the standard library."""

import datetime
import hashlib
import hmac
import urllib.error
import urllib.parse
import urllib.request


def presigned(method, endpoint, path, keys, region="us-east-1"):
    """A URL that SigV4 has signed for an hour; `keys` are the access and the secret key."""
    now = datetime.datetime.now(datetime.timezone.utc)
    stamp, scope = now.strftime("%Y%m%dT%H%M%SZ"), f"{now:%Y%m%d}/{region}/s3/aws4_request"
    query = urllib.parse.urlencode(sorted({
        "X-Amz-Algorithm": "AWS4-HMAC-SHA256", "X-Amz-Credential": f"{keys[0]}/{scope}", "X-Amz-Date": stamp,
        "X-Amz-Expires": "3600", "X-Amz-SignedHeaders": "host"}.items()), quote_via=urllib.parse.quote, safe="")
    host = urllib.parse.urlsplit(endpoint).netloc
    canonical = f"{method}\n{path}\n{query}\nhost:{host}\n\nhost\nUNSIGNED-PAYLOAD"
    text = f"AWS4-HMAC-SHA256\n{stamp}\n{scope}\n{hashlib.sha256(canonical.encode()).hexdigest()}"
    key = f"AWS4{keys[1]}".encode()
    for part in scope.split("/"):
        key = hmac.digest(key, part.encode(), "sha256")
    return f"{endpoint}{path}?{query}&X-Amz-Signature={hmac.new(key, text.encode(), 'sha256').hexdigest()}"


def ask(method, endpoint, path, keys, body=None, seconds=60):
    """Status and body of the answer, whatever the status."""
    request = urllib.request.Request(presigned(method, endpoint, path, keys), data=body, method=method,
                                     headers={"Content-Type": "application/octet-stream"} if body else {})
    try:
        with urllib.request.urlopen(request, timeout=seconds) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()
