"""The rules one by one: what they accept and reject, and their messages."""

from __future__ import annotations

from dataclasses import replace

from support.decided_programs import (
    BLOCK,
    COPY,
    ZERO,
    I,
    J,
    K,
    array,
    article,
    copied,
    everywhere,
    fragment,
    loop,
    owners,
    program,
    read,
    rows,
    rules,
    shared,
    update,
    with_fragment,
    with_loop,
    write,
)

from tileas_xdsl.inference.checking import Rule, check
from tileas_xdsl.inference.decisions import Decisions, LoopDecision
from tileas_xdsl.inference.program import DYNAMIC, CumSum, Loop, Program, Reduce
from tileas_xdsl.layout import parse_layout
from tileas_xdsl.layout.expr.expression import Number, dimension


def one_loop(threads: int, buffers: tuple, body: Loop, layouts: dict, **decision: object) -> tuple:
    """Return a program of one loop whose iterations are distributed row-major over the threads."""
    width = decision.pop("vector", 1)
    flat: Number = ZERO
    for k, extent in enumerate(body.extents):
        flat = flat * extent + dimension(k)
    spread = owners(
        threads,
        body.extents,
        flat // width % threads,
        flat // width // threads * width + flat % width,
    )
    chosen = LoopDecision(spread, vector=width, **decision)
    return program(threads, buffers, body), Decisions(layouts, {0: chosen})


def test_a_finding_tells_the_element_and_the_threads() -> None:
    asked, answered = article()
    packed = with_loop(answered, 1, owners=owners(64, (2, 2), I * 2 + J, ZERO))
    (finding,) = check(asked, packed)
    assert str(finding) == (
        "k.mlir:f:read: read: f[1, 0] lives in thread 16; loop 1 (k.mlir:loop) reads it on "
        "thread 1, which runs iteration [0, 1]"
    )


def test_a_missing_writer_is_named() -> None:
    asked, answered = copied()
    (finding,) = check(asked, with_loop(answered, 0, owners=owners(32, (16,), I, ZERO)))
    assert finding.text == (
        "x[0] lives in threads 0 and 16; loop 0 (k.mlir:loop) does not run iteration [0], which "
        "writes it, on thread 16"
    )


def test_data_choose_any_element_of_a_row() -> None:
    """An index that depends on data may be any, so the thread needs the whole row."""
    body = loop(32, does=(read("x", I, None), write("B", I)))
    buffers = (array("B", 32), fragment("x", 32, 4))
    by_rows = {"x": owners(32, (32, 4), I, J)}
    assert not rules(*one_loop(32, buffers, body, by_rows))
    spread = {"x": owners(32, (32, 4), I % 8 * 4 + J, I // 8)}
    assert rules(*one_loop(32, buffers, body, spread)) == {Rule.READ}


def test_a_serial_loop_in_the_body_reads_all_its_elements() -> None:
    body = loop(32, does=(read("x", I, J), write("B", I)), inner=(4,))
    buffers = (array("B", 32), fragment("x", 32, 4))
    assert not rules(*one_loop(32, buffers, body, {"x": owners(32, (32, 4), I, J)}))
    spread = {"x": owners(32, (32, 4), I % 8 * 4 + J, I // 8)}
    assert rules(*one_loop(32, buffers, body, spread)) == {Rule.READ}


def test_a_variable_of_a_loop_around_may_be_any() -> None:
    """Row s0 of a fragment, read by a thread a column: every row must lie that way."""
    body = loop(32, does=(read("x", BLOCK, I), write("B", I)))
    buffers = (array("B", 32), fragment("x", 4, 32))
    assert not rules(*one_loop(32, buffers, body, {"x": owners(32, (4, 32), J, I)}))
    turned = {"x": owners(32, (4, 32), (I + J) % 32, I)}
    assert rules(*one_loop(32, buffers, body, turned)) == {Rule.READ}


def test_an_index_beyond_a_fragment_is_found_unless_guarded() -> None:
    buffers = (array("B", 32), fragment("x", 32))
    layouts = {"x": everywhere(32, 32)}
    for guarded, expected in ((False, {Rule.BOUNDS}), (True, set())):
        body = loop(32, does=(read("x", I + 1, guarded=guarded), write("B", I)))
        assert rules(*one_loop(32, buffers, body, layouts)) == expected


def test_atomics_on_registers_are_none() -> None:
    body = loop(32, does=(read("A", I), update("x", I)))
    buffers = (array("A", 32), fragment("x", 32))
    layouts = {"x": owners(32, (32,), I, ZERO)}
    assert rules(*one_loop(32, buffers, body, layouts)) == {Rule.WRITE}


def test_an_atomic_update_happens_once() -> None:
    body = loop(16, does=(read("A", I), update("B", ZERO)))
    asked = program(32, (array("A", 16), array("B", 1)), body)
    twice = LoopDecision(owners(32, (16,), COPY * 16 + I, ZERO, copies=2))
    assert rules(asked, Decisions({}, {0: twice})) == {Rule.COPIES}
    assert not rules(asked, Decisions({}, {0: replace(twice, runs_once=True)}))


def test_copies_on_one_thread_are_one() -> None:
    body = loop(16, does=(read("A", I), write("B", I)))
    asked = program(32, (array("A", 16), array("B", 16)), body)
    assert not rules(asked, Decisions({}, {0: LoopDecision(owners(32, (16,), I, ZERO, copies=2))}))


def test_a_copy_may_read_what_another_has_stored() -> None:
    """The value goes to registers of both copies, the sum to memory by the first one."""

    def asked(index: Number) -> Program:
        body = loop(16, does=(read("S", I), write("x", I), write("S", index)))
        return program(32, (shared("S", 32), fragment("x", 16)), body)

    _, answered = copied()
    assert rules(asked(I), answered) == {Rule.COPIES}
    assert not rules(asked(I + 16), answered)


def test_iterations_that_write_one_element_are_a_reduction() -> None:
    buffers = (array("A", 32), array("B", 32))
    for index in (ZERO, I // 2, I % 8):
        body = loop(32, does=(read("A", I), write("B", index)))
        assert rules(*one_loop(32, buffers, body, {})) == {Rule.RACE}
    serial = loop(32, does=(read("A", J), write("B", I)), inner=(4,))
    assert not rules(*one_loop(32, buffers, serial, {}))


def test_two_stores_of_neighbours_meet() -> None:
    buffers = (array("A", 32), array("B", 64))
    meet = loop(32, does=(read("A", I), write("B", I), write("B", I + 1)))
    assert rules(*one_loop(32, buffers, meet, {})) == {Rule.RACE}
    part = loop(32, does=(read("A", I), write("B", I * 2), write("B", I * 2 + 1)))
    assert not rules(*one_loop(32, buffers, part, {}))


def test_an_iteration_that_reads_what_another_writes_depends_on_it() -> None:
    buffers = (array("A", 33),)
    body = loop(32, does=(read("A", I + 1), write("A", I)))
    (finding,) = check(*one_loop(32, buffers, body, {}))
    assert finding.rule is Rule.RACE
    assert finding.text == "A[1] is read by iteration [0] and written by iteration [1] of loop 0"
    guarded = loop(32, does=(read("A", I + 1, guarded=True), write("A", I)))
    assert not rules(*one_loop(32, buffers, guarded, {}))


def test_threads_with_fewer_iterations_are_padding() -> None:
    body = loop(40, does=(read("A", I), write("B", I)))
    buffers = (array("A", 40), array("B", 40))
    (finding,) = check(*one_loop(32, buffers, body, {}))
    assert (finding.rule, finding.text) == (
        Rule.PADDING,
        "thread 8 has nothing to do in step 1 of loop 0, which is not padded",
    )
    assert not rules(*one_loop(32, buffers, body, {}, is_padded=True))


def test_idle_threads_are_no_padding() -> None:
    body = loop(20, does=(read("A", I), write("B", I)))
    assert not rules(*one_loop(32, (array("A", 20), array("B", 20)), body, {}))


def vectors(body: Loop, *buffers: object, width: int = 4, **more: object) -> set[Rule]:
    return rules(*one_loop(32, buffers, body, {}, vector=width, **more))


def test_neighbours_are_adjacent_and_aligned() -> None:
    a, b = array("A", 32, 8), array("B", 32, 8)
    assert not vectors(loop(32, 8, does=(read("A", I, J), write("B", I, J))), a, b)
    turned = array("B", 8, 32)
    found = vectors(loop(32, 8, does=(read("A", I, J), write("B", J, I))), a, turned)
    assert found == {Rule.VECTOR}
    shifted = array("A", 32, 9)
    assert vectors(loop(32, 8, does=(read("A", I, J), write("B", I, J))), shifted, b)


def test_blocks_keep_the_alignment() -> None:
    a, b = array("A", 4096), array("B", 128)
    for scale, expected in ((128, set()), (2, {Rule.VECTOR})):
        body = loop(128, does=(read("A", BLOCK * scale + I), write("B", I)))
        assert vectors(body, a, b) == expected


def test_all_steps_may_read_one_element_and_not_write_one() -> None:
    a, b = array("A", 32), array("B", 32, 8)
    assert not vectors(loop(32, 8, does=(read("A", I), write("B", I, J))), a, b)
    inner = loop(32, 4, does=(read("B", I, J), read("A", K), write("B", I, J)), inner=(4,))
    assert not vectors(inner, a, b)


def test_rows_of_unknown_length_are_not_aligned() -> None:
    known, unknown = array("A", 32, 8), array("A", 32, DYNAMIC)
    body = loop(32, 8, does=(read("A", I, J), write("B", I, J)))
    assert not vectors(body, known, array("B", 32, 8))
    assert vectors(body, unknown, array("B", 32, 8)) == {Rule.VECTOR}


def test_a_vector_that_leaves_its_array_half_way_is_found() -> None:
    body = loop(128, does=(read("A", I), write("B", I)))
    assert vectors(body, array("A", 64), array("B", 128)) == set()
    assert vectors(body, array("A", 66), array("B", 128)) == {Rule.VECTOR}


def test_a_vector_is_no_wider_than_the_target_has() -> None:
    body = loop(256, does=(read("A", I), write("B", I)))
    asked, answered = one_loop(32, (array("A", 256), array("B", 256)), body, {}, vector=8)
    assert rules(asked, answered) == {Rule.VECTOR}
    assert not rules(replace(asked, arch="sm_100a"), answered)


def test_data_choose_no_neighbours() -> None:
    body = loop(128, does=(read("A", None), write("B", I)))
    assert vectors(body, array("A", 128), array("B", 128)) == {Rule.VECTOR}


def test_a_layout_in_shared_memory_decides_who_is_a_neighbour() -> None:
    body = loop(32, 4, does=(read("S", I, J), write("B", I, J)))
    asked, answered = one_loop(32, (shared("S", 32, 4), array("B", 32, 4)), body, {}, vector=4)
    by_rows, by_columns = parse_layout("(32,4):(16,4)"), parse_layout("(32,4):(4,128)")
    assert not rules(asked, replace(answered, shared={"S": by_rows}))
    assert rules(asked, replace(answered, shared={"S": by_columns})) == {Rule.VECTOR}


def test_annotations_bind() -> None:
    asked, answered = article()
    column = owners(64, (4, 16), J, I)
    (finding,) = check(replace(asked, annotations={"f": column}), answered)
    assert finding.rule is Rule.ANNOTATION
    assert finding.text == ("f[1, 0] is annotated to be in thread 0, decided to be in thread 16")
    same = owners(64, (4, 16), J + I * 16, ZERO)
    assert not rules(replace(asked, annotations={"f": same}), answered)


def test_an_annotation_of_a_loop_binds() -> None:
    asked, answered = article()
    first, second = asked.operations
    assert isinstance(first, Loop)
    annotated = replace(first, annotation=owners(64, (4, 16), J + I * 16, ZERO))
    assert not rules(replace(asked, operations=(annotated, second)), answered)
    annotated = replace(first, annotation=owners(64, (4, 16), J * 4 + I, ZERO))
    assert rules(replace(asked, operations=(annotated, second)), answered) == {Rule.ANNOTATION}


def test_what_all_threads_read_all_threads_hold() -> None:
    asked, answered = copied()
    asked = replace(asked, floating=frozenset({"x"}))
    (finding,) = check(asked, answered)
    assert (finding.rule, finding.text) == (
        Rule.FLOATING,
        "x[0] is read by all threads, thread 1 does not hold it",
    )
    whole = with_fragment(answered, x=everywhere(32, 16))
    assert not rules(asked, with_loop(whole, 0, owners=everywhere(32, 16)))


def test_views_of_one_storage_hold_it_in_one_place() -> None:
    body = loop(4, 16, does=(read("A", I, J), write("x", I, J)))
    buffers = (array("A", 4, 16), fragment("x", 4, 16), fragment("v", 64, storage="x"))
    whole = owners(64, (4, 16), I * 16 + J, ZERO)
    asked, answered = one_loop(64, buffers, body, {"x": whole, "v": owners(64, (64,), I, ZERO)})
    assert not rules(asked, answered)
    turned = with_fragment(answered, v=owners(64, (64,), I % 4 * 16 + I // 4, ZERO))
    assert rules(asked, turned) == {Rule.ALIAS}


def test_halves_of_a_number_lie_where_it_does() -> None:
    body = loop(32, does=(read("A", I), write("x", I)))
    buffers = (array("A", 32), fragment("x", 32), fragment("v", 64, bits=16, storage="x"))
    whole = owners(32, (32,), I, ZERO)
    asked, answered = one_loop(
        32, buffers, body, {"x": whole, "v": owners(32, (64,), I // 2, I % 2)}
    )
    assert not rules(asked, answered)
    turned = with_fragment(answered, v=owners(32, (64,), I // 2, 1 + I % 2 * -1))
    assert rules(asked, turned) == {Rule.ALIAS}


def test_views_of_shared_memory_agree_on_the_bytes() -> None:
    body = loop(32, does=(read("S", I // 8, I % 8), write("B", I)))
    buffers = (array("B", 32), shared("S", 4, 8), shared("T", 32, storage="S"))
    asked, answered = one_loop(32, buffers, body, {})
    assert not rules(asked, answered)
    by_columns = parse_layout("(4,8):(4,16)")
    assert rules(asked, replace(answered, shared={"S": by_columns})) == {Rule.ALIAS}


def test_a_result_of_another_shape_is_none() -> None:
    asked, answered = rows()
    first, reduction, last = asked.operations
    assert isinstance(reduction, Reduce)
    for changed in (replace(reduction, keep_dims=True), replace(reduction, axis=2)):
        found = rules(replace(asked, operations=(first, changed, last)), answered)
        assert found == {Rule.REDUCTION}


def test_a_kept_axis_is_of_one_element() -> None:
    asked = program(
        32,
        (fragment("x", 16, 8), fragment("s", 16, 1)),
        Reduce("x", "s", 1, keep_dims=True),
    )
    quads = owners(32, (16, 8), I * 2 + J // 4, J % 4)
    sums = owners(32, (16, 1), I * 2 + COPY, ZERO, copies=2)
    assert not rules(asked, Decisions({"x": quads, "s": sums}, {}))


def test_running_sums_have_the_shape_of_their_source() -> None:
    layouts = {"x": everywhere(32, 4, 8), "y": everywhere(32, 4, 8), "z": everywhere(32, 4)}
    buffers = (fragment("x", 4, 8), fragment("y", 4, 8), fragment("z", 4))
    for target, expected in (("y", set()), ("z", {Rule.REDUCTION})):
        asked = program(32, buffers, CumSum("x", target, 1))
        assert rules(asked, Decisions(layouts, {})) == expected
