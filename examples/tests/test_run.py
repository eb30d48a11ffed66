"""The runner's own steps."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import os
import signal
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


def test_an_interrupt_is_a_line(runner: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def interrupt(_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(runner, "find_python_for", interrupt)
    monkeypatch.setattr(sys, "argv", ["run", "rag"])
    assert runner.main() == 130
    assert capsys.readouterr().err == "examples: interrupted\n"


SLOW = """
import sys, time
try:
    print("under way", flush=True)
    time.sleep(60)
except KeyboardInterrupt:
    sys.exit("slow: interrupted")
"""
RUN_IT = """
import sys
from importlib.machinery import SourceFileLoader
runner = SourceFileLoader("runner", sys.argv[1]).load_module()
runner.EXAMPLES = {"slow": sys.argv[2]}
sys.exit(runner.run("slow", [], sys.executable, {}))
"""


def test_an_interrupted_example_has_the_last_word(tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text(SLOW)
    process = subprocess.Popen([sys.executable, "-c", RUN_IT, RUN, tmp_path / "slow.py"], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True, start_new_session=True)
    assert process.stdout is not None
    assert any(line == "under way\n" for line in process.stdout)
    os.killpg(process.pid, signal.SIGINT)
    assert process.communicate(timeout=30)[1] == "slow: interrupted\n"
    assert process.returncode == 130
