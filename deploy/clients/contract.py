"""What each Python client here is given by ./run, and what it must leave in its bucket: see ./run --help."""

import os
from pathlib import Path

ENDPOINT = os.environ["ENDPOINT"]
BUCKET = os.environ["BUCKET"]
WORK = Path(os.environ["WORK"])
SMALL = (WORK / "small").read_bytes()
LARGE = (WORK / "large").read_bytes()
SMALL_KEY, LARGE_KEY, NAMED_KEY, GONE_KEY = (os.environ[name] for name in
                                             ("SMALL_KEY", "LARGE_KEY", "NAMED_KEY", "GONE_KEY"))
KEYS = sorted([SMALL_KEY, LARGE_KEY, NAMED_KEY])
# A range that begins and ends inside of pages and parts.
FROM, TO = 5_000_001, 13_000_003


def expect(condition, what):
    if not condition:
        raise SystemExit(f"wrong: {what}")
