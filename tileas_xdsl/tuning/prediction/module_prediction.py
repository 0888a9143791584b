"""The predicted time of a launch from a module on any level of tiles above layouts.

The passes up to pipelining run on a copy: they decide how loads are done and which loops are
pipelined.  Tuning ranks candidates by it, and `tileas simulate --predict` shows it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha256

from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.rewriter import Rewriter

from tileas_xdsl.compiler import compile_module, default_passes, registered_context
from tileas_xdsl.explanation.compilation.reasons import reasons_in
from tileas_xdsl.explanation.compilation.snapshots import CLUSTERED, PIPELINED, PLANNED, Snapshots
from tileas_xdsl.target.arch import get_target
from tileas_xdsl.target.costs.latencies import latencies
from tileas_xdsl.target.launches.few_tile_blocks import FewTileBlocks
from tileas_xdsl.target.launches.shared_loads import SharedLoads
from tileas_xdsl.target.launches.specializations import LaunchPredicate, suits
from tileas_xdsl.tuning.prediction.launch_time import Grid, Predicted, predicted


def predict_module(
    module: ModuleOp,
    target: str,
    arguments: Sequence[int | None],
    grid: Grid,
    kernel: str | None = None,
) -> Predicted | None:
    """Predict a launch of the kernel of this name, or the only one; None for tiles with layouts.

    `arguments` are those of its function, None for what is no integer.  Raises `DiagnosticError`
    where a pass refuses the kernel.
    """
    alone = module.clone()
    for op in list(alone.ops):
        if kernel is not None and isinstance(op, func.FuncOp) and op.sym_name.data != kernel:
            Rewriter.erase_op(op)
    passes = default_passes(alone)
    names = [spec.name for spec in passes]
    if PLANNED not in names or PIPELINED not in names:
        return None
    kept, of_clusters = Snapshots(), latencies(target).multiprocessors_of_clusters

    def choose(predicate: LaunchPredicate) -> bool:
        is_known = isinstance(predicate, SharedLoads | FewTileBlocks)
        return is_known and suits(predicate, arguments, grid, of_clusters)

    compile_module(
        alone,
        registered_context(),
        target,
        passes=passes[: names.index(PIPELINED) + 1],
        choose=choose,
        after_pass=kept.keep,
    )
    reasons = reasons_in(kept.modules.values())
    planned = kept.modules.get(CLUSTERED, kept.modules[PLANNED])
    pipelined = kept.modules[PIPELINED]
    found = predicted(planned, get_target(target), reasons, arguments, grid, pipelined)
    described = f"{grid} {pipelined}"
    return replace(found, code=sha256(described.encode()).hexdigest())
