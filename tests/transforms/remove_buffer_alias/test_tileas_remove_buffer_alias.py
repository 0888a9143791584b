"""`tileas-remove-buffer-alias`: kernels give the same before and after, without aliases."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.seeds import seeds
from xdsl.context import Context
from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import ModuleOp

from tests.support.ir import parse
from tests.support.simulating import kernel, numbers
from tests.transforms.remove_buffer_alias.buffer_programs import random_program
from tileas_xdsl.analysis.memory.buffer_aliases import BufferAliases
from tileas_xdsl.diagnostics.emission import collecting_diagnostics
from tileas_xdsl.diagnostics.errors import DiagnosticError
from tileas_xdsl.diagnostics.verification.verify import verify_module
from tileas_xdsl.dialects.nv_tileas.memory.copy import CopyOp
from tileas_xdsl.interpreters.tile.launch import simulate
from tileas_xdsl.transforms.memory.tileas_remove_buffer_alias import TileasRemoveBufferAlias


def without_aliases(module: ModuleOp) -> list[str]:
    """Apply the pass, which leaves a valid module; the texts of its diagnostics."""
    with collecting_diagnostics() as log:
        TileasRemoveBufferAlias().apply(Context(), module)
    verify_module(module)
    return [report.message for report in log.diagnostics]


def results(module: ModuleOp, *args: Any) -> list[bytes]:
    return [np.asarray(array).tobytes() for array in simulate(module, args).arrays]


def check(text: str, *runs: tuple[Any, ...]) -> ModuleOp:
    """No alias is left, the second time nothing changes, and all runs agree with those before."""
    before, after = parse(text), parse(text)
    assert without_aliases(after) == []
    assert BufferAliases(after).merges == []
    printed = str(after)
    assert without_aliases(after) == []
    assert str(after) == printed
    for args in runs:
        assert results(after, *args) == results(before, *args)
    return after


def count(module: ModuleOp, kind: type) -> int:
    return sum(isinstance(op, kind) for op in module.walk())


@pytest.mark.sample(4)
@pytest.mark.parametrize("padded", [False, True])
@pytest.mark.parametrize("part", seeds(4, 8))
def test_random_kernels(part: int, padded: bool) -> None:
    """Selections, loops and branches in one another, with writes through aliases or between."""
    rng = np.random.default_rng(part)
    data, out = (numbers(rng, (16, 8), np.int32) for _ in range(2))
    copied = 0
    for seed in range(5 * part, 5 * part + 5):
        text = random_program(seed, padded=padded)
        p, q = bool(rng.integers(2)), bool(rng.integers(2))
        after = check(text, (data, out, p, q), (data, out, not p, q))
        copied += count(after, CopyOp) - count(parse(text), CopyOp)
    assert (copied > 0) == padded


TYPES = {
    "m": "memref<8x16xf32>",
    "tile": "tensor<8x16xf32>",
    "ring": "tensor<2x8x16xf32, #nv_tileas.shared<(2,8,16),(128,16,1)>>",
    "slot": "tensor<8x16xf32, #nv_tileas.shared<(8,16),(16,1),swizzle<1,4,3>>>",
    "plain": "tensor<8x16xf32, #nv_tileas<space smem>>",
}

OTHER_LAYOUT = """
  %ring = nv_tileas.alloc_tensor : !ring
  %x = nv_tileas.load %a[%zero, %zero] {atom = #ldg} : !m -> !tile
  %y = nv_tileas.load %b[%zero, %zero] {atom = #ldg} : !m -> !tile
  %low = nv_tileas.view %ring : !ring -> !plain
  %high = nv_tileas.view %ring {offset = 128} : !ring -> !plain
  nv_tileas.copy %x, %low {atom = #any} : !tile, !plain
  nv_tileas.copy %y, %high {atom = #any} : !tile, !plain
  %v = nv_tileas.view %ring : !ring -> !slot
  %w = nv_tileas.view %ring {offset = 128} : !ring -> !slot
  %s = arith.select %c, %v, %w : !slot
  %first = nv_tileas.convert_layout %s : !slot -> !tile
  %sum = arith.addf %x, %y : !tile
  nv_tileas.copy %sum, %low {atom = #any} : !tile, !plain
  %second = nv_tileas.convert_layout %s : !slot -> !tile
  %both = arith.subf %first, %second : !tile
  nv_tileas.store %both, %a[%zero, %zero] {atom = #stg} : !tile, !m
"""


def test_a_copy_in_another_layout_sees_what_was_written_last() -> None:
    """Writes between two reads of the alias are seen: each read has a copy of its own."""
    rng = np.random.default_rng(5)
    a, b = numbers(rng, (8, 16), np.float32), numbers(rng, (8, 16), np.float32)
    text = kernel("%a: !m, %b: !m, %c: i1", OTHER_LAYOUT, types=TYPES)
    after = check(text, (a, b, True), (a, b, False))
    assert count(after, CopyOp) == count(parse(text), CopyOp) + 4
    np.testing.assert_array_equal(simulate(after, (a, b, True)).arrays[0], a - (a + b))
    assert not simulate(after, (a, b, False)).arrays[0].any()


def test_an_alias_that_is_written_gets_no_copy() -> None:
    """The write must reach the buffer: the view stays, and what it begins with is selected."""
    rng = np.random.default_rng(8)
    a, b = numbers(rng, (8, 16), np.float32), numbers(rng, (8, 16), np.float32)
    write = "nv_tileas.copy %y, %s {atom = #any} : !tile, !slot"
    reread = "%second = nv_tileas.convert_layout %s : !slot"
    written = OTHER_LAYOUT.replace(
        reread, f"{write}\n  %second = nv_tileas.convert_layout %low : !plain"
    )
    text = kernel("%a: !m, %b: !m, %c: i1", written, types=TYPES)
    before, after = parse(text), parse(text)
    assert without_aliases(after) == []
    assert count(after, CopyOp) == count(before, CopyOp)
    for c in (True, False):
        assert results(after, a, b, c) == results(before, a, b, c)
    np.testing.assert_array_equal(simulate(after, (a, b, True)).arrays[0], a - b)


@pytest.mark.parametrize("k", [0, 1, 2])
def test_numbers_that_only_the_run_knows(k: int) -> None:
    """A slot that is counted in slots, and one inside of a view: multiples and sums of values."""
    rng = np.random.default_rng(9)
    a, b = numbers(rng, (8, 16), np.float32), numbers(rng, (8, 16), np.float32)
    text = kernel(
        "%a: !m, %b: !m, %c: i1, %k: index",
        """
  %ring = nv_tileas.alloc_tensor : tensor<4x8x16xf32, #nv_tileas<space smem>>
  %x = nv_tileas.load %a[%zero, %zero] {atom = #ldg} : !m -> !tile
  %y = nv_tileas.load %b[%zero, %zero] {atom = #ldg} : !m -> !tile
  %first = nv_tileas.view %ring[%k, %zero, %zero]
    : tensor<4x8x16xf32, #nv_tileas<space smem>> -> !plain
  %second = nv_tileas.view %first {offset = 128} : !plain
  nv_tileas.copy %x, %first {atom = #any} : !tile, !plain
  nv_tileas.copy %y, %second {atom = #any} : !tile, !plain
  %s = arith.select %c, %first, %second : !plain
  %z = nv_tileas.convert_layout %s : !plain -> !tile
  nv_tileas.store %z, %b[%zero, %zero] {atom = #stg} : !tile, !m
""",
        types=TYPES,
    )
    after = check(text, (a, b, True, k), (a, b, False, k))
    np.testing.assert_array_equal(simulate(after, (a, b, True, k)).arrays[1], a)


ROTATING = """
  %ring = nv_tileas.alloc_tensor : tensor<2x8x16xf32, #nv_tileas<space smem>>
  %v = nv_tileas.view %ring : tensor<2x8x16xf32, #nv_tileas<space smem>> -> !plain
  %w = nv_tileas.view %v {offset = 128} : !plain
  %x = nv_tileas.load %a[%zero, %zero] {atom = #ldg} : !m -> !tile
  nv_tileas.copy %x, %v {atom = #any} : !tile, !plain
  nv_tileas.copy %x, %w {atom = #any} : !tile, !plain
  %r, %s = scf.for %i = %zero to %n step %one iter_args(%now = %v, %next = %w) -> (!plain, !plain) {
    %old = nv_tileas.convert_layout %now : !plain -> !tile
    %other = nv_tileas.convert_layout %next : !plain -> !tile
    %new = arith.addf %old, %other : !tile
    nv_tileas.copy %new, %next {atom = #any} : !tile, !plain
    scf.yield %next, %now : !plain, !plain
  }
  %result = nv_tileas.convert_layout %r : !plain -> !tile
  nv_tileas.store %result, %b[%zero, %zero] {atom = #stg} : !tile, !m
"""


def test_a_double_buffer_rotates_as_before() -> None:
    rng = np.random.default_rng(6)
    a, b = np.abs(numbers(rng, (8, 16), np.float32)), numbers(rng, (8, 16), np.float32)
    text = kernel("%a: !m, %b: !m, %n: index", ROTATING, types=TYPES)
    after = check(text, *[(a, b, n) for n in range(5)])
    np.testing.assert_array_equal(simulate(after, (a, b, 1)).arrays[1], a + a)


def test_what_stays_is_reported_and_the_rest_is_done() -> None:
    """One selection is between two allocations; the other one has nothing to do with it."""
    module = parse("""
      !s = tensor<64xf16, #nv_tileas<space smem>>
      func.func @f(%c: i1) {
        %a = nv_tileas.alloc_tensor : !s
        %b = nv_tileas.alloc_tensor : !s
        %s = arith.select %c, %a, %b : !s
        %v = nv_tileas.view %a {offset = 64} : !s
        %t = arith.select %c, %a, %v : !s
        "test.op"(%s, %t) : (!s, !s) -> ()
        func.return
      }
      func.func @g(%c: i1) {
        func.return
      }
    """)
    assert without_aliases(module) == ["Cannot find last written SSA."]
    selects = [op for op in module.walk() if isinstance(op, arith.SelectOp)]
    assert sum(str(op.result.type) == "index" for op in selects) == 1
    assert len(selects) == 2


def test_an_alias_of_an_alias_that_stays_becomes_a_view_of_that() -> None:
    module = parse("""
      !s = tensor<64xf16, #nv_tileas<space smem>>
      func.func @f(%c: i1, %n: index, %k: index) {
        %zero = arith.constant 0 : index
        %one = arith.constant 1 : index
        %a = nv_tileas.alloc_tensor : !s
        %w = nv_tileas.extract_slice %a[%k][32][1] : !s -> tensor<32xf16, #nv_tileas<space smem>>
        %r = scf.for %i = %zero to %n step %one iter_args(%u = %w)
            -> (tensor<32xf16, #nv_tileas<space smem>>) {
          "test.op"(%u) : (tensor<32xf16, #nv_tileas<space smem>>) -> ()
          scf.yield %w : tensor<32xf16, #nv_tileas<space smem>>
        }
        func.return
      }
    """)
    assert without_aliases(module) == []
    loop = next(op for op in module.walk() if isinstance(op, scf.ForOp))
    assert not loop.iter_args


@pytest.mark.parametrize("rounds", [0, 1])
def test_too_few_rounds_leave_a_valid_module(rounds: int) -> None:
    module = parse("""
      !s = tensor<32x32xf16, #nv_tileas<space smem>>
      !p = tensor<16x16xf16, #nv_tileas<space smem>>
      func.func @f(%c: i1, %i: index, %j: index) {
        %a = nv_tileas.alloc_tensor : tensor<2x32x32xf16, #nv_tileas<space smem>>
        %v = nv_tileas.view %a : tensor<2x32x32xf16, #nv_tileas<space smem>> -> !s
        %w = nv_tileas.view %v {offset = 1024} : !s
        %x = nv_tileas.extract_slice %v[%i, 0][16, 16][1, 1] : !s -> !p
        %y = nv_tileas.extract_slice %w[%j, 0][16, 16][1, 1] : !s -> !p
        %s = arith.select %c, %x, %y : !p
        "test.op"(%s) : (!p) -> ()
        func.return
      }
    """)
    with pytest.raises(DiagnosticError, match="TileASRemoveBufferAliasPass failed to converge"):
        TileasRemoveBufferAlias(max_rounds=rounds).apply(Context(), module)
    verify_module(module)
    TileasRemoveBufferAlias(max_rounds=2).apply(Context(), module)
    assert BufferAliases(module).merges == []


def test_long_chains_of_selections() -> None:
    """Time and depth are those of the chain, not more."""
    chain = "\n".join(
        f"%s{k + 1} = arith.select %c, %s{k}, %v : !s\n%w{k} = nv_tileas.view %s{k} : !s"
        for k in range(400)
    )
    module = parse(f"""
      !s = tensor<64xf16, #nv_tileas<space smem>>
      func.func @f(%c: i1) {{
        %s0 = nv_tileas.alloc_tensor : !s
        %v = nv_tileas.view %s0 {{offset = 64}} : !s
        {chain}
        "test.op"(%s400) : (!s) -> ()
        func.return
      }}
    """)
    assert without_aliases(module) == []
    assert BufferAliases(module).merges == []
