"""Compiled kernels in the disk cache: a second process compiles nothing."""

from __future__ import annotations

import errno
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("cuda.tile")

from support.cutile_programs import add, copied, product
from xdsl.pattern_rewriter import RewritePattern

import tileas_xdsl as tileas
from tileas_xdsl import cache
from tileas_xdsl.cache import CacheWarning, disk_cache
from tileas_xdsl.runtime.cutile import compilation
from tileas_xdsl.runtime.cutile.executable import Executable
from tileas_xdsl.target.kernel_abi import Extents, KernelAbi, Passed, TensorMapRecipe
from tileas_xdsl.target.tma.tensor_map import PixelBox
from tileas_xdsl.transforms.extension import added_patterns

A, B = (np.arange(64, dtype=np.float32) + n for n in (0, 100))


@pytest.fixture(autouse=True)
def folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The folder of the cache."""
    monkeypatch.setenv("TILEAS_CACHE_DIR", str(tmp_path))
    return tmp_path


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The targets of kernels that are compiled."""
    found: list[str] = []
    compile_ = compilation._compile

    def counted(kernel: Any, content: bytes, target: str, *others: Any) -> Executable:
        found.append(target)
        return compile_(kernel, content, target, *others)

    monkeypatch.setattr(compilation, "_compile", counted)
    return found


def run_add() -> None:
    """Launch a kernel object that no launch has seen."""
    c = np.zeros_like(A)
    tileas.launch(0, (2,), copied(add), (A, B, c, 32))
    np.testing.assert_array_equal(c, A + B)


def test_kernels_are_taken_from_the_cache(compiled: list[str]) -> None:
    run_add()
    run_add()
    assert compiled == ["sm_90a"]


def test_kernels_with_tensor_maps_are_too(compiled: list[str]) -> None:
    a, b = (np.random.default_rng(n).random((64, 64)).astype(np.float16) for n in (1, 2))
    for _ in range(2):
        c = np.zeros((64, 64), np.float16)
        tileas.launch(0, (1, 1), copied(product), (a, b, c, 64, 64, 32))
        np.testing.assert_allclose(c, a.astype(np.float32) @ b.astype(np.float32), rtol=1e-2)
    assert len(compiled) == 1


def test_entries_that_hold_something_else_are_written_anew(compiled: list[str]) -> None:
    run_add()
    store = disk_cache()
    assert store is not None
    (entry,) = store.entries()
    for content in (b"", b"something else", bytes(12), store.get(entry.path.stem) or b""):
        store.put(entry.path.stem, content[:-1] if len(content) > 100 else content)
        run_add()
    assert len(compiled) == 5


@pytest.mark.parametrize("damage", ["no folder", "full disk"])
def test_without_room_programs_are_right_and_warned_once(
    compiled: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, damage: str
) -> None:
    def full(*names: str) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    if damage == "full disk":
        monkeypatch.setattr(cache.os, "replace", full)
    (tmp_path / "file").touch()
    folder = tmp_path / ("file" if damage == "no folder" else "full") / "kernels"
    monkeypatch.setenv("TILEAS_CACHE_DIR", str(folder))
    with pytest.warns(CacheWarning) as caught:
        run_add()
    run_add()  # another warning would be an error
    assert len(caught) == 1
    assert len(compiled) == 2


def test_an_extended_compiler_takes_and_leaves_nothing(compiled: list[str]) -> None:
    class Nothing(RewritePattern):
        def match_and_rewrite(self, op: Any, rewriter: Any) -> None:
            pass

    with added_patterns("tileas-canonicalize", Nothing):
        run_add()
    run_add()
    with added_patterns("tileas-canonicalize", Nothing):
        run_add()
    assert len(compiled) == 3
    store = disk_cache()
    assert store is not None
    assert len(store.entries()) == 1


PROGRAM = """
import sys
import numpy as np
import cuda.tile as ct
sys.path.insert(0, {tests!r})
from support.cutile_programs import add
import tileas_xdsl.cutile

tileas_xdsl.cutile.install(on="emulator")
a = np.ones(64, np.float32)
c = np.zeros(64, np.float32)
ct.launch(0, (2,), add, (a, a, c, 32))
assert (c == 2).all()
print("tileas_xdsl.compiler" in sys.modules)
"""


def test_two_programs_at_once_are_right_and_a_later_one_loads_no_compiler() -> None:
    tests = str(Path(__file__).parents[2])
    command = [sys.executable, "-c", PROGRAM.format(tests=tests)]
    at_once = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    assert "True" in [program.communicate()[0].strip() for program in at_once]
    assert [program.returncode for program in at_once] == [0, 0]
    later = subprocess.run(command, capture_output=True, text=True, check=True)
    assert (later.stdout.strip(), later.stderr) == ("False", "")


def test_launches_on_a_gpu_load_no_ir() -> None:
    """What a process imports whose kernels are in the cache: of xDSL its exceptions alone."""
    code = (
        "import sys, tileas_xdsl.cutile, tileas_xdsl.runtime.cutile.gpu.backend\n"
        "print(*sorted(m for m in sys.modules if m.startswith('xdsl')))"
    )
    command = [sys.executable, "-c", code]
    found = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    assert found == ["xdsl", "xdsl.utils", "xdsl.utils.exceptions"]


def test_an_executable_is_the_same_after_it_was_written() -> None:
    maps = (
        TensorMapRecipe(
            0, (32, 64), "f16", 16, "64B", False, False, None, Extents((Passed(1), 7), (64, 1))
        ),
        TensorMapRecipe(5, (8,), "f32", 32, "none", True, True, PixelBox((1, 2), (3, 4))),
    )
    abi = KernelAbi("k", 128, (2, 1, 1), 4096, ("ptr 0", "scalar 1"), maps, 3, "map")
    ptx = ".entry k(\n    .param .u64 p0,\n    .param .align 64 .b8 p1[128])\n{}"
    made = Executable("sm_90a", abi, ptx, b"\0code")
    found = Executable.from_bytes(made.to_bytes())
    assert (found.target, found.abi, found.ptx, found.cubin) == ("sm_90a", abi, ptx, b"\0code")
    assert found.parameter_types == ["u64", "b8[128]"]
    for data in (b"", made.to_bytes()[:-1], made.to_bytes() + b"x", bytes(40)):
        with pytest.raises(ValueError, match=r"."):
            Executable.from_bytes(data)
