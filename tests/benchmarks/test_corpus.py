"""A folder of recorded kernels is compiled for both targets; what is refused is said."""

from __future__ import annotations

import json
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
    from tileas_xdsl.frontend.cutile import export_bytecode

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
