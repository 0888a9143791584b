"""Which passes changed what a line became."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from typer.testing import CliRunner

from kernels import make
from kernels.compiled import compiled
from tileas_xdsl.explanation.compilation.line_history import (
    LineChange,
    history_text,
    line_changes,
    lines_of,
)
from tileas_xdsl.tools.tileas import app


def test_passes_that_change_a_line_are_told_in_order() -> None:
    kernel = compiled(make("vector_add"))
    (file, line), *_ = sorted((place for place in lines_of(kernel)), key=lambda place: -place[1])
    changes = list(line_changes(kernel, file, line))
    names = [change.name for change in changes]
    passes = iter([spec.name for spec in kernel.passes])
    assert all(name in passes for name in names)
    assert {"convert-tileas-to-cute-nvgpu", "convert-cute-nvgpu-to-ptx"} & {*names}
    assert all(change.removed != change.added for change in changes)


def test_what_changed_of_an_operation_is_said() -> None:
    old = "\x1f".join(("a.load", "-> tensor<4xf16>", "atom = ldg"))
    new = "\x1f".join(("a.load", "-> tensor<4xf16>", "atom = tma"))
    many = Counter({f"b.x\x1fk = {k}": 1 for k in range(5)})
    changes = [
        LineChange("one", Counter([old]), Counter([new])),
        LineChange("two", Counter([new, new]), many),
    ]
    assert list(history_text(changes)) == [
        *("one", "  a.load: atom = ldg became atom = tma"),
        *("two", "  - 2 x a.load -> tensor<4xf16> atom = tma", "  + 5 x b.x"),
    ]


@pytest.mark.parametrize(
    ("args", "why"),
    [
        (["--line", "1000"], "nothing of the kernel comes from line 1000; there are"),
        (["--line", "1", "--json"], "--line is of no use with --show"),
    ],
)
def test_wrong_lines(args: list[str], why: str, tmp_path: Path) -> None:
    path = tmp_path / "k.mlir"
    path.write_text(make("vector_add").text(), encoding="utf-8")
    result = CliRunner().invoke(app, ["explain", str(path), *args])
    assert (result.exit_code, why in result.stderr) == (2, True), result.stderr
