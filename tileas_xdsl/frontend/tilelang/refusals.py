"""What TileLang writes and `tl` does not have: located errors that name the construct."""

from __future__ import annotations

from collections.abc import Mapping

from tileas_xdsl.diagnostics.errors import DiagnosticError
from tileas_xdsl.diagnostics.report import Location, Severity, diagnostic
from tileas_xdsl.frontend.tilelang.traced.graph import SourceLine

_BY_HAND = "synchronisation follows from the copies and products of T.Pipelined"
_ELEMENTS = "an addition to neighbours by one thread: write T.atomic_add of each in T.Parallel"
_ONE_KIND = "`tl` says what a block does, not what one of its threads or warps does"

HINTS: Mapping[str, str] = {
    "tl.ptx_arrive_barrier": f"a barrier by hand: {_BY_HAND}",
    "tirx.ptx_arrive_barrier": f"a barrier by hand: {_BY_HAND}",
    "tl.mbarrier_wait_parity": f"a barrier by hand: {_BY_HAND}",
    "tl.mbarrier_expect_tx": f"a barrier by hand: {_BY_HAND}",
    "tirx.ptx_wait_barrier": f"a barrier by hand: {_BY_HAND}",
    "tl.tma_load": f"a TMA load by hand: {_BY_HAND}",
    "tl.launch_thread_idx": f"the index of a thread: {_ONE_KIND}; write T.Parallel",
    "tl.ptx_ldmatrix": f"an instruction of a warp by hand: {_ONE_KIND}; write T.gemm",
    "tl.rng_init": "a generator of random numbers in CUDA: compute them from indices with integers",
    "tl.atomic_addx2_elem_op": _ELEMENTS,
    "tl.atomic_addx4_elem_op": _ELEMENTS,
    "tirx.tvm_warp_shuffle": f"an exchange of lanes: {_ONE_KIND}; write T.reduce_sum, or copy to "
    "shared memory and read the element there",
    "tirx.While": "a loop without a count: write T.serial over the most rounds, and an `if` in it",
    "tirx.call_extern": "a function of CUDA: write it with operations of TileLang",
    "tirx.call_pure_extern": "a function of CUDA: write it with operations of TileLang",
}
"""Why a call is refused, and what to write in its place."""


def refusal(line: SourceLine | None, construct: str, why: str) -> DiagnosticError:
    """The error to raise: `construct` is as in TileLang, `why` says what would work."""
    place = None if line is None else Location(line.file, line.line, 1)
    return DiagnosticError(diagnostic(Severity.ERROR, f"{construct} {why}", place))
