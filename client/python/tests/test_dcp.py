"""Checkpoints of torch.distributed.checkpoint. Run by a Python that has a torch with it; see check."""

from __future__ import annotations

import hashlib
import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import gateways
import pytest
import rack
from conftest import KEYS, ROOT, Rack, Request, ScriptedStore, environment_of
from dict_store import DictStore

import railhead

torch = pytest.importorskip("torch")
dcp = pytest.importorskip("torch.distributed.checkpoint", reason="no torch.distributed.checkpoint; pip install torch")
if not hasattr(dcp, "StorageWriter"):
    pytest.skip("a torch whose checkpoints have no StorageWriter; pip install torch", allow_module_level=True)

from torch.distributed.checkpoint.api import CheckpointException  # noqa: E402

from railhead.engines._layout import lay_out, part_bytes  # noqa: E402
from railhead.engines.dcp import RailheadReader, RailheadWriter  # noqa: E402

# Of torch itself, which takes a process alone for a mistake.
pytestmark = [pytest.mark.filterwarnings("ignore::UserWarning"), pytest.mark.filterwarnings("ignore::FutureWarning"),
              pytest.mark.filterwarnings("ignore::DeprecationWarning")]
MIB = 1 << 20


@pytest.fixture
def store(scripted: ScriptedStore) -> DictStore:
    scripted.script = DictStore()
    return scripted.script


@pytest.fixture
def kept(scripted: ScriptedStore, store: DictStore) -> Iterator[railhead.Client]:
    with scripted.client() as made:
        yield made


def state() -> dict[str, Any]:
    torch.manual_seed(1)
    return {"model": {"weights": torch.randn(33, 7), "half": torch.randn(5, 3).to(torch.bfloat16), "scalar": torch.tensor(1.5),
                      "mask": torch.tensor([True, False]), "empty": torch.empty(0, 4), "turned": torch.randn(4, 6).t(),
                      "large": torch.randn(700, 1000)},
            "step": 7, "note": "seven"}


def zeroes(of: dict[str, Any]) -> dict[str, Any]:
    return {"model": {name: torch.zeros_like(each) for name, each in of["model"].items()}, "step": 0, "note": ""}


def save(client: railhead.Client, url: str, what: dict[str, Any]) -> None:
    dcp.save(what, storage_writer=RailheadWriter(url, client=client))


def load(client: railhead.Client, url: str, into: dict[str, Any]) -> dict[str, Any]:
    dcp.load(into, storage_reader=RailheadReader(url, client=client))
    return into


def assert_same(got: dict[str, Any], wanted: dict[str, Any]) -> None:
    assert got["model"].keys() == wanted["model"].keys()
    for name, each in wanted["model"].items():
        assert torch.equal(got["model"][name], each), name
    assert {name: got[name] for name in got if name != "model"} == {name: wanted[name] for name in wanted if name != "model"}


# ---- In a store of the tests' own ----


def test_a_state_is_saved_and_loaded(kept: railhead.Client, store: DictStore) -> None:
    there = state()
    save(kept, "s3://ckpt/step-1", there)
    assert_same(load(kept, "s3://ckpt/step-1/", zeroes(there)), there)
    names = sorted(name.removeprefix("/ckpt/step-1/") for name in store.objects)
    assert names[0] == ".metadata"
    [file] = names[1:]
    assert file.startswith("__0_")
    assert file.endswith(".railhead")


def test_the_id_of_a_checkpoint_names_its_url(kept: railhead.Client, store: DictStore) -> None:
    there = {"a": torch.arange(10)}
    dcp.save(there, checkpoint_id="s3://ckpt/by-id", storage_writer=RailheadWriter(client=kept))
    got = {"a": torch.zeros(10, dtype=torch.int64)}
    dcp.load(got, checkpoint_id="s3://ckpt/by-id", storage_reader=RailheadReader(client=kept))
    assert torch.equal(got["a"], there["a"])
    assert RailheadWriter.validate_checkpoint_id("railhead://ckpt/x")
    assert not RailheadWriter.validate_checkpoint_id("/tmp/x")
    with pytest.raises(ValueError, match="BUCKET"):
        RailheadWriter("/tmp/x")


def test_a_save_goes_on_in_the_background(kept: railhead.Client, store: DictStore, tmp_path: Path,
                                          monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GLOO_SOCKET_IFNAME", "lo")
    torch.distributed.init_process_group("gloo", init_method=f"file://{tmp_path}/rendezvous", rank=0, world_size=1)
    try:
        there = torch.arange(10)
        done = dcp.async_save({"a": there}, storage_writer=RailheadWriter("s3://ckpt/async", client=kept))
        there.zero_()
        done.result(60)
        assert load(kept, "s3://ckpt/async", {"a": torch.zeros(10, dtype=torch.int64)})["a"].tolist() == list(range(10))
    finally:
        torch.distributed.destroy_process_group()


def test_a_rank_that_has_nothing_writes_no_object(kept: railhead.Client, scripted: ScriptedStore, store: DictStore) -> None:
    save(kept, "s3://ckpt/nothing", {})
    load(kept, "s3://ckpt/nothing", {})
    save(kept, "s3://ckpt/nothing", {"a": torch.empty(0, 3), "b": torch.empty(0)})
    assert load(kept, "s3://ckpt/nothing", {"a": torch.empty(0, 3)})["a"].shape == (0, 3)
    assert list(store.objects) == ["/ckpt/nothing/.metadata"]


def test_the_metadata_is_written_last(kept: railhead.Client, scripted: ScriptedStore, store: DictStore) -> None:
    save(kept, "s3://ckpt/last", {"a": torch.arange(10)})
    assert scripted.came("PUT")[-1] == "PUT /ckpt/last/.metadata"
    assert len(scripted.came("PUT")) == 2


def test_a_rank_that_cannot_write_fails_the_save(kept: railhead.Client, store: DictStore) -> None:
    store.broken_names = (".railhead",)
    with pytest.raises(CheckpointException, match="AccessDenied"):
        save(kept, "s3://ckpt/broken", {"a": torch.arange(10)})
    assert store.objects == {}


def test_what_was_not_finished_is_no_checkpoint(kept: railhead.Client, store: DictStore) -> None:
    save(kept, "s3://ckpt/unfinished", {"a": torch.arange(10)})
    del store.objects["/ckpt/unfinished/.metadata"]
    with pytest.raises(CheckpointException, match=r"there is no \.metadata, which a save writes last"):
        load(kept, "s3://ckpt/unfinished", {"a": torch.zeros(10)})


def test_a_save_over_a_checkpoint_replaces_it_whole(kept: railhead.Client, scripted: ScriptedStore, store: DictStore) -> None:
    save(kept, "s3://ckpt/again", {"a": torch.arange(10)})
    former = set(store.objects)
    store.broken_names = (".metadata",)
    with pytest.raises(CheckpointException, match="AccessDenied"):
        save(kept, "s3://ckpt/again", {"a": torch.arange(10, 20)})
    store.broken_names = ()
    assert former < set(store.objects)
    assert load(kept, "s3://ckpt/again", {"a": torch.zeros(10, dtype=torch.int64)})["a"][0] == 0
    save(kept, "s3://ckpt/again", {"a": torch.arange(20, 30)})
    assert load(kept, "s3://ckpt/again", {"a": torch.zeros(10, dtype=torch.int64)})["a"][0] == 20
    [gone] = former - set(store.objects)
    assert gone.endswith(".railhead")


def test_a_part_of_a_chunk_and_another_type_are_converted(kept: railhead.Client, store: DictStore) -> None:
    there = torch.randn(6, 8)
    save(kept, "s3://ckpt/types", {"a": there})
    assert torch.equal(load(kept, "s3://ckpt/types", {"a": torch.zeros(6, 8, dtype=torch.float64)})["a"], there.double())
    strided = torch.zeros(8, 6).t()
    assert torch.equal(load(kept, "s3://ckpt/types", {"a": strided})["a"], there)


def test_a_tensor_is_read_into_its_own_memory(kept: railhead.Client, store: DictStore, monkeypatch: pytest.MonkeyPatch) -> None:
    save(kept, "s3://ckpt/own", {"a": torch.arange(10)})
    monkeypatch.setattr("railhead.engines.dcp.empty", None)
    into = torch.zeros(10, dtype=torch.int64)
    address = into.data_ptr()
    got = load(kept, "s3://ckpt/own", {"a": into})["a"]
    assert (got.data_ptr(), got.tolist()) == (address, list(range(10)))


def test_an_object_that_is_short_fails(kept: railhead.Client, store: DictStore) -> None:
    save(kept, "s3://ckpt/short", {"a": torch.arange(10)})
    [name] = [name for name in store.objects if name.endswith(".railhead")]
    store.objects[name] = store.objects[name][:40]
    with pytest.raises(CheckpointException, match="ends at 40"):
        load(kept, "s3://ckpt/short", {"a": torch.zeros(10, dtype=torch.int64)})
    del store.objects[name]
    with pytest.raises(CheckpointException, match="NoSuchKey"):
        load(kept, "s3://ckpt/short", {"a": torch.zeros(10, dtype=torch.int64)})


class Evil:
    def __reduce__(self) -> tuple[Any, ...]:
        return os.system, ("true",)


def test_metadata_of_others_is_refused_and_runs_nothing(kept: railhead.Client, store: DictStore) -> None:
    for content, why in ((pickle.dumps(Evil()), r"system"), (b"no pickle", "no checkpoint of RailheadWriter"),
                         (pickle.dumps({}), "no checkpoint of RailheadWriter")):
        store.objects["/ckpt/evil/.metadata"] = content
        with pytest.raises(CheckpointException, match=why):
            load(kept, "s3://ckpt/evil", {"a": torch.zeros(1)})
    save(kept, "s3://ckpt/evil", {"a": torch.ones(1)})
    assert load(kept, "s3://ckpt/evil", {"a": torch.zeros(1)})["a"] == 1


def by_name(member: Any, protocol: int) -> tuple[Any, ...]:
    """Reduces a member of an enum as Python 3.11.2 does."""
    return getattr, (type(member), member.name)


def test_an_enum_that_goes_by_its_name_is_read_back(kept: railhead.Client, store: DictStore,
                                                    monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torch.distributed.checkpoint.metadata._MEM_FORMAT_ENCODING.__reduce_ex__", by_name)
    for value in (1.0, 2.0):
        save(kept, "s3://ckpt/enum", {"a": torch.full((3,), value)})
        assert load(kept, "s3://ckpt/enum", {"a": torch.zeros(3)})["a"].tolist() == [value] * 3
        assert len(store.objects) == 2
    metadata = RailheadReader("s3://ckpt/enum", client=kept).read_metadata()
    store.objects["/ckpt/enum/.metadata"] = pickle.dumps(metadata)  # of a version before
    assert load(kept, "s3://ckpt/enum", {"a": torch.zeros(3)})["a"].tolist() == [2.0] * 3


class Attribute:
    """Asks for what is no member of an enum."""

    def __reduce__(self) -> tuple[Any, ...]:
        return getattr, (torch.Size, "mro")


def test_attributes_of_others_are_refused(kept: railhead.Client, store: DictStore) -> None:
    store.objects["/ckpt/attribute/.metadata"] = pickle.dumps(Attribute())
    with pytest.raises(CheckpointException, match="no enum"):
        load(kept, "s3://ckpt/attribute", {"a": torch.zeros(1)})


def test_metadata_that_could_not_be_read_back_fails_the_save(kept: railhead.Client, store: DictStore) -> None:
    class Planner(dcp.DefaultSavePlanner):  # type: ignore[misc, name-defined]
        def create_global_plan(self, plans: Any) -> Any:
            plans, metadata = super().create_global_plan(plans)
            metadata.planner_data = Path("/")
            return plans, metadata

    save(kept, "s3://ckpt/planner", {"a": torch.ones(3)})
    with pytest.raises(CheckpointException, match=r"no load could read this checkpoint.*pathlib"):
        dcp.save({"a": torch.zeros(3)}, planner=Planner(), storage_writer=RailheadWriter("s3://ckpt/planner", client=kept))
    assert load(kept, "s3://ckpt/planner", {"a": torch.zeros(3)})["a"].tolist() == [1.0] * 3


def test_a_save_without_collectives_is_refused(kept: railhead.Client) -> None:
    with pytest.raises(ValueError, match="use_collectives"):
        RailheadWriter("s3://ckpt/x", client=kept).set_up_storage_writer(True, rank=0, use_collectives=False)


def test_a_folder_is_asked_for(kept: railhead.Client) -> None:
    with pytest.raises(ValueError, match="no URL"):
        RailheadReader(client=kept).read_metadata()


def test_parts_are_of_a_size_that_s3_takes() -> None:
    step = 8 * MIB
    sizes = [("a", 17 * MIB), ("b", 3), *((f"s{at}", 7 * MIB) for at in range(20)), ("c", 8 * MIB)]
    sections = lay_out(sizes, step)
    assert [section.items[0][0] for section in sections[:2]] == ["a", "c"]
    assert sum(section.nbytes for section in sections) == sum(nbytes for _, nbytes in sizes)
    for section in sections[:-1]:
        part = part_bytes(section.nbytes, step)
        lengths = [min(part, section.nbytes - at) for at in range(0, section.nbytes, part)]
        assert min(lengths) >= 5 * MIB
        assert max(lengths) < 2 * step


# ---- Where a gateway acknowledges at its disk ----


class AtDisk(DictStore):
    """
    As a gateway that has all at its disk: `is_flushed` says whether the store has it, too. Flushes of the prefixes of `discarded`
    are refused, and all writes are acknowledged at the `level`.
    """

    def __init__(self) -> None:
        super().__init__()
        self.is_flushed = False
        self.discarded: set[str] = set()
        self.level = "disk"

    def __call__(self, request: Request) -> None:
        if not request.path.startswith("/.railhead/flush"):
            super().__call__(request)
        elif any(quote(f"prefix={prefix}", safe="=") in request.path for prefix in self.discarded):
            request.answer(409, b"<Error><Code>InvalidRequest</Code><Message>An administrator has discarded it</Message></Error>")
        else:
            request.answer(200 if self.is_flushed else 503)

    def _put(self, request: Request, name: str) -> None:
        self.objects[name] = request.body
        request.answer(X_Railhead_Acknowledged=self.level)


@pytest.fixture
def at_disk(scripted: ScriptedStore) -> AtDisk:
    made = scripted.script = AtDisk()
    return made


def test_what_was_replaced_is_deleted_once_the_store_has_the_new_one(scripted: ScriptedStore, at_disk: AtDisk) -> None:
    with scripted.client() as client:
        writer = RailheadWriter("s3://ckpt/a", client=client)
        dcp.save({"a": torch.arange(10)}, storage_writer=writer)
        former = set(at_disk.objects)
        dcp.save({"a": torch.arange(10, 20)}, storage_writer=writer)
        assert former < set(at_disk.objects)
        with pytest.raises(railhead.DeadlineExceeded):
            writer.settle(timeout=0)
        assert former < set(at_disk.objects)
        at_disk.is_flushed = True
        assert writer.settle() == []
        assert len(at_disk.objects) == 2
        assert load(client, "s3://ckpt/a", {"a": torch.zeros(10, dtype=torch.int64)})["a"][0] == 10
        asked = len(scripted.asked)
        writer.settle()
        assert len(scripted.asked) == asked


def test_so_many_of_the_newest_checkpoints_are_kept(scripted: ScriptedStore, at_disk: AtDisk) -> None:
    at_disk.is_flushed = True
    at_disk.objects["/ckpt/run/notes.txt"] = at_disk.objects["/ckpt/run/step-1/deeper/.metadata"] = b"n"
    with scripted.client() as client:
        for step in (9, 10, 11, 8):
            writer = RailheadWriter(f"s3://ckpt/run/step-{step}", client=client)
            dcp.save({"a": torch.arange(step)}, storage_writer=writer)
        assert writer.settle(keep=2) == ["s3://ckpt/run/step-10/", "s3://ckpt/run/step-9/"]
        assert RailheadWriter("s3://ckpt/run/step-8", client=client).settle(keep=1) == []
        with pytest.raises(ValueError, match="keep"):
            writer.settle(keep=0)
    assert {name.split("/")[3] for name in at_disk.objects} == {"step-8", "step-11", "step-1", "notes.txt"}


def steps(store: DictStore) -> set[str]:
    return {name.split("/")[3] for name in store.objects}


def save_step(client: railhead.Client, step: int, writer: RailheadWriter | None = None) -> RailheadWriter:
    writer = writer or RailheadWriter(client=client)
    dcp.save({"a": torch.arange(step)}, checkpoint_id=f"s3://ckpt/run/step-{step}", storage_writer=writer)
    return writer


@pytest.mark.parametrize(("status", "code"), [(400, b"InvalidBucketName"), (403, b"AccessDenied")])
def test_a_store_that_acknowledges_itself_needs_no_flush(kept: railhead.Client, scripted: ScriptedStore,
                                                         store: DictStore, status: int, code: bytes) -> None:
    def no_gateway(request: Request) -> None:
        if request.path.startswith("/.railhead/flush"):
            request.answer(status, b"<Error><Code>%s</Code></Error>" % code)
        else:
            store(request)

    scripted.script = no_gateway
    assert save_step(kept, 1).settle(keep=1) == []
    assert not scripted.came("flush")
    assert save_step(kept, 2).settle(keep=1) == ["s3://ckpt/run/step-1/"]
    assert steps(store) == {"step-2"}


def test_nothing_is_deleted_after_a_save_that_failed(scripted: ScriptedStore, at_disk: AtDisk) -> None:
    at_disk.is_flushed = True
    with scripted.client() as client:
        save_step(client, 1)
        writer = save_step(client, 2)
        at_disk.broken_names = (".metadata",)
        with pytest.raises(CheckpointException, match="AccessDenied"):
            save_step(client, 3, writer)
        at_disk.broken_names = ()
        with pytest.raises(ValueError, match="step-3/: the last save is under way or has failed"):
            writer.settle(keep=1)
        assert steps(at_disk) == {"step-1", "step-2", "step-3"}
        save_step(client, 4, writer)
        assert writer.settle(keep=2) == ["s3://ckpt/run/step-1/"]


def test_settling_is_of_what_was_saved_and_not_of_another_url(scripted: ScriptedStore, at_disk: AtDisk) -> None:
    at_disk.is_flushed = True
    with scripted.client() as client:
        save_step(client, 1)
        writer = save_step(client, 2)
        writer.reset("s3://ckpt/run/step-3")
        assert writer.settle(keep=1) == ["s3://ckpt/run/step-1/"]
        assert steps(at_disk) == {"step-2"}


def test_nothing_is_deleted_for_a_checkpoint_that_is_gone(scripted: ScriptedStore, at_disk: AtDisk) -> None:
    at_disk.is_flushed = True
    with scripted.client() as client:
        save_step(client, 1)
        writer = save_step(client, 2)
        del at_disk.objects["/ckpt/run/step-2/.metadata"]
        with pytest.raises(railhead.NotFound, match="no other checkpoint is deleted"):
            writer.settle(keep=1)
    assert "/ckpt/run/step-1/.metadata" in at_disk.objects


def test_what_is_replaced_stays_where_a_ranks_object_was_discarded(scripted: ScriptedStore, at_disk: AtDisk) -> None:
    at_disk.is_flushed, at_disk.level = True, "store"
    with scripted.client() as client:
        writer = save_step(client, 1)
        former = set(at_disk.objects)
        at_disk.discarded.add("run/step-1/")
        save_step(client, 1, writer)
        assert former < set(at_disk.objects)
        with pytest.raises(railhead.StoreError, match="has discarded it") as raised:
            writer.settle(keep=1)
        assert raised.value.status == 409
        assert former < set(at_disk.objects)
        at_disk.discarded.clear()
        writer.settle()
        assert len(at_disk.objects) == 2


def test_older_checkpoints_stay_where_one_acknowledged_by_the_store_lacks_an_object(scripted: ScriptedStore,
                                                                                    at_disk: AtDisk) -> None:
    at_disk.is_flushed, at_disk.level = True, "store"
    with scripted.client() as client:
        save_step(client, 1)
        at_disk.discarded.add("run/step-2/")
        with pytest.raises(railhead.StoreError, match="has discarded it"):
            save_step(client, 2).settle(keep=1)
    assert steps(at_disk) == {"step-1", "step-2"}


def test_a_discard_keeps_no_other_checkpoint_from_being_settled(scripted: ScriptedStore, at_disk: AtDisk) -> None:
    at_disk.is_flushed = True
    at_disk.discarded.add("run/step-2/")
    with scripted.client() as client:
        writer = save_step(client, 1)
        for step in (2, 3):
            save_step(client, step, writer)
        with pytest.raises(railhead.StoreError, match="has discarded it"):
            writer.settle(keep=2)
        assert steps(at_disk) == {"step-2", "step-3"}
        save_step(client, 4, writer)
        assert writer.settle(keep=2) == ["s3://ckpt/run/step-2/"]
        assert steps(at_disk) == {"step-3", "step-4"}


class SlowStore(DictStore):
    """Takes no write before `goes_on` is set. Its buckets are unversioned."""

    def __init__(self) -> None:
        super().__init__()
        self.goes_on = threading.Event()

    def __call__(self, request: Request) -> None:
        if request.path.endswith("?versioning"):
            request.answer(body=b"<VersioningConfiguration/>")
        elif request.path.endswith("?encryption"):
            request.answer(404)
        else:
            super().__call__(request)

    def _put(self, request: Request, name: str) -> None:
        self.goes_on.wait()
        self.objects[name] = request.body
        request.answer(ETag=f'"{hashlib.md5(request.body).hexdigest()}"')


@pytest.mark.parametrize("fabric", ["loopback", "http"])
def test_a_save_at_the_gateways_disk_outlives_a_stopped_store(scripted: ScriptedStore, tmp_path: Path, fabric: str) -> None:
    if os.environ.get("RAILHEAD_NO_GATEWAY"):
        pytest.skip("no gateway: ./railhead is not built")
    store = scripted.script = SlowStore()
    former = "/ckpt/run/step-1/.metadata"
    try:
        with (gateways.acknowledging(tmp_path, scripted.endpoint, "ckpt") as gateway,
              railhead.Client(gateway.endpoint, credentials=KEYS, region="us-east-1", fabric=fabric) as client):
            store.goes_on.set()
            writer = RailheadWriter("s3://ckpt/run/step-1", client=client)
            dcp.save({"a": torch.arange(10)}, storage_writer=writer)
            assert writer.settle(keep=1) == []
            assert former in store.objects
            store.goes_on.clear()
            writer = RailheadWriter("s3://ckpt/run/step-2", client=client)
            dcp.save({"a": torch.arange(10, 20)}, storage_writer=writer)
            assert "/ckpt/run/step-2/.metadata" not in store.objects
            with pytest.raises(railhead.DeadlineExceeded, match="of this principal: 2, with"):
                writer.settle(keep=1, timeout=2)
            assert former in store.objects
            assert load(client, "s3://ckpt/run/step-2", {"a": torch.zeros(10, dtype=torch.int64)})["a"][0] == 10
            store.goes_on.set()
            assert writer.settle(keep=1, timeout=60) == ["s3://ckpt/run/step-1/"]
            assert {name.split("/")[3] for name in store.objects} == {"step-2"}
            assert len(store.objects) == 2
    except rack.CannotStart as reason:
        pytest.skip(f"no gateway: {reason}")
    finally:
        store.goes_on.set()


# ---- Through a gateway ----


@pytest.mark.parametrize("fabric", ["loopback", "http"])
def test_large_states_go_in_parts_over_the_fabric(running: Rack, fabric: str) -> None:
    torch.manual_seed(2)
    there = {f"layer{at}": torch.randn(1 << 20) for at in range(12)} | {"large": torch.randn(5 * MIB), "half": torch.randn(
        3 * MIB).to(torch.bfloat16), "step": 9}
    with running.client(fabric=fabric) as client:
        save(client, f"s3://data/dcp-{fabric}", there)
        into = {name: torch.zeros_like(each) if name != "step" else 0 for name, each in there.items()}
        load(client, f"s3://data/dcp-{fabric}", into)
        for name, each in there.items():
            assert into[name] == each if name == "step" else torch.equal(into[name], each), name
        moved = sum(each.nbytes for name, each in there.items() if name != "step")
        path = fabric if fabric == "loopback" else next(iter(client.report().bytes_by_path))
        assert client.report().bytes_by_path[path] >= 2 * moved


def test_memory_of_the_gateway_is_written_and_read_as_it_is(running: Rack) -> None:
    from railhead.torch import empty

    with running.client(fabric="loopback") as client:
        there = {"a": empty(client, 5 * MIB, torch.float32)}
        there["a"].copy_(torch.randn(5 * MIB))
        before = there["a"].clone()
        save(client, "s3://data/dcp-own", there)
        there["a"].zero_()
        load(client, "s3://data/dcp-own", there)
        assert torch.equal(there["a"], before)


def test_two_ranks_save_shards_and_load_others(running: Rack, tmp_path: Path) -> None:
    def run(what: str) -> None:
        ranks = [subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("dcp_rank.py")), what, f"file://{tmp_path}/{what}", "s3://data/dcp-two"],
            env={**os.environ, **environment_of(running), "RANK": str(rank), "WORLD_SIZE": "2", "GLOO_SOCKET_IFNAME": "lo",
                 "RAILHEAD_CHECKOUT": str(ROOT)}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            for rank in range(2)]
        told = [rank.communicate(timeout=180)[0] for rank in ranks]
        assert [rank.returncode for rank in ranks] == [0, 0], "\n".join(told)

    run("save")
    run("load")
    with running.client(fabric="loopback") as client:
        into = {"rows": torch.zeros(64, 48), "columns": torch.zeros(64, 48), "whole": torch.zeros(10), "step": 0}
        load(client, "s3://data/dcp-two", into)
        files = {each.url.rpartition("/")[2][:4] for each in client.list("s3://data/dcp-two/")}
    assert torch.equal(into["rows"], torch.arange(64 * 48.0).view(64, 48))
    assert torch.equal(into["columns"], -torch.arange(64 * 48.0).view(64, 48))
    assert torch.equal(into["whole"], torch.arange(10.0))
    assert into["step"] == 5
    assert files == {".met", "__0_", "__1_"}
