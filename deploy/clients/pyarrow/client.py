from urllib.parse import urlsplit

import pyarrow as arrow
import pyarrow.dataset
import pyarrow.parquet
from contract import BUCKET, ENDPOINT, FROM, GONE_KEY, KEYS, LARGE, LARGE_KEY, NAMED_KEY, SMALL, SMALL_KEY, TO, expect
from pyarrow import fs

s3 = fs.S3FileSystem(endpoint_override=urlsplit(ENDPOINT).netloc, scheme="http")


def path(key):
    return f"{BUCKET}/{key}"


def write(key, content):
    with s3.open_output_stream(path(key)) as out:  # always in parts beyond 10 MiB
        out.write(content)


def read(key):
    with s3.open_input_stream(path(key)) as source:
        return source.read()


write(SMALL_KEY, SMALL)
write(NAMED_KEY, SMALL)
write(GONE_KEY, SMALL)
write(LARGE_KEY, LARGE)

for _ in range(3):
    expect(read(SMALL_KEY) == SMALL, "small object")
    expect(read(LARGE_KEY) == LARGE, "large object")
expect(read(NAMED_KEY) == SMALL, "object with a hard name")
with s3.open_input_file(path(LARGE_KEY)) as source:
    expect(source.size() == len(LARGE), "length")
    expect(source.read_at(TO - FROM, FROM) == LARGE[FROM:TO], "range")

s3.delete_file(path(GONE_KEY))
files = [info.path for info in s3.get_file_info(fs.FileSelector(BUCKET, recursive=True)) if info.is_file]
expect(sorted(files) == [path(key) for key in KEYS], "listing")

table = arrow.table({"n": range(10_000)})
arrow.parquet.write_table(table, path("table.parquet"), filesystem=s3)
expect(arrow.dataset.dataset(path("table.parquet"), filesystem=s3).to_table(columns=["n"]) == table, "parquet")
s3.delete_file(path("table.parquet"))
