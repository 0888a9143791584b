# pyright: basic
"""Rows that are kept in shared memory, or loaded a round ahead, against those in registers."""

import re
from collections.abc import Mapping
from functools import cache

import numpy as np
import pytest

pytest.importorskip("cuda.tile")

import cuda.tile as ct
from xdsl.dialects import func

from kernels.cutile import Problem, emulated, simulated
from kernels.cutile.cross_entropy import cross_entropy
from kernels.cutile.cross_entropy import problem as loss_problem
from kernels.cutile.layer_norm import gradient_problem, layer_norm
from kernels.cutile.layer_norm import problem as norm_problem
from kernels.cutile.rms_norm import rms_norm
from kernels.cutile.softmax import problem as softmax_problem
from kernels.cutile.softmax import softmax
from tests.support.assembling import needs_ptxas
from tests.support.orders import in_turns
from tests.support.ptx_edits import Edit, changing
from tileas_xdsl.compiled_kernel import CompiledKernel
from tileas_xdsl.compiler import compile
from tileas_xdsl.interpreters.ptx.execution.state import Order
from tileas_xdsl.target.arch import Target
from tileas_xdsl.transforms.chunk_tiles.row_forms import RowForm, choose_row_form
from tileas_xdsl.transforms.kernels import tileas_chunk_tiles

WHOLE = softmax_problem(softmax, "f16", 5, 2048, 1, 2048)
RAGGED = softmax_problem(softmax, "f32", 5, 1000, 1, 1024)
TALL = softmax_problem(softmax, "bf16", 3, 4104, 2, 8192)
"""Its last tile block has one row less."""

PROBLEMS = (WHOLE, RAGGED, TALL, norm_problem("f16", 3, 2048, 1, 2048))
FORMS = ("kept", "ahead")


@cache
def _compiled(problem: Problem, form: str, target: str = "sm_90a") -> CompiledKernel:
    def choose(kernel: func.FuncOp, target: Target, _: str) -> RowForm | None:
        return choose_row_form(kernel, target, form)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tileas_chunk_tiles, "choose_row_form", choose)
        return problem.compiled(target)


@pytest.mark.parametrize(
    ("problem", "form", "order"),
    in_turns((problem, form) for form in FORMS for problem in PROBLEMS),
    ids=str,
)
def test_the_result_is_the_same(problem: Problem, form: str, order: Order) -> None:
    kernel = _compiled(problem, form)
    assert "cp.async.c" in kernel.ptx
    assert kernel.abi.is_persistent == (form == "ahead")
    assert simulated(problem, kernel).is_right
    assert emulated(problem, kernel, order=order, seed=1).is_right


@pytest.mark.parametrize("form", FORMS)
def test_each_of_two_rows_has_memory_of_its_own(form: str) -> None:
    problem = gradient_problem("f32", 4, 1024, 1, 1024)
    kernel = _compiled(problem, form, "sm_100a")
    assert kernel.abi.shared_bytes >= 2 * 4 * 1024
    assert emulated(problem, kernel, order="random", seed=1).is_right


FAULTS: Mapping[str, tuple[str, Edit]] = {
    "chunks are read before they are there": (
        "kept",
        changing(r"^.*cp\.async\.wait_group.*\n", ""),
    ),
    "a round does not wait for its row": ("ahead", changing(r"^.*cp\.async\.wait_group.*\n", "")),
}


@pytest.mark.parametrize("name", FAULTS)
def test_faults_are_found(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    form, edit = FAULTS[name]
    kernel = _compiled(WHOLE, form)
    monkeypatch.setattr(kernel, "ptx", edit(kernel.ptx))
    assert not emulated(WHOLE, kernel, order="lazy").is_right


ROTATED = (
    softmax_problem(softmax, "f16", 4, 1021, 1, 1024),
    softmax_problem(softmax, "f32", 4, 1001, 1, 1024),
    softmax_problem(softmax, "bf16", 3, 4103, 1, 8192),
    norm_problem("f16", 5, 1999, 1, 2048),
)
"""Rows that begin between vectors, and lines that they meet."""


@pytest.mark.parametrize(
    ("problem", "form", "order"),
    in_turns((problem, form) for form in FORMS for problem in ROTATED),
    ids=str,
)
def test_rows_that_begin_anywhere_are_copied_by_vectors(
    problem: Problem, form: str, order: Order
) -> None:
    """What vectors reach into, of the rows before and behind, is no part of them."""
    kernel = _compiled(problem, form)
    assert re.search(r"cp\.async\.cg\.\S* \[%r\d+\], \[%rd\d+\], 16;", kernel.ptx)
    assert simulated(problem, kernel).is_right
    assert emulated(problem, kernel, order=order, seed=1).is_right


@ct.kernel
def lowest(x, z, y, places, columns: ct.Constant[int]):
    """Rows that are used again, and others of which an index is enough."""
    i = ct.bid(0)
    zero = ct.PaddingMode.ZERO
    tile = ct.load(x, (i, 0), (1, columns), padding_mode=zero)
    ct.store(y, (i, 0), tile - ct.min(tile, axis=1, keepdims=True))
    ct.store(places, (i,), ct.argmax(ct.load(z, (i, 0), (1, columns), padding_mode=zero), axis=1))


def test_all_rows_that_are_loaded_ahead_have_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        tileas_chunk_tiles,
        "choose_row_form",
        lambda kernel, target, _: choose_row_form(kernel, target, "ahead"),
    )
    given = "x: {0}[?, ?%16], z: {0}[?, ?%16], y: {0}[?, ?%16], places: i32[?], columns={1}"
    assert compile(lowest, signature=given.format("f16", 8192)).abi.shared_bytes > 2 * 2 * 8192
    assert not compile(lowest, signature=given.format("f32", 32768)).abi.is_persistent


@ct.kernel
def shares(x, y, columns: ct.Constant[int]):
    """A row is a vector for all that is computed of it."""
    row = ct.reshape(ct.load(x, (ct.bid(0), 0), (1, columns)), (columns,))
    e = ct.exp(row - ct.max(row))
    ct.store(y, (ct.bid(0), 0), ct.reshape(e / ct.sum(e), (1, columns)))


@pytest.mark.parametrize("form", FORMS)
def test_rows_in_shared_memory_are_shown_as_vectors(
    form: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        tileas_chunk_tiles,
        "choose_row_form",
        lambda kernel, target, _: choose_row_form(kernel, target, form),
    )
    x = np.random.default_rng(5).standard_normal((3, 2048)).astype(np.float32)
    kernel = compile(shares, x, np.zeros_like(x), 2048, target="sm_90a")
    assert "cp.async.c" in kernel.ptx
    done = kernel.emulate(x, np.zeros_like(x), 2048, grid=3)
    e = np.exp(x.astype(np.float64) - x.max(axis=1, keepdims=True))
    np.testing.assert_allclose(done.arrays[1], e / e.sum(axis=1, keepdims=True), rtol=2e-6)
    assert not done.findings


ROWS = "x: {0}[?, ?%16], y: {0}[?, ?%16], rows=1, columns={1}"


NORM = (
    "x: {0}[?, ?%16], w: {0}[?%16], b: {0}[?%16], y: {0}[?, ?%16], means: f32[?], scales: f32[?], "
    "rows=1, columns={1}"
)


@needs_ptxas
@pytest.mark.parametrize(
    ("element", "columns", "lines"),
    [("f16", 16384, 2 * 2 * 16384), ("f16", 32768, 2 * 2 * 32768), ("f32", 32768, 0)],
)
def test_norms_are_loaded_ahead(element: str, columns: int, lines: int) -> None:
    """As measured on an H200; weights and biases are kept where all blocks have room for them."""
    kernel = compile(layer_norm, target="sm_90a", signature=NORM.format(element, columns))
    assert kernel.abi.is_persistent
    row = columns * (2 if element == "f16" else 4)
    assert row + lines <= kernel.abi.shared_bytes < row + lines + 1024
    assert ("ld.global" in kernel.ptx) == (not lines)
    assert kernel.assemble().spills <= (0 if lines else 64)


def test_lines_of_long_rows_are_begun_two_chunks_ahead() -> None:
    """A CTA that is alone would wait for them in each chunk."""
    given = "x: bf16[?, ?%16], weight: bf16[?%16], y: bf16[?, ?%16], rows=1, columns=65536"
    kernel = compile(rms_norm, target="sm_90a", signature=given)
    text = kernel.ir("tileas-chunk-tiles")
    loads = text[: text.index("nv_tileas.tiled_store")].count("nv_tileas.async.tiled_load")
    assert loads == 1 + 3


@needs_ptxas
@pytest.mark.parametrize(
    ("element", "columns", "form"),
    [("f16", 8192, ""), ("f16", 16384, "kept"), ("f16", 32768, "kept"), ("f32", 32768, "ahead")],
)
def test_the_model_chooses(element: str, columns: int, form: str) -> None:
    """As measured on an H200; the sentence says what was weighed."""
    kernel = compile(softmax, target="sm_90a", signature=ROWS.format(element, columns))
    assert kernel.abi.is_persistent == (form == "ahead")
    assert ("cp.async.c" in kernel.ptx) == bool(form)
    said = f"rows of {columns * (2 if element == 'f16' else 4)} bytes"
    assert (said in kernel.ir("tileas-chunk-tiles")) == (columns > 8192)
    assert kernel.assemble().spills == 0


LOSS = (
    "x: bf16[?, ?%16], labels: i32[?], losses: f32[?], gradients: bf16[?, ?%16], "
    "rows=1, columns=32768"
)


@needs_ptxas
def test_rows_that_do_not_fit_registers_are_loaded_once() -> None:
    """Cross entropy and its gradient: three phases read a row of 64 KiB from shared memory."""
    kernel = compile(cross_entropy, target="sm_90a", signature=LOSS)
    assert "ld.global.v4" not in kernel.ptx
    # The logit of the label waits for the label, while the row is on its way.
    assert kernel.ptx.rfind("cp.async.cg") < kernel.ptx.find("ld.global.b16")
    assert kernel.abi.shared_bytes >= 2 * 32768
    made = kernel.assemble()
    assert made.spills == 0
    assert made.registers <= 64


def test_what_does_not_fit_registers_is_right() -> None:
    problem = loss_problem("bf16", 1, 32000, 1, 32768)
    assert emulated(problem, problem.compiled("sm_90a"), order="random", seed=1).is_right


def test_what_does_not_fit_shared_memory_is_loaded_again() -> None:
    """Of 16 chunks of 16,384 bytes, 14 fit; three phases load two, and the first all others."""
    columns = 60000
    kernel = compile(softmax, target="sm_90a", signature=ROWS.format("f32", 65536))
    assert 14 << 14 <= kernel.abi.shared_bytes < 15 << 14
    x = np.random.default_rng(0).standard_normal((1, columns)).astype(np.float32)
    ran = kernel.emulate(x, np.full_like(x, np.nan), 1, 65536, order="lazy")
    assert not ran.findings
    powers = np.exp(x.astype(np.float64) - x.max(axis=1, keepdims=True))
    expected = powers / powers.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(ran.arrays[1], expected, rtol=1e-5)
