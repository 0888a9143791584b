"""The page of a kernel: its data are right, its script runs, and a refused kernel has one too."""

from __future__ import annotations

import re
import shutil
import subprocess
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from support.pictures import clipped, texts
from tools.kernels_to_run import ADD, TYPES
from typer.testing import CliRunner, Result

from tileas_xdsl.report.differences import Hunk, differences
from tileas_xdsl.report.page import data_of
from tileas_xdsl.tools.tileas import app

ROOT = Path(__file__).parents[2]

KERNEL = """
import cuda.tile as ct

@ct.kernel
def product(a, b, c):
    total = ct.zeros((64, 64), ct.float32)
    for k in range(a.shape[1] // 64):
        x = ct.load(a, (ct.bid(0), k), (64, 64))
        y = ct.load(b, (k, ct.bid(1)), (64, 64))
        total = ct.mma(x, y, total)
    ct.store(c, (ct.bid(0), ct.bid(1)), total)
"""
SIGNATURE = "a: f16[?,?%64], b: f16[?,?%64], c: f32[?,?%64]"


def run(*args: str) -> Result:
    result = CliRunner().invoke(app, ["report", *args])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.output
    return result


@pytest.fixture(scope="module")
def product(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The page of a product of 64x128 by 128x64, which ran."""
    pytest.importorskip("cuda.tile")
    folder = tmp_path_factory.mktemp("report")
    (folder / "product.py").write_text(KERNEL)
    result = run(
        *(f"{folder}/product.py:product", "--sig", SIGNATURE, "-o", f"{folder}/out.html"),
        *("--grid", "1", "--arg", "f16:64x128:random", "--arg", "f16:128x64:random"),
        *("--arg", "f32:64x64:zeros"),
    )
    assert result.exit_code == 0, result.output
    return (folder / "out.html").read_text()


def level(data: Any, name: str) -> Any:
    return next(one for one in data["levels"] if one["name"] == name)


def source_lines(data: Any, one: Any, pattern: str) -> set[str]:
    """The source lines that the lines of a level with a text come from."""
    text = {(f["name"], f["first"] + n): t for f in data["files"] for n, t in enumerate(f["lines"])}
    places = [
        data["places"][place]
        for line, numbers in zip(one["lines"], one["places"], strict=True)
        if re.search(pattern, line)
        for place in numbers
    ]
    return {text[file, number].strip() for file, number, _ in places}


def test_lines_that_belong_together_are_known_on_every_level(product: str) -> None:
    data = data_of(product)
    multiplied = "total = ct.mma(x, y, total)"
    for name, pattern in (
        ("input", r"= mmaf "),
        ("tileas-assign-load-store-layouts", r"nv_tileas\.dot %"),
        ("convert-tileas-to-cute-nvgpu", r"arch\.mma\.SM90 "),
        ("PTX", r"wgmma\.mma_async"),
    ):
        assert source_lines(data, level(data, name), pattern) == {multiplied}, name
    if shutil.which("nvdisasm") or any(one["name"] == "SASS" for one in data["levels"]):
        assert multiplied in source_lines(data, level(data, "SASS"), r"HGMMA")


def test_a_page_shows_layouts_loops_memory_and_a_run(product: str) -> None:
    data = data_of(product)
    shared = [one for one in data["layouts"] if "in shared memory" in one["title"]]
    assert any("64x64 f16" in one["title"] and "ct.load(" in one["title"] for one in shared)
    lines = "\n".join(line for one in data["levels"] for line in one["lines"])
    for one in data["layouts"]:
        assert one["type"] in lines
        ElementTree.fromstring(one["svg"])
    (loop,) = data["loops"]
    assert data["places"][loop["place"]][1] == 7
    assert set(loop["pictures"]) == {"graph", "reservations", "timeline"}
    explained = data["explained"]
    assert any(buffer["stages"] > 1 for buffer in explained["shared"])
    assert explained["loops"][0]["location"] == loop["place"]
    assert explained["occupancy"]["threads"] == 256
    assert clipped(data["roofline"]) == []
    assert "loop at " in texts(data["roofline"])[-2]
    assert any(text.startswith("L2 cache: ") for text in texts(data["roofline"]))
    assert all(word in data["runs"]["timeline"] for word in ("agent 0", "agent 1", "TMA"))
    assert data["runs"]["findings"] == []


class _Outline(HTMLParser):
    """What a page refers to, and the ids it has."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.ids: list[str] = []
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.ids += [value or "" for name, value in attrs if name == "id"]
        self.links += [value or "" for name, value in attrs if name in ("src", "href")]
        if tag not in ("meta", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_a_page_stands_alone_and_has_all_its_script_asks_for(product: str) -> None:
    outline = _Outline()
    outline.feed(product)
    assert outline.links == []
    assert outline.open == []
    assert len(set(outline.ids)) == len(outline.ids)
    script = (ROOT / "tileas_xdsl/report/resources/report.js").read_text()
    assert set(re.findall(r'\$\("([\w-]+)"\)', script)) <= set(outline.ids)
    assert "http" not in re.sub(r"http://www.w3.org/2000/svg", "", product.split("<script")[0])
    assert not re.search(r"@import|url\((?!#)", product)


@cache
def chromium() -> str | None:
    return shutil.which("chromium") or shutil.which("chromium-browser")


@pytest.mark.skipif(chromium() is None, reason="there is no chromium")
def test_a_browser_shows_it(product: str, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_text(product)
    options = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking")
    command = [chromium(), *options, f"--user-data-dir={tmp_path}/profile"]
    command += ["--virtual-time-budget=5000", "--dump-dom", f"file://{path}#/findings"]
    dom = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout
    assert 'data-ready="' in dom
    assert "product for sm_90a" in dom
    assert "Nothing was found." in dom
    assert "cycles an iteration, bound by " in dom
    assert dom.count('class="paper"') >= 4
    assert len(re.findall(r'<div data-line="\d+" class="kept strong', dom)) > 10


def test_a_refused_kernel_has_a_page_with_the_refusal(tmp_path: Path) -> None:
    path = tmp_path / "odd.mlir"
    path.write_text(
        f"{TYPES}\n{ADD}".replace("func.return", "memref.dealloc %a : !vector\nfunc.return")
    )
    result = run(str(path), "-o", str(tmp_path / "out.html"))
    assert result.exit_code == 1
    data = data_of((tmp_path / "out.html").read_text())
    (found,) = data["runs"]["findings"]
    assert found["level"] == "compiler"
    assert data["places"][found["place"]][0].endswith("odd.mlir")
    assert "'memref.dealloc' is not lowered" in found["message"]
    assert found["message"] in result.stderr
    assert data["kernel"] == "add"
    assert len(data["levels"]) > 3


def test_arguments_without_a_grid_are_a_wrong_command_line(tmp_path: Path) -> None:
    path = tmp_path / "add.mlir"
    path.write_text(f"{TYPES}\n{ADD}")
    result = run(str(path), "--arg", "f32:4:random")
    assert result.exit_code == 2
    assert "--grid" in result.stderr


def test_new_numbers_of_values_are_no_difference() -> None:
    before = ["%1 = a", "%2 = b %1", "%3:2 = c %2#1", "d %3"]
    after = ["%1 = a", "%2:2 = c %1#1", "d %2", "e"]
    assert differences(before, after) == [Hunk((1, 2), (1, 1)), Hunk((4, 4), (3, 4))]
