import boto3
from contract import (
    BUCKET, ENDPOINT, FROM, GONE_KEY, KEYS, LARGE, LARGE_KEY, NAMED_KEY, SMALL, SMALL_KEY, TO, WORK, expect)
from multistorageclient import StorageClient, StorageClientConfig
from multistorageclient.types import Range

DECLINED = BUCKET + "-declined"


def storage(bucket, provider, **options):
    options = {"base_path": bucket, "endpoint_url": ENDPOINT, "region_name": "us-east-1", **options}
    profile = {"storage_provider": {"type": provider, "options": options}}
    return StorageClient(StorageClientConfig.from_dict({"profiles": {"rack": profile}}, profile="rack"))


def expect_decline(what, call):
    try:
        call()
    except RuntimeError as failure:
        expect("declined RDMA" in str(failure), f"{what}: {failure}")
    else:
        expect(False, f"{what} was not declined")


# Parts of 5 MiB: the large object is written and read in five.
rack = storage(BUCKET, "s3_cuobject", rdma={"multipart_chunksize": 5 * 2**20})

for key in (SMALL_KEY, NAMED_KEY, GONE_KEY):
    rack.write(key, SMALL)
rack.upload_file(LARGE_KEY, str(WORK / "large"))

for _ in range(3):
    expect(rack.read(SMALL_KEY) == SMALL, "small object")
    expect(rack.read(LARGE_KEY) == LARGE, "large object in parts")
rack.download_file(LARGE_KEY, str(WORK / "down"))
expect((WORK / "down").read_bytes() == LARGE, "large object to a file")
whole = storage(BUCKET, "s3_cuobject")
expect(whole.read(LARGE_KEY) == LARGE, "large object at once")
expect(whole.read(LARGE_KEY, byte_range=Range(FROM, TO - FROM)) == LARGE[FROM:TO], "range")
expect(whole.read(LARGE_KEY, byte_range=Range(len(LARGE) - 10, 100)) == LARGE[-10:], "range past the end")
expect(rack.read(NAMED_KEY) == SMALL, "object with a hard name")

rack.write("empty", b"")
expect(rack.read("empty") == b"", "empty object")
rack.delete("empty")
try:
    rack.read("nothing")
except FileNotFoundError:
    pass
else:
    expect(False, "what is not there was read")
rack.delete(GONE_KEY)
expect(sorted(entry.key for entry in rack.list()) == KEYS, "listing")

# A rule of the gateway keeps RDMA from this bucket: nothing is stored, and nothing is taken for read.
s3 = boto3.client("s3", endpoint_url=ENDPOINT)
s3.create_bucket(Bucket=DECLINED)
s3.put_object(Bucket=DECLINED, Key="there", Body=SMALL)
without = storage(DECLINED, "s3_cuobject")
expect_decline("GET", lambda: without.read("there"))
expect_decline("PUT", lambda: without.write("new", SMALL))
expect([entry["Key"] for entry in s3.list_objects_v2(Bucket=DECLINED)["Contents"]] == ["there"], "a declined PUT")
