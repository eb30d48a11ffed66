import urllib.request

import boto3
from botocore.config import Config
from botocore.exceptions import ClientError
from contract import BUCKET, FROM, GONE_KEY, KEYS, LARGE, LARGE_KEY, NAMED_KEY, SMALL, SMALL_KEY, TO, WORK, expect

s3 = boto3.client("s3")  # takes AWS_ENDPOINT_URL

s3.create_bucket(Bucket=BUCKET + "-own")
s3.delete_bucket(Bucket=BUCKET + "-own")

stored = s3.put_object(Bucket=BUCKET, Key=SMALL_KEY, Body=SMALL, Metadata={"epoch": "7"}, ContentType="text/x-model")
s3.put_object(Bucket=BUCKET, Key=NAMED_KEY, Body=SMALL, ChecksumAlgorithm="SHA256")
s3.put_object(Bucket=BUCKET, Key=GONE_KEY, Body=b"")
s3.upload_file(str(WORK / "large"), BUCKET, LARGE_KEY)

for _ in range(3):
    answer = s3.get_object(Bucket=BUCKET, Key=SMALL_KEY)
    expect(answer["Body"].read() == SMALL, "small object")
    expect(answer["ETag"] == stored["ETag"], "its ETag")
    expect(answer["Metadata"] == {"epoch": "7"} and answer["ContentType"] == "text/x-model", "its metadata")
    s3.download_file(BUCKET, LARGE_KEY, str(WORK / "down"))
    expect((WORK / "down").read_bytes() == LARGE, "large object")
expect(answer["ResponseMetadata"]["HTTPHeaders"]["x-cache"] in ("HIT", "REVALIDATED"), "the third read is a hit")

expect(s3.get_object(Bucket=BUCKET, Key=NAMED_KEY)["Body"].read() == SMALL, "object with a hard name")
part = s3.get_object(Bucket=BUCKET, Key=LARGE_KEY, Range=f"bytes={FROM}-{TO - 1}")
expect(part["Body"].read() == LARGE[FROM:TO], "range")
expect(part["ContentRange"] == f"bytes {FROM}-{TO - 1}/{len(LARGE)}", "its Content-Range")
expect(s3.get_object(Bucket=BUCKET, Key=LARGE_KEY, Range="bytes=-100")["Body"].read() == LARGE[-100:], "suffix range")
expect(s3.head_object(Bucket=BUCKET, Key=LARGE_KEY)["ContentLength"] == len(LARGE), "length")

# For an endpoint that is not AWS's it presigns by SigV2 unless told otherwise.
presigner = boto3.client("s3", config=Config(signature_version="s3v4"))
url = presigner.generate_presigned_url("get_object", {"Bucket": BUCKET, "Key": NAMED_KEY})
with urllib.request.urlopen(url) as answer:
    expect(answer.read() == SMALL, "presigned URL")

try:
    s3.get_object(Bucket=BUCKET, Key=SMALL_KEY, IfNoneMatch=stored["ETag"])
    expect(False, "If-None-Match with the object's ETag must give 304")
except ClientError as error:
    expect(error.response["ResponseMetadata"]["HTTPStatusCode"] == 304, "If-None-Match")

s3.delete_objects(Bucket=BUCKET, Delete={"Objects": [{"Key": GONE_KEY}]})
pages = s3.get_paginator("list_objects_v2").paginate(Bucket=BUCKET, PaginationConfig={"PageSize": 2})
expect(sorted(entry["Key"] for page in pages for entry in page["Contents"]) == KEYS, "listing in pages")
