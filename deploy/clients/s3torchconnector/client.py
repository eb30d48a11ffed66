"""Virtual-host style, its default wherever the endpoint is a name; ./run makes BUCKET.localhost resolve."""

from contract import BUCKET, ENDPOINT, FROM, KEYS, LARGE, LARGE_KEY, NAMED_KEY, SMALL, SMALL_KEY, TO, expect
from s3torchconnector import S3Checkpoint, S3IterableDataset, S3MapDataset
from s3torchconnector._s3client import S3Client
import torch

REGION = "us-east-1"
named = ENDPOINT.replace("127.0.0.1", "localhost")
client = S3Client(REGION, endpoint=named)


def put(key, content):
    with client.put_object(BUCKET, key) as writer:
        writer.write(content)


put(SMALL_KEY, SMALL)
put(NAMED_KEY, SMALL)
put(LARGE_KEY, LARGE)  # the CRT cuts it into parts of 8 MiB

for _ in range(3):
    expect(client.get_object(BUCKET, SMALL_KEY).read() == SMALL, "small object")
    expect(client.get_object(BUCKET, LARGE_KEY).read() == LARGE, "large object")
expect(client.get_object(BUCKET, NAMED_KEY).read() == SMALL, "object with a hard name")
reader = client.get_object(BUCKET, LARGE_KEY)
reader.seek(FROM)
expect(reader.read(TO - FROM) == LARGE[FROM:TO], "range")
expect(client.head_object(BUCKET, LARGE_KEY).size == len(LARGE), "length")

uri = f"s3://{BUCKET}"
dataset = S3MapDataset.from_prefix(uri, region=REGION, endpoint=named)
expect(sorted(item.key for item in dataset) == KEYS, "map dataset")
lengths = {item.key: len(item.read()) for item in S3IterableDataset.from_prefix(uri, region=REGION, endpoint=named)}
expect(lengths[LARGE_KEY] == len(LARGE), "iterable dataset")

checkpoint = S3Checkpoint(region=REGION, endpoint=named)
tensor = torch.arange(100_000)
with checkpoint.writer(f"{uri}/checkpoint") as writer:
    torch.save(tensor, writer)
with checkpoint.reader(f"{uri}/checkpoint") as source:
    expect(torch.equal(torch.load(source), tensor), "checkpoint")
client.delete_object(BUCKET, "checkpoint")
