"""cuTile as it is finds our assembler under the name of its own."""

from __future__ import annotations

import os
import shutil
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import pytest

from benchmarks.conformance.assembler_on_path import FOLDER_VARIABLE, link_assembler, use_assembler


def test_the_assembler_is_first_in_path(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("PATH", "CUDA_TILE_CACHE_DIR", FOLDER_VARIABLE):
        monkeypatch.setenv(name, str(tmp_path))
    monkeypatch.delenv(FOLDER_VARIABLE)
    monkeypatch.setattr("tempfile.mkdtemp", lambda prefix: str(tmp_path))
    compilation = SimpleNamespace(
        _find_pip_tileiras=lambda: "another",
        _find_compiler_bin=cache(lambda: shutil.which("tileiras")),
    )
    use_assembler(compilation)
    found = compilation._find_compiler_bin()
    assert compilation._find_pip_tileiras() is None
    assert found is not None
    assert Path(found).parent == tmp_path
    assert Path(os.readlink(found)).name == "tileas-as"
    assert link_assembler() == tmp_path
