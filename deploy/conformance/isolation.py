"""A pytest plugin: each test of the suite names its buckets with a prefix of its own.

The suite clears all buckets of one prefix before each test, so one bucket that a store cannot clear would fail whatever
runs after it.
"""

import sys

import pytest

PREFIX = "railhead-{random}-"


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup():
    suite = sys.modules.get("s3tests.functional")
    if suite is not None and suite.prefix is not None:
        suite.prefix = suite.choose_bucket_prefix(template=PREFIX)
