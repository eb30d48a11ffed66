import s3fs
from contract import BUCKET, FROM, GONE_KEY, KEYS, LARGE, LARGE_KEY, NAMED_KEY, SMALL, SMALL_KEY, TO, WORK, expect

fs = s3fs.S3FileSystem()  # takes AWS_ENDPOINT_URL


def path(key):
    return f"{BUCKET}/{key}"


fs.pipe(path(SMALL_KEY), SMALL)
fs.pipe(path(NAMED_KEY), SMALL)
fs.pipe(path(GONE_KEY), SMALL)
with fs.open(path(LARGE_KEY), "wb", block_size=5 * 2**20) as out:  # in parts
    out.write(LARGE)

for _ in range(3):
    fs.invalidate_cache()
    expect(fs.cat(path(SMALL_KEY)) == SMALL, "small object")
    fs.get(path(LARGE_KEY), str(WORK / "down"))
    expect((WORK / "down").read_bytes() == LARGE, "large object")

expect(fs.cat(path(NAMED_KEY)) == SMALL, "object with a hard name")
with fs.open(path(LARGE_KEY), "rb") as source:
    source.seek(FROM)
    expect(source.read(TO - FROM) == LARGE[FROM:TO], "range")
expect(fs.cat_file(path(LARGE_KEY), start=-100) == LARGE[-100:], "suffix range")
expect(fs.size(path(LARGE_KEY)) == len(LARGE), "length")

fs.rm(path(GONE_KEY))
fs.invalidate_cache()
expect(sorted(fs.find(BUCKET)) == [path(key) for key in KEYS], "listing")
expect(not fs.exists(path(GONE_KEY)), "removed object is gone")
