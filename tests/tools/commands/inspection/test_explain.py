"""`tileas explain`: why each buffer and loop has its layout."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.pictures import clipped, texts
from typer.testing import CliRunner, Result

from tileas_xdsl.tools.tileas import app

FRAGMENT = "memref<4x16xf32, #tl<space fragment>>"

ARTICLE = f"""
func.func @article(%A: memref<4x16xf32>, %B: memref<4xf32>) {{
  tl.kernel threads(64) {{
    %zero = arith.constant 0 : index
    %f = tl.alloc_fragment : {FRAGMENT}
    tl.copy %A to %f : memref<4x16xf32> to {FRAGMENT}
    tl.parallel (%g, %r) in (2, 2) {{
      %row = affine.apply affine_map<(d0, d1) -> (d0 * 2 + d1)> (%g, %r)
      %x = memref.load %f[%row, %zero] : {FRAGMENT}
      memref.store %x, %B[%row] : memref<4xf32>
    }}
  }}
  func.return
}}
"""


def run(*args: str) -> Result:
    result = CliRunner().invoke(app, ["explain", *args])
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return result


@pytest.fixture
def article(tmp_path: Path) -> Path:
    path = tmp_path / "article.mlir"
    path.write_text(ARTICLE)
    return path


def test_each_buffer_and_loop_is_told_with_what_fixed_it(article: Path) -> None:
    result = run(str(article))
    assert result.exit_code == 0
    told = result.stdout
    assert "@article: mode improved, 64 threads on sm_90a" in told
    assert "(d0, d1) -> (thread d0 * 16 + d1, slot 0)" in told
    assert f"parallel 2x2 at {article}:7:5" in told
    assert "runs only where thread % 16 == 0" in told
    assert told.count("fixed by") == 3
    assert told.count("chosen") == 3


def test_pictures_show_who_owns_what(article: Path, tmp_path: Path) -> None:
    folder = tmp_path / "pictures"
    result = run(str(article), "--svg", str(folder))
    assert result.exit_code == 0
    assert sorted(path.name for path in folder.iterdir()) == [
        "article-f.svg",
        "article-loop0.svg",
        "article-loop1.svg",
    ]
    drawn = {path.stem: path.read_text() for path in folder.iterdir()}
    assert {"T0 S0", "T16 S0", "T32 S0", "T48 S0"} <= set(texts(drawn["article-loop1"]))
    assert texts(drawn["article-f"])[0].startswith("%f, 4x16 f32")
    assert all(clipped(picture) == [] for picture in drawn.values())
    assert f"{folder / 'article-f.svg'}\n" in result.stdout


def test_where_there_is_no_layout_two_accesses_are_told(article: Path) -> None:
    article.write_text(
        ARTICLE.replace(
            "store %x, %B[%row] : memref<4xf32>", f"store %x, %f[%zero, %zero] : {FRAGMENT}"
        )
    )
    result = run(str(article))
    assert result.exit_code == 1
    assert f"{article}:10:7: error: 'memref.store' op" in result.stderr
    assert "f[0, 0]" in result.stderr or "f[0,0]" in result.stderr
    assert result.stdout == ""


def test_wrong_inputs(article: Path, tmp_path: Path) -> None:
    assert run(str(article), "--mode", "other").exit_code == 2
    assert run(str(article), "--target", "sm_12").exit_code == 2
    assert run(str(tmp_path / "missing.mlir")).exit_code == 1
    article.write_text("func.func @f() { func.return }")
    result = run(str(article), "--mode", "parity")
    assert result.exit_code == 2
    assert "--mode is for tl kernels" in result.stderr
    result = run(str(article), "--show", "loop")
    assert result.exit_code == 2
    assert "did you mean loops" in " ".join(result.stderr.split())
    result = run(str(article), "--arg", "f32:4:zeros")
    assert (result.exit_code, "--arg needs --grid" in result.stderr) == (2, True)
    (tmp_path / "file").write_text("")
    article.write_text(ARTICLE)
    result = run(str(article), "--svg", str(tmp_path / "file"))
    assert result.exit_code == 1
    assert "cannot draw into" in result.stderr


SUMS = """
func.func @sums(%A: memref<64x64xf32>, %B: memref<64x64xf32>) {
  %zero = arith.constant 0 : index
  %va = nv_tileas.view %A : memref<64x64xf32> -> !nv_tileas.tiled_view<64x64xf32, gmem>
  %vb = nv_tileas.view %B : memref<64x64xf32> -> !nv_tileas.tiled_view<64x64xf32, gmem>
  %x = nv_tileas.tiled_load %va[%zero, %zero] {atom = #nv_tileas<atom ldg>}
    : !nv_tileas.tiled_view<64x64xf32, gmem> -> tensor<64x64xf32>
  %y = arith.addf %x, %x : tensor<64x64xf32>
  nv_tileas.tiled_store %y, %vb[%zero, %zero] {atom = #nv_tileas<atom stg>}
    : tensor<64x64xf32>, !nv_tileas.tiled_view<64x64xf32, gmem>
  func.return
}
"""


def test_a_kernel_of_tiles_is_explained_with_the_arguments_of_a_launch(tmp_path: Path) -> None:
    """64 x 64 elements of 4 bytes are 512 sectors, read and written once."""
    path = tmp_path / "sums.mlir"
    path.write_text(SUMS)
    array = "f32:64x64:random"
    result = run(str(path), "--grid", "133", "--arg", array, "--arg", array, "--json")
    assert result.exit_code == 0
    (facts,) = json.loads(result.stdout)
    work = facts["outside"]
    assert (work["flops"], work["bytes_read"], work["bytes_written"]) == (4096, 16384, 16384)
    assert [(one["transactions"], one["ideal"]) for one in facts["accesses"]] == [(512, 512)] * 2
    assert [one["location"].split(":")[-2] for one in facts["accesses"]] == ["6", "9"]
    assert facts["waves"]["blocks"] == 133
    shown = run(str(path), "--show", "accesses").stdout
    assert "512 sectors for 16384 bytes" in shown  # of an array that was made


LARGE = """\
!matrix = memref<?x?xf32>
!tile = memref<512x256xf32, #tl<space shared>>
func.func @reversed(%A: !matrix, %B: !matrix) {
  %one = arith.constant 1 : index
  %n = arith.constant 512 : index
  tl.kernel (%x) in (%one) threads(128) {
    %t = tl.alloc_shared : !tile
    %y = arith.muli %x, %n : index
    tl.copy %A[%y, %x] to %t : !matrix to !tile
    tl.copy %t to %B[%y, %x] : !tile to !matrix
  }
  func.return
}
"""


def test_a_text_that_needs_too_much_is_shown_the_numbers_that_compile(tmp_path: Path) -> None:
    path = tmp_path / "large.mlir"
    path.write_text(LARGE)
    result = run(str(path), "--json")
    assert result.exit_code == 1
    assert "large.mlir:7:10: error" in result.stderr
    told = json.loads(result.stdout)
    assert told["shared"][0]["bytes"] == 512 * 256 * 4
    works = [one["change"] for one in told["attempts"] if not one["problem"]]
    assert "128 for 512 in lines 2, 5" in works
    assert {"64 for 256 in line 2", "256 for 512 in lines 2, 5, 128 for 256 in line 2"} & {*works}
