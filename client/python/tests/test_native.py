"""The declarations are the header's."""

import ctypes
import re
import subprocess
from pathlib import Path

from conftest import needs_cc

from railhead import _native

INCLUDE = Path(__file__).resolve().parents[2] / "c/include"
HEADER = (INCLUDE / "railhead/railhead.h").read_text()

STRUCTS = {"railhead_http": _native.Http, "railhead_options": _native.Options, "railhead_memory": _native.Memory,
           "railhead_window": _native.Window, "railhead_request": _native.Request, "railhead_completion": _native.Completion}
CONSTANTS = [name for name, value in vars(_native).items() if name.isupper() and isinstance(value, int) and name != "CACHE"]


def expressions() -> list[tuple[str, int]]:
    expected = [(f"RAILHEAD_{name}", getattr(_native, name)) for name in CONSTANTS]
    expected += [(f"RAILHEAD_CACHE_{name.upper()}", value) for value, name in enumerate(_native.CACHE)]
    for name, struct in STRUCTS.items():
        expected.append((f"sizeof({name})", ctypes.sizeof(struct)))
        for field, *_ in struct._fields_:
            expected.append((f"offsetof({name}, {field})", getattr(struct, field).offset))
            expected.append((f"sizeof((({name} *)0)->{field})", getattr(struct, field).size))
    return expected


@needs_cc
def test_layouts_and_constants(tmp_path: Path) -> None:
    lines = "".join(f'printf("%lld\\n", (long long)({expression}));\n' for expression, _ in expressions())
    source = tmp_path / "layout.c"
    source.write_text(f"#include <railhead/railhead.h>\n#include <stdio.h>\nint main(void) {{\n{lines}return 0;\n}}\n")
    subprocess.run(["cc", "-I", INCLUDE, source, "-o", tmp_path / "layout"], check=True)
    said = subprocess.run([tmp_path / "layout"], check=True, capture_output=True, text=True).stdout.split()
    assert dict(zip([expression for expression, _ in expressions()], map(int, said), strict=True)) == dict(expressions())


def test_functions_have_as_many_arguments() -> None:
    declared = dict(re.findall(r"\b(railhead_\w+)\(([^)]*)\);", HEADER))
    for name, (_, arguments) in _native._FUNCTIONS.items():
        there = declared[name].strip()
        assert len(arguments) == (0 if there == "void" else there.count(",") + 1), name


def test_fields_are_all_there() -> None:
    for name, struct in STRUCTS.items():
        body = re.search(rf"typedef struct {name} {{(.*?)}} {name};", HEADER, re.DOTALL)
        assert body
        text = re.sub(r"/\*.*?\*/", "", body[1], flags=re.DOTALL)
        fields = [re.sub(r"\[.*", "", statement).split()[-1].lstrip("*") for statement in text.split(";") if statement.strip()]
        assert fields == [field for field, *_ in struct._fields_]


def test_library_is_of_this_abi() -> None:
    assert _native.library().railhead_abi_version() == _native.ABI
