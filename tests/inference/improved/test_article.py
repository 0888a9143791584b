"""The programs that the improved mode is for: the article's, a softmax, attention."""

import pytest

from tests.inference.asked_programs import copied, flash_attention, softmax
from tests.support.decided_programs import (
    COPY,
    ZERO,
    I,
    J,
    array,
    article,
    fragment,
    loop,
    owners,
    program,
    read,
    shared,
    write,
)
from tileas_xdsl.inference.checking import check
from tileas_xdsl.inference.gemm_layouts import accumulator, product_of
from tileas_xdsl.inference.improved import infer
from tileas_xdsl.inference.program import Gemm, Reduce, WarpPolicy


def test_the_article_gets_its_sparse_layout() -> None:
    asked, expected = article()
    found = infer(asked)
    assert found.fragments["f"].same_function(expected.fragments["f"])
    assert found.loops[1].owners.same_function(expected.loops[1].owners)
    assert str(found.loops[1].owners.thread) == "d0 * 32 + d1 * 16"
    assert not found.conversions


def test_reasons_say_which_loop_fixed_what() -> None:
    reasons = {reason.subject: reason for reason in infer(article()[0]).reasons}
    assert set(reasons) == {"f", "loop 0", "loop 1"}
    assert reasons["f"].operation == 0
    assert reasons["loop 1"].rule == "as f lies"
    assert [one.verdict for one in reasons["f"].considered].count("chosen") == 1
    assert all(one.cost.endswith(" cycles") for one in reasons["f"].considered)


@pytest.mark.parametrize(("rows", "columns"), [(64, 128), (7, 300), (1, 5), (33, 63)])
def test_rows_of_a_softmax_lie_in_one_warp(rows: int, columns: int) -> None:
    asked = softmax(rows, columns, 128)
    found = infer(asked)
    assert check(asked, found) == ()
    assert not found.conversions
    warps = found.fragments["x"].thread_table[0] // 32
    assert (warps == warps[:, :1]).all()


def test_a_softmax_uses_wide_vectors() -> None:
    found = infer(softmax(64, 128, 128))
    assert found.loops[0].vector == found.loops[5].vector == 8


def test_attention_follows_the_products() -> None:
    asked = flash_attention()
    found = infer(asked)
    assert check(asked, found) == ()
    assert not found.conversions
    product = product_of(asked, next(o for o in asked.operations if isinstance(o, Gemm)))
    rows = accumulator(product, 128)
    for name in ("s", "sc", "o"):
        assert found.fragments[name].same_function(rows)
    sums = owners(128, (64,), I // 16 * 32 + I % 8 * 4 + COPY, I // 8 % 2, copies=4)
    for name in ("mx", "mp", "ss", "sl", "ls"):
        assert found.fragments[name].same_function(sums)


def test_products_with_other_warps_are_chained_by_a_conversion() -> None:
    asked = program(
        128,
        (
            *(shared(n, 64, 64, bits=16, element="f16") for n in ("a", "b", "d")),
            fragment("c", 64, 64),
            fragment("h", 64, 64, bits=16, element="f16"),
            fragment("e", 64, 64),
            array("O", 64, 64),
        ),
        Gemm("a", "b", "c", policy=WarpPolicy.FULL_ROW),
        copied("c", "h", 64, 64),
        Gemm("h", "d", "e", policy=WarpPolicy.FULL_COL),
        copied("e", "O", 64, 64),
        arch="sm_100a",
    )
    found = infer(asked)
    assert check(asked, found) == ()
    assert [(one.operation, one.buffer) for one in found.conversions] == [(1, "h")]
    assert found.conversions[0].cost > 0


def test_a_read_of_many_copies_runs_once() -> None:
    asked = program(
        64,
        (array("A", 4), fragment("f", 4), array("B", 4)),
        copied("A", "f", 4),
        loop(4, does=(read("f", I), write("B", I))),
        floating=frozenset({"f"}),
    )
    found = infer(asked)
    assert check(asked, found) == ()
    assert found.fragments["f"].is_fully_replicated
    assert found.loops[0].owners.is_fully_replicated


def test_equal_programs_get_equal_answers() -> None:
    first, second = infer(softmax(64, 96, 128)), infer(softmax(64, 96, 128))
    assert first == second


def test_keeping_an_axis_changes_nothing_else() -> None:
    asked = program(
        64,
        (array("A", 16, 64), fragment("x", 16, 64), fragment("s", 16, 1), array("B", 16, 64)),
        copied("A", "x", 16, 64),
        Reduce("x", "s", 1, keep_dims=True),
        loop(16, 64, does=(read("x", I, J), read("s", I, ZERO), write("B", I, J))),
    )
    found = infer(asked)
    assert check(asked, found) == ()
    assert not found.conversions
    assert found.fragments["s"].replicas > 1
