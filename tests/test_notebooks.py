"""Every notebook runs from top to bottom, warnings being errors, and its test cells pass."""

import runpy
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from support.pictures import clipped, pictures_in, texts

from tileas_xdsl.backend import nvidia_tools

NOTEBOOKS = sorted(Path(__file__).parents[1].joinpath("notebooks").glob("*.py"))


def run(name: str) -> tuple[list[str], Any]:
    """The outputs of a notebook as HTML, and what it defines."""
    app = runpy.run_path(str(next(p for p in NOTEBOOKS if p.stem == name)))["app"]
    outputs, definitions = app.run()
    return [getattr(output, "text", "") for output in outputs], definitions


run_once = cache(run)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_a_notebook_runs(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    if "cutile" in path.stem:
        pytest.importorskip("cuda.tile")
    outputs, definitions = run_once(path.stem)
    capsys.readouterr()
    assert definitions
    assert any(outputs)


def test_the_layout_notebook_shows_its_pictures() -> None:
    outputs, _ = run_once("layouts")
    titles = [texts(picture)[0] for output in outputs for picture in pictures_in(output)]
    assert titles == [
        "(4,8):(8,1)",
        "a 4x8 matrix in tiles of 2x4: a column is a tile",
        "the first 16 rows of a 64x64 tile of f16, swizzle 128B",
        "16 columns of the accumulator of a wgmma",
    ]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_nothing_in_a_picture_is_cut_off(path: Path) -> None:
    if "cutile" in path.stem:
        pytest.importorskip("cuda.tile")
    outputs, _ = run_once(path.stem)
    for picture in [one for output in outputs for one in pictures_in(output)]:
        assert clipped(picture) == [], texts(picture)[0]


def test_the_inference_notebook_shows_owners_guard_and_mistake() -> None:
    outputs, definitions = run_once("layout_inference")
    assert sum("<svg" in output for output in outputs) == 2
    assert list(definitions["section"].conditions) == ["thread % 16 == 0"]
    assert "lives in thread 16" in definitions["findings"][0].text
    assert any("&lt;text&gt;" in output and "lives in thread 16" in output for output in outputs)


def test_the_cutile_notebook_shows_its_pictures() -> None:
    pytest.importorskip("cuda.tile")
    outputs, _ = run_once("cutile")
    timeline, registers = (output for output in outputs if "<svg" in output)
    assert "block (2, 0, 0)" in timeline
    assert texts(pictures_in(registers)[0])[0] == "tile = ct.load(x, ...), 4x128 f32"


def test_findings_of_the_drop_in_name_the_arguments_of_python() -> None:
    pytest.importorskip("cuda.tile")
    outputs, _ = run_once("unmodified_cutile")
    assert any("the array of 'counts'+0x0" in output for output in outputs)


def test_the_gemm_notebook_shows_its_pictures() -> None:
    outputs, _ = run_once("gemm_to_ptx")
    timeline, shared_memory, swizzle = (output for output in outputs if "<svg" in output)
    assert all(lane in timeline for lane in ("agent 0", "agent 2", "TMA", "tensor core of agent 1"))
    assert all(part in shared_memory for part in ("A 0", "B 2", "full[0]", "empty[2]", "epilogue"))
    assert "swizzle" in swizzle


def test_the_gemm_notebook_goes_on_without_the_tools(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        del name

    monkeypatch.setattr(nvidia_tools, "find_tool", missing)
    outputs, definitions = run("gemm_to_ptx")
    assert definitions["assembled"] is None
    assert any("ptxas was not found" in output for output in outputs)
    assert any("here we would count" in output.lower() for output in outputs)
    assert all(emulated.findings for emulated in definitions["runs"].values())
