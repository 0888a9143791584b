"""Copies of columns of pixels against a model that moves one element at a time, and a GPU."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.assembling import needs_ptxas
from support.pixel_copies import COPIES, PixelCopy

from tileas_xdsl.backend.ptxas import assemble
from tileas_xdsl.interpreters.ptx import PtxError, Report, TensorMapArg, load, run

RECORDING = Path(__file__).parents[1] / "data" / "im2col_copies_h200.json"


def execute(copy: PixelCopy, text: str = "", tensor_map: Any = None, **options: Any) -> Report:
    """Run the kernel of a copy."""
    column = copy.in_shared_memory(copy.column())
    if copy.operation == "load":
        column = np.zeros(copy.size, np.uint8)
    arguments = [TensorMapArg(tensor_map or copy.tensor_map(), copy.tensor()), column]
    return run(load(text or copy.ptx(), "k.ptx"), "k", arguments, 1, 32, **options)


def result(copy: PixelCopy, **options: Any) -> np.ndarray:
    """The column after a load, the tensor after another copy; no check may fire."""
    report = execute(copy, **options)
    assert [str(finding) for finding in report.findings] == []
    assert report.finished
    return report.arrays[1 if copy.operation == "load" else 0]


@pytest.mark.parametrize("copy", COPIES, ids=str)
@pytest.mark.parametrize("order", ["eager", "lazy", "random"])
def test_pixels_are_moved(copy: PixelCopy, order: str) -> None:
    found, expected = result(copy, order=order), copy.expected()
    if copy.nan_fill:
        found, expected = (a.view(copy.dtype).astype(np.float64) for a in (found, expected))
    np.testing.assert_array_equal(found, expected)
    assert len(np.unique(expected)) > 10


def test_a_gpu_moves_the_same() -> None:
    """What an H200 left, byte for byte."""
    recorded = json.loads(RECORDING.read_text())
    assert recorded.keys() == {str(copy) for copy in COPIES}
    for copy in COPIES:
        assert result(copy).tobytes().hex() == recorded[str(copy)], str(copy)


@needs_ptxas
@pytest.mark.parametrize("arch", ["sm_90a", "sm_100a"])
@pytest.mark.parametrize("copy", [*COPIES[:1], *COPIES[3:4], *COPIES[11:]], ids=str)
def test_ptxas_takes_the_copies(copy: PixelCopy, arch: str) -> None:
    text = copy.ptx().replace(".version 8.0", ".version 8.6").replace("sm_90a", arch)
    assert assemble(text, arch, name="k.ptx").spills == 0


CUBE = COPIES[3]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"at": (0, 8, 0, 0)}, "coordinate 1 of a column is 8; its pixels are -1 to 7"),
        ({"at": (0, 0, -2, 0)}, "coordinate 2 of a column is -2; its pixels are -1 to 5"),
        ({"offsets": (0, 256)}, "im2col offset 1 is 256; rank 4 has 0 to 255"),
        (
            {"at": (4, 0, 0, 0)},
            "coordinate 0 of a column is 4, 8 bytes: no multiple of 16",
        ),
        (
            {"operation": "store"},
            "the pixels of dimension 1 are from -1 to the last plus -1: a column is stored",
        ),
    ],
)
def test_where_a_column_cannot_begin(change: Any, says: str) -> None:
    report = execute(replace(CUBE, **change))
    assert any(says in f.message for f in report.findings)


def test_bytes_that_were_not_announced() -> None:
    text = CUBE.ptx().replace(f"[bar], {CUBE.size};", f"[bar], {CUBE.size - 16};")
    report = execute(CUBE, text)
    story = " ".join(line for f in report.findings for line in f.notes)
    assert "16 bytes more arrived than expect_tx announced" in story


def test_kinds_of_maps_are_not_mixed() -> None:
    tiled = replace(CUBE.tensor_map(), pixels=None, box=(16, 8, 1, 1))
    report = execute(CUBE, tensor_map=tiled)
    says = "the map is of the tiled kind, the instruction of the im2col kind"
    assert any(says in f.message for f in report.findings)
    text = CUBE.ptx().replace(".im2col.", ".tile.").replace("[bar], {%h0, %h1}", "[bar]")
    report = execute(CUBE, text)
    says = "the map is of the im2col kind, the instruction of the tiled kind"
    assert any(says in f.message for f in report.findings)


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("{%h0, %h1}", "{%h0}", "2"),
        (", {%h0, %h1}", "", "takes 4 operands, not 3"),
        (".im2col.", ".im2col::w.", "modifier .im2col::w is not supported"),
        ("tensor.4d", "tensor.2d", ".2d is not for .im2col"),
    ],
)
def test_what_is_no_instruction(old: str, new: str, says: str) -> None:
    with pytest.raises(PtxError, match=says):
        execute(CUBE, CUBE.ptx().replace(old, new))
