"""`ct.launch` on this compiler, without a GPU."""

from __future__ import annotations

import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("cuda.tile")

import cuda.tile as ct
from support import cutile_programs
from support.cutile_programs import add, histogram, increment, row_sums, shifted

import tileas_xdsl as tileas
import tileas_xdsl.cutile
from tileas_xdsl.diagnostics.errors import ArgumentError
from tileas_xdsl.interpreters.ptx import FindingsError
from tileas_xdsl.runtime.cutile import dispatch, kernel_table

RNG = np.random.default_rng(31)


def numbers(*shape: int) -> Any:
    return RNG.standard_normal(shape).astype(np.float32)


@pytest.fixture
def compilations(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The signatures of compilations that happen."""
    found: list[Any] = []
    compile_signature = kernel_table.compile_signature

    def counted(kernel: Any, signature: Any, *rest: Any, **options: Any) -> Any:
        found.append(signature)
        return compile_signature(kernel, signature, *rest, **options)

    monkeypatch.setattr(kernel_table, "compile_signature", counted)
    return found


def test_a_program_runs_unmodified_on_the_emulator() -> None:
    original = ct.launch
    a, b, c = numbers(300), numbers(300), np.full(300, np.nan, np.float32)
    with tileas_xdsl.cutile.installed(on="emulator"):
        ct.launch(None, (3,), add, (a, b, c, 128))
    np.testing.assert_array_equal(c, a + b)
    assert ct.launch is original


def test_names_imported_before_are_replaced_and_restored() -> None:
    module = sys.modules[__name__]
    original = ct.launch
    module.__dict__["own_launch"] = original
    with tileas_xdsl.cutile.installed(on="emulator"), tileas_xdsl.cutile.installed(on="emulator"):
        assert module.__dict__["own_launch"] is tileas.launch
    assert module.__dict__["own_launch"] is original


def test_launch_without_installing() -> None:
    x = numbers(40, 24)
    sums = np.full(40, np.nan, np.float32)
    tileas.launch(0, (5,), row_sums, (x, sums, 8, 32))
    np.testing.assert_allclose(sums, x.sum(axis=1), rtol=1e-5)


def test_strided_arrays_are_written_in_place() -> None:
    whole = numbers(2, 64)
    before = whole.copy()
    tileas.launch(0, (1,), increment, (whole[:, ::2][1], 32, 2.5))
    before[1, ::2] += 2.5
    np.testing.assert_array_equal(whole, before)


def test_read_only_arrays_are_read_and_not_written() -> None:
    x, sums = numbers(40, 24), np.zeros(40, np.float32)
    x.flags.writeable = False
    tileas.launch(0, (5,), row_sums, (x, sums, 8, 32))
    sums.flags.writeable = False
    sums_before = sums.copy()
    tileas.launch(0, (5,), row_sums, (x, sums, 8, 32))  # writes what is there
    with pytest.raises(ArgumentError, match=r"'sums' is a read-only array, and the kernel changed"):
        tileas.launch(0, (5,), row_sums, (x[::-1].copy(), sums, 8, 32))
    np.testing.assert_array_equal(sums, sums_before)


def test_arrays_of_what_no_kernel_has_are_refused() -> None:
    dates = np.zeros(32, "datetime64[s]")
    with pytest.raises(TypeError, match=r"Unsupported array dtype: 'x' has elements of datetime64"):
        tileas.launch(0, (1,), increment, (dates, 32, 1.0))


def test_a_kernel_is_compiled_once_for_what_its_arguments_have_in_common(
    compilations: list[Any],
) -> None:
    """The rules are cuTile's: strides of 1, multiples of 16, constants."""
    kernel = ct.kernel(increment._pyfunc)
    whole = np.zeros(512, np.float32)
    for extent in (128, 256, 384, 128):
        tileas.launch(0, (extent // 128,), kernel, (whole[:extent], 128, 1.0))
    assert len(compilations) == 1
    tileas.launch(0, (1,), kernel, (whole[:128], 128, -3.25))
    assert len(compilations) == 1, "numbers that are no constants"
    tileas.launch(0, (1,), kernel, (whole[:120], 128, 1.0))
    assert len(compilations) == 2, "extents"
    tileas.launch(0, (1,), kernel, (whole[::2], 128, 1.0))
    assert len(compilations) == 3, "strides"
    tileas.launch(0, (1,), kernel, (whole[:128], 64, 1.0))
    assert len(compilations) == 4, "constants"


def test_threads_compile_once(compilations: list[Any]) -> None:
    kernel = ct.kernel(increment._pyfunc)
    arrays = [np.zeros(32, np.float32) for _ in range(4)]

    def run(array: Any) -> None:
        tileas.launch(0, (1,), kernel, (array, 32, 1.5))

    threads = [threading.Thread(target=run, args=(array,)) for array in arrays]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all((array == 1.5).all() for array in arrays)
    assert len(compilations) == 1


def test_findings_are_at_the_lines_of_the_program() -> None:
    x, y = numbers(64), numbers(64)
    with pytest.raises(
        FindingsError, match=r"cutile_programs\.py:\d+:\d+: error: .*past the end of the array"
    ):
        tileas.launch(0, (1,), shifted, (x, y))


def test_races_of_arrays_that_are_the_same_memory_say_so() -> None:
    """Rows of 1,001 f16 begin between vectors, which reach into what other blocks store."""
    softmax = pytest.importorskip("kernels.cutile.softmax").softmax
    x = RNG.standard_normal((8, 1001)).astype(np.float16)
    with pytest.raises(FindingsError, match="'x' and 'y' are the same memory") as caught:
        tileas.launch(0, (8,), softmax, (x, x, 1, 1024))
    assert {finding.kind for finding in caught.value.findings} <= {"race-RAW", "race-WAR"}
    assert "are the same memory" not in _findings(softmax, x, np.empty_like(x))


def _findings(kernel: Any, x: Any, y: Any) -> str:
    try:
        tileas.launch(0, (len(x),), kernel, (x, y, 1, 1024))
    except FindingsError as error:
        return str(error)
    return ""


def test_errors_are_those_of_cutile() -> None:
    x = numbers(32)
    with pytest.raises(TypeError, match="Kernel expects 3 arguments but 1 was given"):
        tileas.launch(0, (1,), increment, (x,))
    with pytest.raises(TypeError, match="expects a tuple as the fourth argument, got list"):
        tileas.launch(0, (1,), increment, [x, 32, 1.0])  # pyright: ignore[reportArgumentType]
    with pytest.raises(ValueError, match=r"Grid\[1\] exceeds 24-bit limit: max=16777215, got="):
        tileas.launch(0, (1, 1 << 24), increment, (x, 32, 1.0))
    with pytest.raises(
        RuntimeError, match=r"invalid argument: a grid of \(0,.* has no tile blocks"
    ):
        tileas.launch(0, (0,), increment, (x, 32, 1.0))
    with pytest.raises(TypeError, match="Invalid kernel argument #0: Objects of type 'object'"):
        tileas.launch(0, (1,), increment, (object(), 32, 1.0))
    with pytest.raises(ct.TileTypeError):
        tileas.launch(0, (1,), increment, (x, 32.5, 1.0))


def test_blocks_that_race_are_found_at_the_lines_of_the_program() -> None:
    """Blocks follow one another on the emulator, so the result looks right."""
    values, counts = np.arange(256, dtype=np.int32) % 8, np.zeros(8, np.int32)
    with pytest.raises(FindingsError) as caught:
        tileas.launch(0, (4,), histogram, (values, counts))
    found = {finding.kind: finding for finding in caught.value.findings}
    assert {"race-RAW", "race-WAW"} <= set(found)
    lines = Path(cutile_programs.__file__).read_text().splitlines()
    assert "so_far = ct.load(counts" in lines[found["race-RAW"].line - 1]
    assert "ct.store(counts" in lines[found["race-WAW"].line - 1]
    assert (counts == 32).all(), "results are written all the same"
    with (
        tileas_xdsl.cutile.installed(on="emulator", findings="warn"),
        pytest.warns(tileas_xdsl.cutile.FindingsWarning, match="nothing orders the two"),
    ):
        ct.launch(0, (4,), histogram, (values, counts))
    with tileas_xdsl.cutile.installed(on="emulator", findings="ignore"):
        ct.launch(0, (4,), histogram, (values, counts))


def launched_again(kernel: Any) -> Any:
    """What an equal kernel stores, made as programs do that replace hints where they launch."""
    y = numbers(64)
    tileas.launch(None, (1,), kernel.replace_hints(occupancy=2), (y, 64))
    return y


def test_equal_kernels_share_what_was_compiled(compilations: list[Any]) -> None:
    for _ in range(3):
        launched_again(cutile_programs.fill)
    assert len(compilations) == 1
    tileas.launch(None, (1,), cutile_programs.fill.replace_hints(occupancy=4), (numbers(64), 64))
    assert len(compilations) == 2


def test_kernels_are_not_equal_when_what_they_name_has_changed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for factor in (3, 5, -0.0, 0.0, 3):
        monkeypatch.setattr(cutile_programs.Constants, "FACTOR", factor)
        found = launched_again(cutile_programs.fill)
        np.testing.assert_array_equal(found.view(np.int32), np.float32(factor).view(np.int32))


def test_a_function_keeps_the_tables_of_the_kernels_that_were_launched_last(
    monkeypatch: pytest.MonkeyPatch, compilations: list[Any]
) -> None:
    """Not one for each value that a global has had."""
    monkeypatch.setattr(dispatch, "MAX_TABLES", 3)
    function = cutile_programs.fill._pyfunc
    monkeypatch.setattr(function, "_tileas_tables", [], raising=False)
    for factor in (1.0, 2.0, 3.0, 1.0, 4.0, 1.0, 2.0):
        monkeypatch.setattr(cutile_programs.Constants, "FACTOR", factor)
        np.testing.assert_array_equal(launched_again(cutile_programs.fill), factor)
    assert len(function._tileas_tables) == 3
    assert len(compilations) == 5, "2.0 alone was forgotten"


def test_kernels_that_name_what_may_change_in_place_are_not_equal() -> None:
    for factor in (2.0, 7.0):
        cutile_programs.FACTORS[0] = factor
        found = launched_again(cutile_programs.fill_first)
        np.testing.assert_array_equal(found, np.float32(factor))
