"""Every way to read a fragment gets a layout that the checker accepts, or a reason why not."""

import pytest

from tests.inference.asked_programs import loaded
from tests.inference.improved.inferred_programs import inferred, one_read, renamed
from tests.support.decided_programs import BLOCK, ZERO, I, J, K, loop, owners, read, write
from tests.support.ir import parse
from tests.support.tl_programs import KINDS
from tests.support.tl_programs.outcomes import asked
from tileas_xdsl.inference.checking import check
from tileas_xdsl.inference.decisions import InferenceError
from tileas_xdsl.inference.improved import infer
from tileas_xdsl.inference.program import Program

FREE = ("identity", "sliced", "one row", "strided", "sparse", "diagonal", "rotated", "reversed")
"""Kinds of reads that are served where the elements lie."""


def accepted(asked: Program) -> bool:
    """Whether there are decisions, which must be right; else the reason is a lack of registers."""
    try:
        found = infer(asked)
    except InferenceError as error:
        assert "registers a thread" in error.text
        return False
    assert check(asked, found) == ()
    return True


@pytest.mark.parametrize("kind", list(KINDS))
def test_one_read(kind: str) -> None:
    assert all(accepted(one_read(kind, seed)) for seed in range(4))


@pytest.mark.parametrize("kind", FREE)
def test_a_read_needs_no_conversion(kind: str) -> None:
    shape = (16, 16)
    index = {
        "identity": (I, J),
        "sliced": (I + 3, J),
        "one row": (ZERO + 3, I),
        "strided": (I * 2 + 1, J),
        "sparse": (I * 2 + J, ZERO),
        "diagonal": (I, I),
        "rotated": (I, (J + 3) % 16),
        "reversed": (I * -1 + 15, J),
    }[kind]
    extents = {
        "sliced": (13, 16),
        "one row": (16,),
        "strided": (8, 16),
        "sparse": (8, 2),
        "diagonal": (16,),
    }.get(kind, shape)
    here = (I, J)[: len(extents)]
    store = loop(*extents, does=(read("f", *index), write("O", *here)))
    asked = loaded(64, shape, store, extents)
    found = infer(asked)
    assert check(asked, found) == ()
    assert not found.conversions


def test_two_indices_are_read_in_one_thread() -> None:
    store = loop(64, 15, does=(read("f", I, J), read("f", I, J + 1), write("O", J, I)))
    by_rows = {"f": owners(64, (64, 16), I, J)}
    asked = loaded(64, (64, 16), store, (15, 64), annotations=by_rows)
    found = infer(asked)
    assert check(asked, found) == ()
    assert not found.conversions
    assert not found.staged
    assert found.loops[1].owners.thread_table[0].tolist() == [[n] * 15 for n in range(64)]


def test_two_indices_are_served_where_rows_are_spread() -> None:
    store = loop(64, 15, does=(read("f", I, J), read("f", I, J + 1), write("O", I, J)))
    asked = loaded(64, (64, 16), store, (64, 15))
    found = infer(asked)
    assert check(asked, found) == ()
    assert found.loops[1].owners.replicas == 1


def test_a_row_of_an_outer_loop_is_in_the_slots() -> None:
    store = loop(64, does=(read("f", BLOCK, I), write("O", BLOCK, I)))
    asked = loaded(64, (16, 64), store, (16, 64))
    found = infer(asked)
    assert check(asked, found) == ()


def test_a_serial_loop_in_the_body_stays_in_its_thread() -> None:
    store = loop(32, does=(read("f", I, J), write("O", I)), inner=(16,))
    asked = loaded(64, (32, 16), store, (32,))
    found = infer(asked)
    assert check(asked, found) == ()


def test_an_index_by_data_reads_rows_that_a_thread_has_whole() -> None:
    store = loop(64, 4, does=(read("f", I, None), write("O", I, J)))
    asked = loaded(64, (64, 8), store, (64, 4))
    found = infer(asked)
    assert check(asked, found) == ()


def test_an_index_by_data_reads_shared_memory() -> None:
    store = loop(512, does=(read("f", None), write("O", I)))
    asked = loaded(64, (512,), store, (512,))
    found = infer(asked)
    assert check(asked, found) == ()
    assert [(one.operation, one.buffer) for one in found.staged] == [(1, "f")]
    assert found.staged[0].cost > 0
    assert found.fragments["f"].slots == found.loops[1].owners.slots == 8


def test_a_small_table_is_held_by_all_threads() -> None:
    store = loop(512, does=(read("f", None), write("O", I)))
    found = infer(loaded(64, (8,), store, (512,)))
    assert not found.staged
    assert found.fragments["f"].is_fully_replicated


@pytest.mark.parametrize(("extent", "threads"), [(192, 128), (300, 128), (7, 32), (257, 64)])
def test_extents_that_threads_do_not_divide(extent: int, threads: int) -> None:
    store = loop(extent, does=(read("f", I), write("O", I)))
    asked = loaded(threads, (extent,), store, (extent,))
    found = infer(asked)
    assert check(asked, found) == ()
    used = len(set(found.loops[1].owners.thread_table.ravel().tolist()))
    assert 2 * used > min(extent, threads)


def test_three_dimensions() -> None:
    store = loop(3, 5, 7, does=(read("f", I, J, K), write("O", K, J, I)))
    asked = loaded(32, (3, 5, 7), store, (7, 5, 3))
    assert check(asked, infer(asked)) == ()


def test_a_loop_that_writes_a_part_elsewhere_converts_it() -> None:
    fixed = owners(32, (4,), I + 8, ZERO)
    store = loop(4, does=(read("A", I), write("f", I * 2)), annotation=fixed)
    asked = loaded(32, (8,), store, (8,))
    found = infer(asked)
    assert check(asked, found) == ()
    (conversion,) = found.conversions
    assert conversion.target.thread_table[0, ::2].tolist() == [8, 9, 10, 11]


def test_what_few_threads_hold_all_of_goes_through_shared_memory() -> None:
    fixed = owners(32, (64, 16), I % 8, I // 8 * 16 + J)
    store = loop(64, 16, does=(read("f", I, J), write("O", I, J)), annotation=fixed)
    by_rows = {"f": owners(32, (64, 16), I // 2, I % 2 * 16 + J)}
    asked = loaded(32, (64, 16), store, (64, 16), annotations=by_rows)
    found = infer(asked)
    assert check(asked, found) == ()
    assert [one.buffer for one in found.staged] == ["f"]
    assert not found.conversions


@pytest.mark.parametrize("seed", range(24))
def test_random_programs(seed: int) -> None:
    assert accepted(inferred(seed))


@pytest.mark.slow
@pytest.mark.parametrize("first", range(100, 1100, 50))
def test_many_random_programs(first: int) -> None:
    assert sum(accepted(inferred(seed)) for seed in range(first, first + 50)) > 45


@pytest.mark.parametrize("seed", range(4))
def test_names_do_not_matter(seed: int) -> None:
    asked = inferred(seed)
    other, names = renamed(asked)
    found, again = infer(asked), infer(other)
    assert {names[n]: layout for n, layout in found.fragments.items()} == again.fragments
    assert found.loops == again.loops


HALVES = """
!a = memref<64x32xf16, #tl<space shared>>
!b = memref<64x768xf16, #tl<space shared>>
!x = memref<32x768xf32, #tl<space fragment>>
!half = memref<16x768xf32, #tl<space shared>>
func.func @halves(%A: memref<64x32xf16>, %B: memref<64x768xf16>, %Y: memref<16x768xf32>) {
  %one = arith.constant 1 : index
  %zero = arith.constant 0 : index
  %two = arith.constant 2 : index
  %rows = arith.constant 16 : index
  tl.kernel (%bx) in (%one) threads(256) {
    %a = tl.alloc_shared : !a
    %b = tl.alloc_shared : !b
    %x = tl.alloc_fragment : !x
    %half = tl.alloc_shared : !half
    tl.copy %A[%zero, %zero] to %a : memref<64x32xf16> to !a
    tl.copy %B[%zero, %zero] to %b : memref<64x768xf16> to !b
    tl.gemm %a, %b, %x policy(full_col) {transpose_a, clear} : !a, !b, !x
    tl.serial %s = %zero to %two {
      tl.parallel (%i, %j) in (16, 768) {
        %first = arith.muli %s, %rows : index
        %row = arith.addi %i, %first : index
        %value = memref.load %x[%row, %j] : !x
        memref.store %value, %half[%i, %j] : !half
      }
      tl.copy %half to %Y[%zero, %zero] : !half to memref<16x768xf32>
    }
  }
  func.return
}
"""


def test_rows_of_a_serial_variable_are_read_where_they_lie() -> None:
    """Row `i + 16 * s` of an accumulator is in the thread of row i, for every s in its extents."""
    program = asked(parse(HALVES))
    found = infer(program)
    assert check(program, found) == ()
    assert not found.staged
    assert not found.conversions
