"""Programs without a valid layout are rejected with iterations, elements and location."""

import pytest

from tests.inference.asked_programs import copied, loaded
from tests.support.decided_programs import (
    COPY,
    ZERO,
    I,
    J,
    array,
    fragment,
    loop,
    owners,
    program,
    read,
    update,
    write,
)
from tileas_xdsl.inference import modes
from tileas_xdsl.inference.checking import check
from tileas_xdsl.inference.decisions import InferenceError, RegistersError
from tileas_xdsl.inference.improved import infer
from tileas_xdsl.inference.program import Program


def refusal(asked: Program) -> InferenceError:
    with pytest.raises(InferenceError) as caught:
        infer(asked)
    return caught.value


def test_a_write_that_is_a_reduction() -> None:
    asked = program(
        32,
        (array("A", 4, 8), fragment("m", 4)),
        loop(4, 8, does=(read("A", I, J), read("m", I), write("m", I))),
    )
    error = refusal(asked)
    assert error.text == (
        "iterations (0, 0) and (0, 1) of the loop at k.mlir:loop both write m[0]: "
        "a reduction in disguise; use tl.reduce, a serial loop inside, or tl.atomic_add"
    )
    assert error.location == "k.mlir:m:write"


def test_a_store_that_is_a_reduction() -> None:
    store = loop(8, 8, does=(read("f", I, J), write("O", I + J)))
    assert "both write O[1]" in refusal(loaded(32, (8, 8), store, (15,))).text


def test_an_iteration_that_reads_what_another_writes() -> None:
    move = loop(7, does=(read("f", I + 1), write("f", I)))
    error = refusal(loaded(32, (8,), move, (8,)))
    assert error.text.startswith(
        "iteration (0) of the loop at k.mlir:loop reads f[1], which iteration (1) writes"
    )
    assert error.notes[0].location == "k.mlir:f:write"


def test_a_read_outside_of_a_fragment() -> None:
    store = loop(8, does=(read("f", I + 1), write("O", I)))
    error = refusal(loaded(32, (8,), store, (8,)))
    assert error.text == "iteration (7) of the loop at k.mlir:loop touches f[8], outside of [8]"


def test_a_condition_may_keep_an_iteration_inside() -> None:
    store = loop(8, does=(read("f", I + 1, guarded=True), write("O", I)))
    assert infer(loaded(32, (8,), store, (8,))).loops


def test_an_atomic_update_of_registers() -> None:
    error = refusal(loaded(32, (8,), loop(8, does=(update("f", I),)), (8,)))
    assert error.text.startswith("an atomic update of f, a fragment")


def test_too_many_registers() -> None:
    store = loop(256, 64, does=(read("f", I, J), write("O", I, J)))
    error = refusal(loaded(32, (256, 64), store, (256, 64)))
    assert error.text.startswith("fragments need 512 registers a thread at the loop at ")
    assert "(f 512), a block of 32 threads has 255 for each" in error.text
    assert error.location == "f.mlir"
    with pytest.raises(RegistersError):
        modes.infer(loaded(32, (256, 64), store, (256, 64)))


def test_few_registers_too_many_are_spilled() -> None:
    store = loop(160, 64, does=(read("f", I, J), write("O", I, J)))
    asked = loaded(32, (160, 64), store, (160, 64))
    found = modes.infer(asked)
    assert found.spilled is not None
    assert found.spilled.text == refusal(asked).text
    assert "need 320 registers" in found.spilled.text
    assert not check(asked, found)


@pytest.mark.parametrize(
    ("layout", "text"),
    [
        (owners(32, (8,), I * 8, ZERO), "uses threads outside of the block of 32"),
        (owners(32, (8,), I // 2, ZERO), "puts several elements into one slot of a thread"),
        (owners(64, (8,), I, ZERO), "is for 64 threads, the block has 32"),
        (owners(32, (9,), I, ZERO), "is for [9] and not for [8]"),
    ],
)
def test_an_annotation_that_cannot_be(layout: object, text: str) -> None:
    store = loop(8, does=(read("f", I), write("O", I)))
    asked = loaded(32, (8,), store, (8,), annotations={"f": layout})
    assert refusal(asked).text.endswith(text)


def test_an_annotated_loop_that_writes_to_a_view_elsewhere() -> None:
    fixed = owners(32, (4,), I + 8, ZERO)
    asked = program(
        32,
        (
            array("A", 8),
            fragment("f", 8, storage="f"),
            fragment("g", 2, 4, storage="f"),
            array("O", 8),
        ),
        copied("A", "f", 8),
        loop(4, does=(read("A", I), write("g", I // 2, I * 3 % 4)), annotation=fixed),
        copied("f", "O", 8),
    )
    error = refusal(asked)
    assert "element f[0] lives in thread" in error.text
    assert "loop 'k.mlir:loop' runs it on thread 8" in error.text


def test_copies_that_would_overtake_one_another() -> None:
    twice = owners(32, (8,), I + COPY * 8, ZERO, copies=2)
    asked = program(
        32,
        (array("A", 8), fragment("f", 8)),
        loop(8, does=(read("A", I), write("f", I), write("A", I)), annotation=twice),
    )
    assert refusal(asked).text.startswith(
        "no layout lets the loop at k.mlir:loop run: it reads memory"
    )


def test_more_shared_memory_than_there_is() -> None:
    store = loop(4096, does=(read("f", None), write("O", I)))
    asked = loaded(256, (65536,), store, (4096,))
    error = refusal(asked)
    assert "need 262144 bytes of 232448" in error.text or "registers a thread" in error.text
