"""Mistakes in arguments, which are told before anything is asked for."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from conftest import KEYS

import railhead


@pytest.fixture
def nowhere() -> Iterator[railhead.Client]:
    """A client whose gateway nobody needs."""
    with railhead.Client("http://127.0.0.1:1", fabric="http", credentials=KEYS) as client:
        yield client


def test_array_of_objects_is_none_that_a_gateway_writes(nowhere: railhead.Client) -> None:
    pytest.importorskip("numpy")
    for dtype in ("O", [("number", "i4"), ("held", "O")]):
        with pytest.raises(TypeError, match="Python objects"):
            nowhere.empty(3, dtype)
