import io
import os
from urllib.parse import urlsplit

from contract import (
    BUCKET, ENDPOINT, FROM, GONE_KEY, KEYS, LARGE, LARGE_KEY, NAMED_KEY, SMALL, SMALL_KEY, TO, WORK, expect)
from minio import Minio
from minio.deleteobjects import DeleteObject
import urllib3

s3 = Minio(urlsplit(ENDPOINT).netloc, os.environ["AWS_ACCESS_KEY_ID"], os.environ["AWS_SECRET_ACCESS_KEY"],
           secure=False)


def read(key, **part):
    answer = s3.get_object(BUCKET, key, **part)
    try:
        return answer.read(), answer.headers.get("x-cache")
    finally:
        answer.close()
        answer.release_conn()


s3.make_bucket(BUCKET + "-own")
s3.remove_bucket(BUCKET + "-own")

for key in (SMALL_KEY, NAMED_KEY, GONE_KEY):
    s3.put_object(BUCKET, key, io.BytesIO(SMALL), len(SMALL), metadata={"epoch": "7"})
s3.fput_object(BUCKET, LARGE_KEY, str(WORK / "large"), part_size=5 * 2**20)

for _ in range(3):
    content, cache = read(SMALL_KEY)
    expect(content == SMALL, "small object")
    s3.fget_object(BUCKET, LARGE_KEY, str(WORK / "down"))
    expect((WORK / "down").read_bytes() == LARGE, "large object")
expect(cache in ("HIT", "REVALIDATED"), "the third read is a hit")

expect(read(NAMED_KEY)[0] == SMALL, "object with a hard name")
expect(read(LARGE_KEY, offset=FROM, length=TO - FROM)[0] == LARGE[FROM:TO], "range")
stat = s3.stat_object(BUCKET, LARGE_KEY)
expect(stat.size == len(LARGE), "length")
expect(s3.stat_object(BUCKET, SMALL_KEY).metadata["x-amz-meta-epoch"] == "7", "metadata")

url = s3.presigned_get_object(BUCKET, NAMED_KEY)
expect(urllib3.request("GET", url).data == SMALL, "presigned URL")

expect(not list(s3.remove_objects(BUCKET, [DeleteObject(GONE_KEY)])), "removal")
expect(sorted(entry.object_name for entry in s3.list_objects(BUCKET, recursive=True)) == KEYS, "listing")
