"""Check functions before lowering: pipelines are initialised, bytes announced, clusters match."""

from __future__ import annotations

from math import prod

from xdsl.dialects import func
from xdsl.dialects.builtin import DenseArrayBase
from xdsl.ir import Operation

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects import cutlass
from tileas_xdsl.transforms.pipeline_to_nvgpu.value_expansion import is_whole

CLUSTER = "nvvm.cluster_dim"


def check_function(function: func.FuncOp) -> None:
    """Refuse pipelines that nobody initialises, whose bytes are unknown, or that need a cluster."""
    _check_blocks(function)
    for op in function.walk():
        if isinstance(op, cutlass.PipelineCreateOp):
            _check_init(op)
            _check_bytes(op)
            _check_cluster(op, function)
        elif isinstance(op, cutlass.SeqBarCreateOp):
            _check_seq_init(op)


def _check_blocks(function: func.FuncOp) -> None:
    """Values of cutlass are of one function, and only `scf` hands them on."""
    types = [argument.type for block in function.body.blocks for argument in block.args]
    for type_ in (*types, *function.function_type.outputs):
        if is_whole(type_):
            raise op_error(
                function, f"hands on {type_} from block to block, which is lowered in one only"
            )


def _users(op: cutlass.PipelineCreateOp | cutlass.SeqBarCreateOp) -> list[Operation]:
    return [use.operation for use in op.result.uses]


def _check_init(op: cutlass.PipelineCreateOp) -> None:
    count = sum(isinstance(user, cutlass.PipelineInitOp) for user in _users(op))
    if count != 1:
        raise op_error(op, f"is initialised once by cutlass.pipeline.init, not {count} times")


def _check_seq_init(op: cutlass.SeqBarCreateOp) -> None:
    count = sum(isinstance(user, cutlass.SeqBarInitOp) for user in _users(op))
    if count != 1:
        raise op_error(op, f"is initialised once by cutlass.seq_bar.init, not {count} times")


def _check_bytes(op: cutlass.PipelineCreateOp) -> None:
    """Bytes are announced where a stage is acquired or where it is committed, in all places."""
    if op.result.type.facts.producer != "tma":
        return
    users = _users(op)
    acquires = [user for user in users if isinstance(user, cutlass.ProducerAcquireOp)]
    commits = [user for user in users if isinstance(user, cutlass.ProducerCommitOp)]
    early = [user for user in acquires if user.bytes is not None]
    late = [user for user in commits if user.bytes is not None]
    if early and late:
        raise op_error(late[0], "announces bytes that were announced when a stage was acquired")
    if early and len(early) != len(acquires):
        silent = next(user for user in acquires if user.bytes is None)
        raise op_error(silent, "announces the bytes that TMA brings, as others of this pipeline do")
    if late and len(late) != len(commits):
        silent = next(user for user in commits if user.bytes is None)
        raise op_error(silent, "announces the bytes that TMA brings, as others of this pipeline do")
    if acquires and not early and not late:
        raise op_error(
            acquires[0], "acquires a stage for TMA, whose bytes neither it nor a commit announces"
        )


def _check_cluster(op: cutlass.PipelineCreateOp, function: Operation) -> None:
    blocks = op.result.type.multicast.data
    if blocks == 1:
        return
    extents = function.attributes.get(CLUSTER)
    size = prod(extents.get_values()) if isinstance(extents, DenseArrayBase) else 1
    if size != blocks:
        raise op_error(op, f"shares stages among {blocks} blocks, but the cluster has {size}")
