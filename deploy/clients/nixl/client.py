"""NIXL's OBJ plugin as its wheel has it, over the drop-in for cuObject: the engine for Dell ObjectScale, in its default settings."""

import os
import time

import numpy
from contract import ENDPOINT, FROM, LARGE, LARGE_KEY, NAMED_KEY, SMALL, SMALL_KEY, TO, BUCKET, expect
from nixl_cu13._api import nixl_agent, nixl_agent_config

AGENT = "railhead"
SECONDS = 60

agent = nixl_agent(AGENT, nixl_agent_config(backends=[]))
agent.create_backend("OBJ", {
    "bucket": BUCKET, "endpoint_override": ENDPOINT.removeprefix("http://"), "scheme": "http",
    "access_key": os.environ["AWS_ACCESS_KEY_ID"], "secret_key": os.environ["AWS_SECRET_ACCESS_KEY"],
    "region": os.environ["AWS_REGION"], "use_virtual_addressing": "false", "accelerated": "true", "type": "dell"})


def transfer(operation, buffer, key, offset=0):
    """Moves the whole buffer to the object, or from the object's bytes at the offset, one-sided."""
    memory = [(buffer.ctypes.data, buffer.nbytes, 0)]
    registered = agent.register_memory([(*memory[0], "")], "DRAM")
    named = agent.register_memory([(offset, buffer.nbytes, 1, key)], "OBJ")
    request = agent.initialize_xfer(operation, agent.get_xfer_descs(memory, "DRAM"), named.trim(), AGENT)
    state = agent.transfer(request)
    until = time.monotonic() + SECONDS
    while state == "PROC" and time.monotonic() < until:
        time.sleep(0.001)
        state = agent.check_xfer_state(request)
    expect(state == "DONE", f"{operation} of {key}: {state}")
    agent.release_xfer_handle(request)
    agent.deregister_memory(named)
    agent.deregister_memory(registered)


def write(key, content):
    transfer("WRITE", numpy.frombuffer(content, dtype=numpy.uint8).copy(), key)


def read(key, length, offset=0):
    buffer = numpy.zeros(length, dtype=numpy.uint8)
    transfer("READ", buffer, key, offset)
    return buffer.tobytes()


def held(key):
    return agent.query_memory([(0, 1, 0, key)], "OBJ", "OBJ")[0] is not None


expect(not held(SMALL_KEY), "an object that was not written yet")
for key, content in ((SMALL_KEY, LARGE[:1000]), (SMALL_KEY, SMALL), (LARGE_KEY, LARGE), (NAMED_KEY, SMALL)):
    write(key, content)
expect(held(SMALL_KEY), "an object that was written")
for _ in range(3):
    expect(read(SMALL_KEY, len(SMALL)) == SMALL, "small object")
    expect(read(LARGE_KEY, len(LARGE)) == LARGE, "large object")
    expect(read(NAMED_KEY, len(SMALL)) == SMALL, "object with a hard name")
expect(read(LARGE_KEY, TO - FROM, FROM) == LARGE[FROM:TO], "range")
