"""What has the steps of a transfer done: a thread, or an event loop."""

from __future__ import annotations

import asyncio
from typing import TypeVar

from railhead._session import LoopBox, Session, ThreadBox
from railhead._transfer import Steps

Result = TypeVar("Result")


def by_thread(steps: Steps[Result], box: ThreadBox) -> Result:
    value: object = None
    error: BaseException | None = None
    while True:
        try:
            need = steps.throw(error) if error is not None else steps.send(value)
        except StopIteration as stop:
            result: Result = stop.value
            return result
        value = error = None
        try:
            if isinstance(need, Session):
                need.wait(box)
            elif need is None:
                box.wait()
            else:
                value = need()
        except BaseException as raised:  # an interrupt, too, is the transfer's to end
            error = raised


async def by_loop(steps: Steps[Result], box: LoopBox) -> Result:
    value: object = None
    error: BaseException | None = None
    while True:
        try:
            need = steps.throw(error) if error is not None else steps.send(value)
        except StopIteration as stop:
            result: Result = stop.value
            return result
        value = error = None
        try:
            if isinstance(need, Session):
                need.watch(box.loop)
                try:
                    await box.wait()
                finally:
                    need.unwatch(box.loop)
            elif need is None:
                await box.wait()
            else:
                value = await _on_a_thread(need)
        except BaseException as raised:
            error = raised


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
