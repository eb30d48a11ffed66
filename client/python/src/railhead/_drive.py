"""What has the steps of a transfer done: a thread, or an event loop."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any, TypeVar

from railhead._session import LoopBox, Session, ThreadBox
from railhead._transfer import Steps

Result = TypeVar("Result")


def by_thread(steps: Steps[Result], box: ThreadBox) -> Result:
    """Whatever is raised here, at the loop's back edge or anywhere else, an interrupt, too, is the transfer's to end."""
    generator: Any = steps  # which has a frame until it is over
    error: BaseException | None = None
    while True:
        try:
            value: object = None
            while True:
                need = steps.send(value) if error is None else steps.throw(error)
                value = error = None
                if isinstance(need, Session):
                    need.wait(box)
                elif isinstance(need, tuple):
                    box.wait_in(need)
                elif need is None:
                    box.wait()
                else:
                    value = need()
        except BaseException as raised:
            if generator.gi_frame is not None:
                error = raised
            elif isinstance(raised, StopIteration):
                result: Result = raised.value
                return result
            else:
                raise


async def by_loop(steps: Steps[Result], box: LoopBox) -> Result:
    """As by_thread."""
    generator: Any = steps  # which has a frame until it is over
    error: BaseException | None = None
    while True:
        try:
            value: object = None
            while True:
                need = steps.send(value) if error is None else steps.throw(error)
                value = error = None
                if isinstance(need, Session):
                    await box.wait_in([need])
                elif isinstance(need, tuple):
                    await box.wait_in(need)
                elif need is None:
                    await box.wait()
                else:
                    value = await _on_a_thread(need)
        except GeneratorExit:
            _abandon(steps)
            raise
        except BaseException as raised:
            if generator.gi_frame is not None:
                error = raised
            elif isinstance(raised, StopIteration):
                result: Result = raised.value
                return result
            else:
                raise


def _abandon(steps: Steps[Result]) -> None:
    """The loop runs no more, so nobody can wait: what is under way has its memory held by the session."""
    generator: Any = steps
    while generator.gi_frame is not None:
        with suppress(AssertionError, StopIteration):
            steps.throw(AssertionError("the event loop does not run any more"))


async def _on_a_thread(function: object) -> object:
    """Returns when the function did, even where it is cancelled: what it began is to be known."""
    assert callable(function)
    running = asyncio.ensure_future(asyncio.to_thread(function))
    cancelled: BaseException | None = None
    while not running.done():
        try:
            await asyncio.shield(running)
        except asyncio.CancelledError as error:
            cancelled = error
        except BaseException:
            break
    if cancelled is not None and running.exception() is None:
        raise cancelled
    return running.result()
