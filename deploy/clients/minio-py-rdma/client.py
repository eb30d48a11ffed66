import os
from urllib.parse import urlsplit

from contract import BUCKET, ENDPOINT, GONE_KEY, KEYS, LARGE, LARGE_KEY, NAMED_KEY, SMALL, SMALL_KEY, expect
from minio import Minio, rdma

expect(rdma.is_available(), "libminiocpp finds RDMA")
s3 = Minio(endpoint=urlsplit(ENDPOINT).netloc, access_key=os.environ["AWS_ACCESS_KEY_ID"],
           secret_key=os.environ["AWS_SECRET_ACCESS_KEY"], secure=False, region="us-east-1", enable_rdma=True)


def write(bucket, key, content):
    # A bytearray is what selects RDMA.
    content = bytearray(content)
    s3.put_object(bucket_name=bucket, object_name=key, data=content, length=len(content))


def read(bucket, key, length):
    buffer = bytearray(length)
    moved = s3.get_object(bucket_name=bucket, object_name=key, into=buffer, length=length)
    expect(moved == length, f"{moved} bytes of {key}")
    return bytes(buffer)


for key in (SMALL_KEY, NAMED_KEY, GONE_KEY):
    write(BUCKET, key, SMALL)
write(BUCKET, LARGE_KEY, LARGE)

for _ in range(3):
    expect(read(BUCKET, SMALL_KEY, len(SMALL)) == SMALL, "small object")
    expect(read(BUCKET, LARGE_KEY, len(LARGE)) == LARGE, "large object")
expect(read(BUCKET, NAMED_KEY, len(SMALL)) == SMALL, "object with a hard name")

s3.remove_object(bucket_name=BUCKET, object_name=GONE_KEY)
expect(sorted(entry.object_name for entry in s3.list_objects(bucket_name=BUCKET, recursive=True)) == KEYS, "listing")

# A rule of the gateway keeps RDMA from this bucket: the SDK goes on over HTTP.
declined = BUCKET + "-declined"
s3.make_bucket(bucket_name=declined)
write(declined, "new", SMALL)
expect(read(declined, "new", len(SMALL)) == SMALL, "what was declined went over HTTP")
