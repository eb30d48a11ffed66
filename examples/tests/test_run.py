"""The runner's own steps."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

RUN = Path(__file__).parents[1] / "run"


@pytest.fixture(scope="module")
def runner() -> Any:
    loader = importlib.machinery.SourceFileLoader("runner", str(RUN))
    spec = importlib.util.spec_from_loader("runner", loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


def test_the_environment_has_the_torch_of_the_environment_that_was_named(runner: Any, tmp_path: Path) -> None:
    named = tmp_path / "named/bin/python"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "named"], check=True)
    [packages] = (tmp_path / "named").glob("lib/python*/site-packages")
    (packages / "elsewhere.pth").write_text(str(tmp_path / "source"))  # as a package that is edited is installed
    (tmp_path / "source/torch").mkdir(parents=True)
    (tmp_path / "source/torch/__init__.py").touch()
    runner.make_environment(named, tmp_path / "made")
    found = subprocess.run([tmp_path / "made/bin/python", "-c", "import torch; print(torch.__file__)"], check=True,
                           capture_output=True, text=True)
    assert found.stdout.strip() == str(tmp_path / "source/torch/__init__.py")


@pytest.mark.parametrize(("words", "is_refused"), [
    (["rag", "backup", "--json", "x.json"], True), (["all", "--json=x.json"], True),
    (["rag", "backup", "--json", "{}.json"], False), (["rag", "--json", "x.json"], False), (["rag", "backup"], False)])
def test_examples_do_not_write_into_one_file(runner: Any, monkeypatch: pytest.MonkeyPatch, words: list[str],
                                             is_refused: bool) -> None:
    monkeypatch.setattr(sys, "argv", ["run", *words])
    if is_refused:
        with pytest.raises(SystemExit) as left:
            runner.arguments()
        assert left.value.code == 2
    else:
        runner.arguments()
