"""Prepares a client's bucket in the store itself, or verifies what the client left there, and that hits are its bytes.

Arguments: prepare or verify, the store's endpoint, the gateway's, the bucket, access key, secret key.
Standard input: {key: SHA-256} of what must be there, and nothing else.
"""

import hashlib
import json
import sys

import boto3

TASK, STORE, GATEWAY, BUCKET, ACCESS_KEY, SECRET_KEY = sys.argv[1:]
HITS = "HIT", "REVALIDATED"


def client(endpoint):
    return boto3.client("s3", endpoint_url=endpoint, region_name="us-east-1", aws_access_key_id=ACCESS_KEY,
                        aws_secret_access_key=SECRET_KEY)


def verify(expected):
    direct, through = client(STORE), client(GATEWAY)
    found = [entry["Key"] for entry in direct.list_objects_v2(Bucket=BUCKET).get("Contents", [])]
    assert sorted(found) == sorted(expected), f"the store has {found}"
    for key, sha256 in expected.items():
        for _ in range(2):
            for side in (direct, through):
                answer = side.get_object(Bucket=BUCKET, Key=key)
                assert hashlib.sha256(answer["Body"].read()).hexdigest() == sha256, f"{key} is not what was written"
        cache = answer["ResponseMetadata"]["HTTPHeaders"]["x-cache"]
        assert cache in HITS, f"{key} was read again, and is a {cache}"


if TASK == "prepare":
    client(STORE).create_bucket(Bucket=BUCKET)
else:
    verify(json.load(sys.stdin))
