"""`make check PASS=...` finds the tests that name a pass, and no others."""

from pathlib import Path

import pytest
from check_pass import files_naming, main


def test_the_files_that_name_the_pass_are_its_tests(tmp_path: Path) -> None:
    texts = {
        "named.py": 'run("tileas-slicing{pieces=2}")',
        "imported.py": "from tileas_xdsl.transforms.loops.tileas_slicing import TileasSlicing",
        "longer.py": 'run("tileas-slicing-more")',
        "run.mlir": "// RUN: tileas-opt %s -p cse,tileas-slicing | filecheck %s",
        "prose.mlir": "// as tileas-slicing does",
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    found = [p.name for s in (".py", ".mlir") for p in files_naming("tileas-slicing", s, tmp_path)]
    assert found == ["imported.py", "named.py", "run.mlir"]


def test_other_names_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tileas-slicng"]) == 2
    assert "did you mean tileas-slicing?" in capsys.readouterr().err
