"""`docs/passes.md` describes the passes as they are."""

import re
from dataclasses import fields
from pathlib import Path

import pytest

from tileas_xdsl.transforms.extension import CONVERSIONS, PATTERN_SETS
from tileas_xdsl.universe import PASSES, TILEAS_UNIVERSE

ROOT = Path(__file__).parents[1]
SECTIONS = dict(
    re.findall(r"^## (\S+)\n(.*?)(?=^## |\Z)", (ROOT / "docs/passes.md").read_text(), re.M | re.S)
)


def documented(name: str, what: str) -> str:
    """What a section says in bold behind `what`."""
    found = re.search(rf"{what}\*\*(.*?)\*\*", SECTIONS[name])
    assert found is not None, f"{name} has no {what}"
    return found[1]


def test_every_pass_has_a_section():
    assert tuple(SECTIONS) == PASSES


@pytest.mark.parametrize("name", PASSES)
def test_a_section_is_that_of_the_code(name):
    found = TILEAS_UNIVERSE.all_passes[name]()
    options = ", ".join(f"`{field.name} = {field.default}`" for field in fields(found))
    assert documented(name, r"\A\n") == found.__doc__.strip().splitlines()[0]
    assert documented(name, r"Options: ") == (options or "none")


@pytest.mark.parametrize("name", PASSES)
def test_the_kind_is_that_of_the_code(name):
    kind = documented(name, r"Kind: ")
    assert (kind == "pattern set") == (name in PATTERN_SETS)
    if name in CONVERSIONS:
        assert kind == "conversion with a handler table"


@pytest.mark.parametrize("name", PASSES)
def test_the_filecheck_file_runs_the_pass(name):
    test = re.search(r"^\* Test: `(.*)`$", SECTIONS[name], re.M)
    assert test is not None
    lines = (ROOT / test[1]).read_text().splitlines()
    assert any("RUN:" in line and name.removeprefix("cute-kernel-") in line for line in lines)


def test_filecheck_files_begin_with_what_they_show():
    files = [
        path for path in (ROOT / "tests/filecheck").rglob("*.mlir") if "Inputs" not in path.parts
    ]
    begins = {path: path.read_text().split("\n", 1)[0] for path in files}
    assert [p.name for p, line in begins.items() if not re.match(r"// (?!RUN)", line)] == []
