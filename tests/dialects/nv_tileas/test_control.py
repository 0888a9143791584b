"""Constructors of control operations equal the text that one would write."""

from xdsl.builder import Builder
from xdsl.dialects import test
from xdsl.dialects.builtin import TupleType, f32, i1, i32

from tileas_xdsl.dialects.nv_tileas.control import (
    AsyncCancelNextProgramIdOp,
    CancelNextProgramIdOp,
    PragmaOp,
    YieldOp,
    claim_types,
)
from tileas_xdsl.dialects.nv_tileas.types import AsyncTokenType


def test_pragma_without_body() -> None:
    assert str(PragmaOp("one")) == 'nv_tileas.pragma {ocgEnterDirectives = "one"}'
    pragma = PragmaOp(leave=["one", "two"])
    pragma.verify_()
    assert str(pragma) == 'nv_tileas.pragma {ocgLeaveDirectives = ["one", "two"]}'


def test_pragma_gives_what_its_body_yields() -> None:
    @Builder.implicit_region
    def body() -> None:
        YieldOp(test.TestOp(result_types=[f32]))

    pragma = PragmaOp("one", ["two"], body=body)
    pragma.verify_()
    assert (
        str(pragma)
        == """\
%0 = nv_tileas.pragma {ocgEnterDirectives = "one", ocgLeaveDirectives = ["two"]} -> f32 {
  %1 = "test.op"() : () -> f32
  nv_tileas.yield %1 : f32
}"""
    )


def test_a_claim_has_ids_and_perhaps_validity() -> None:
    claim = CancelNextProgramIdOp(2)
    claim.verify_()
    assert str(claim) == "%0, %1, %2 = nv_tileas.cancel_next_program_id : i32, i32, i1"
    assert claim.program_ids == list(claim.results[:2])
    assert claim.valid is claim.results[2]
    assert CancelNextProgramIdOp(with_validity=False).valid is None


def test_an_async_claim_may_deliver_the_answer() -> None:
    assert str(AsyncCancelNextProgramIdOp()).endswith(" : !nv_tileas.token")
    answer = AsyncCancelNextProgramIdOp(
        AsyncTokenType(TupleType(claim_types(1, with_validity=True)))
    )
    answer.verify_()
    assert answer.token.type.delivered == TupleType([i32, i1])
