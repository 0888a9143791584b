"""The pass `lower-tma-load-store-to-async`: tiled memory operations become bulk copies of TMA."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.catalogue import message
from tileas_xdsl.diagnostics.environment import is_set
from tileas_xdsl.dialects.kinds import instances_in
from tileas_xdsl.dialects.nv_tileas.pipelines.tokens import WaitOp
from tileas_xdsl.dialects.nv_tileas.tma.ops import TmaTransferOp
from tileas_xdsl.dialects.target_attribute import module_target
from tileas_xdsl.target.arch import Target
from tileas_xdsl.transforms.tma_to_async.barriers import Arena, barrier_problem, tx_count_problem
from tileas_xdsl.transforms.tma_to_async.bulk_copies import Transfer
from tileas_xdsl.transforms.tma_to_async.candidates import check_kernel_spec, requests_of
from tileas_xdsl.transforms.tma_to_async.descriptors import Descriptors
from tileas_xdsl.transforms.tma_to_async.early_loads import issue_early
from tileas_xdsl.transforms.tma_to_async.gather_rows import rows_of
from tileas_xdsl.transforms.tma_to_async.legality import check_transfer
from tileas_xdsl.transforms.tma_to_async.shared_room import SharedRoom
from tileas_xdsl.transforms.tma_to_async.store_waits import carry, delay

PREFER_TMA = "TILEIR_PREFER_TMA_FOR_LOAD_STORE"
DELAY_STORE_WAIT = "TILEIR_DELAY_TMA_STORE_WAIT"
"""Environment variables that do what the options do, if they are set to anything but 0."""


@dataclass(frozen=True)
class LowerTmaLoadStoreToAsync(ModulePass):
    """Lower tiled memory operations that TMA may and can do to asynchronous bulk copies.

    Input: `tiled_load`, `tiled_store`, `tiled_atomic_rmw`, `gather_load` and `scatter_store` that
    have `allow_tma` (or all, if TMA is preferred) and an atom of TMA; others stay as they are.
    Output, for each: the descriptor, one for all that move boxes of one array alike, in front of
    the loops; for loads a new tile in shared memory, a barrier, the bulk copy and a wait, after
    which products read the tile where it is and all else in registers; for stores the tile in
    shared memory, the bulk copy and a wait, which in a loop
    comes in the next round where it can.  A load that is yielded as the tile of a stage fills
    the stage, whose barrier tells of it.

    Analysis, then rewrite: barriers are allocated and descriptors shared for a whole function.
    Deterministic and idempotent.  A function with something to lower that is no kernel, and what
    TMA cannot do, is an error at the operation; it stops the pipeline, and the module stays as it
    was.
    """

    name = "lower-tma-load-store-to-async"
    description: ClassVar[str] = message("tma_to_async.lowering_tiled_load_tiled")

    target: str | None = None
    """Deprecated: the attribute `nv_tileas.target` of the module says it."""
    prefer_tma: bool = False
    """Ask nobody for `allow_tma`; so does TILEIR_PREFER_TMA_FOR_LOAD_STORE=1."""
    delay_store_wait: bool = False
    """Wait for a store as late as possible; so does TILEIR_DELAY_TMA_STORE_WAIT=1."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        target = module_target(op, self.target)
        functions = [f for f in instances_in(op, func.FuncOp) if not f.is_declaration]
        decided = {function: self._transfers(function, target) for function in functions}
        made: list[WaitOp | TmaTransferOp | None] = []
        for function, transfers in decided.items():
            written = [transfer.rewrite() for transfer in transfers]
            loads = [load for load in written if isinstance(load, TmaTransferOp)]
            issue_early(loads, SharedRoom(function, target))
            made += written
        waits = [wait for wait in made if isinstance(wait, WaitOp)]
        if self.delay_store_wait or is_set(DELAY_STORE_WAIT):
            for wait in reversed(waits):
                delay(wait)
            return
        for wait in waits:
            carry(wait)

    def _transfers(self, function: func.FuncOp, target: Target) -> Sequence[Transfer]:
        """What becomes of a function, phase after phase; nothing is written yet."""
        prefer = self.prefer_tma or is_set(PREFER_TMA)
        requests = requests_of(function, prefer_tma=prefer)
        if not requests:
            return ()
        check_kernel_spec(function)
        descriptors = Descriptors.of(function)
        bindings = [descriptors.bind(request) for request in requests]
        for request, binding in zip(requests, bindings, strict=True):
            check_transfer(request, binding)
        rows = [rows_of(request) if request.moves_rows else None for request in requests]
        arena = Arena.of(function, target)
        loads = [request for request in requests if request.is_load]
        problems = [tx_count_problem(load) or barrier_problem(load, arena) for load in loads]
        for problem in filter(None, problems):
            raise problem
        return [Transfer(*parts) for parts in zip(requests, bindings, rows, strict=True)]
