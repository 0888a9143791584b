"""Kernels that a suite launches are recorded, and a folder of them is compiled for both targets."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from support.assembling import needs_nvdisasm

from benchmarks.corpus import main


@needs_nvdisasm
def test_kernels_of_a_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("cuda.tile")
    from tests.support import cutile_kernels
    from tileas_xdsl.frontend.cutile.tile_ir import export_bytecode

    signature = cutile_kernels.SIGNATURES["vector_add"]
    content = export_bytecode(cutile_kernels.vector_add, signature)
    (tmp_path / "vector_add.0.tileirbc").write_bytes(content)
    (tmp_path / "wrong.0.tileirbc").write_bytes(content[:40])
    words = ["corpus.py", "compile", str(tmp_path), "--json", str(tmp_path / "found.json")]
    monkeypatch.setattr(sys, "argv", words)
    assert main() == 1
    said = capsys.readouterr().out
    assert "vector_add.0" in said
    assert "2 kernels" in said
    found = json.loads((tmp_path / "found.json").read_text())
    assert "refused" in found["wrong.0"]["sm_90a"]
    for target in ("sm_90a", "sm_100a"):
        facts = found["vector_add.0"][target]
        assert facts["registers"] > 0
        assert (facts["spilled"], facts["STL"], facts["LDL"]) == (0, 0, 0)


SUITE = """
import cuda.tile as ct
import torch
from cuda.tile.tune import exhaustive_search


@ct.kernel
def double(a, tile: ct.Constant[int]):
    ct.store(a, (ct.bid(0),), ct.load(a, (ct.bid(0),), (tile,)) * 2)


def test_tuned():
    a = torch.zeros(64)
    sizes = lambda tile: (64 // tile,)
    best = exhaustive_search([16, 32], None, sizes, double, lambda tile: (a, tile)).best.config
    ct.launch(None, sizes(best), double, (a, best))
    assert (a == 1).all()  # nothing has run
"""


def test_every_configuration_of_a_tuner_is_recorded(tmp_path: Path) -> None:
    pytest.importorskip("cuda.tile")
    pytest.importorskip("torch")
    (tmp_path / "test").mkdir()
    (tmp_path / "test" / "test_tuning.py").write_text(SUITE)
    folder = tmp_path / "kernels"
    script = Path(__file__).parents[2] / "benchmarks" / "corpus.py"
    words = [sys.executable, str(script), "record", str(tmp_path), str(folder), "--variants", "9"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    names = sorted(file.name for file in folder.iterdir())
    assert names == [f"test_tuning.double.{n}.tileirbc" for n in range(2)]
