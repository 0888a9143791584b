"""Queries on the pipelines of a kernel: their consumers, and the CTAs that share their stages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xdsl.dialects import func
from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import BlockArgument, Operation, OpResult, SSAValue

from tileas_xdsl.diagnostics.walking import operations_in
from tileas_xdsl.dialects.kinds import Kinds
from tileas_xdsl.dialects.nv_tileaa.attributes import ROUNDS_UP, spec_of
from tileas_xdsl.dialects.nv_tileas.pipelines.create import CreatePipelineOp
from tileas_xdsl.dialects.nv_tileas.pipelines.ops import StageOp
from tileas_xdsl.dialects.nv_tileas.pipelines.token_chain import TokenFault, origins, pipelines_of
from tileas_xdsl.dialects.nv_tileas.shapes.layout import ReinterpretOp, ViewOp
from tileas_xdsl.dialects.nv_tileas.shapes.slices import ExtractSliceOp
from tileas_xdsl.dialects.nv_tileas.tma.checks import number_of
from tileas_xdsl.dialects.nv_tileas.tma.ops import TmaLoadBase
from tileas_xdsl.layout.integers import align_up

_NOTED = Kinds(StageOp, TmaLoadBase)


class KernelFacts:
    """The facts about a kernel that hold for every run; each is found once."""

    def __init__(self, kernel: func.FuncOp) -> None:
        self.kernel = kernel
        self.spec = spec_of(kernel)
        self._consumers: dict[Operation, list[int]] = {}
        self._groups: dict[Operation, int] = {}
        for op in operations_in(kernel):
            if _NOTED[type(op)]:
                self._note(op)

    @property
    def cluster(self) -> tuple[int, int, int]:
        """Blocks of a cluster along x, y, z."""
        if self.spec.cluster_dim:
            x, y, z = self.spec.cluster_dim
            return x, y, z
        return self.spec.num_ctas, 1, 1

    def ctas(self, grid: tuple[int, int, int]) -> tuple[int, int, int]:
        """The CTAs of a launch with a grid of tile blocks; some behind it may complete clusters."""
        x, y, z = self.spec.ctas(grid)
        if ROUNDS_UP not in self.kernel.attributes:
            return x, y, z
        of_x, of_y, of_z = self.cluster
        return align_up(x, of_x), align_up(y, of_y), align_up(z, of_z)

    def consumers(self, pipeline: CreatePipelineOp) -> Sequence[int]:
        """The numbers of the consumers that wait for stages of a pipeline; at least one."""
        return self._consumers.get(pipeline) or [0]

    def group(self, pipeline: CreatePipelineOp) -> int:
        """How many blocks a load into the pipeline writes to."""
        return self._groups.get(pipeline, 1)

    def _note(self, op: Operation) -> None:
        if isinstance(op, StageOp):
            index = number_of(op.properties.get("consumer_idx"))
            if index is not None:
                self._note_consumer(op, index)
        elif isinstance(op, TmaLoadBase) and (number_of(op.num_multicast) or 1) > 1:
            for pipeline in self._pipelines_filled(op.operands[1]):
                size = number_of(op.num_multicast) or 1
                self._groups[pipeline] = max(size, self._groups.get(pipeline, 1))

    def _note_consumer(self, op: StageOp, index: int) -> None:
        pipelines = pipelines_of(op.operands[0])
        for pipeline in () if isinstance(pipelines, TokenFault) else pipelines:
            known = self._consumers.setdefault(pipeline, [])
            if index not in known:
                known.append(index)
                known.sort()

    def _pipelines_filled(self, destination: SSAValue) -> Iterator[CreatePipelineOp]:
        """The pipelines whose memory a destination is a window of."""
        for value in _memories(destination):
            if isinstance(value, BlockArgument) and isinstance(
                op := value.owner.parent_op(), StageOp
            ):
                pipelines = pipelines_of(op.operands[0])
                yield from () if isinstance(pipelines, TokenFault) else pipelines
        roots = set(_memories(destination))
        for op in operations_in(self.kernel):
            if isinstance(op, CreatePipelineOp) and roots & set(_memories(op.view)):
                yield op


_WINDOWS = (ViewOp, ReinterpretOp, ExtractSliceOp)


def _memories(window: SSAValue) -> Iterator[SSAValue]:
    """The values that a window may have been cut from, through control flow."""
    pending, seen = [window], set[SSAValue]()
    while pending:
        for value in origins(pending.pop()):
            if value in seen:
                continue
            seen.add(value)
            if isinstance(value, OpResult) and isinstance(value.op, _WINDOWS):
                pending.append(value.op.operands[0])
            else:
                yield value


def explicit_bytes(op: Operation) -> int | None:
    """The bytes that an operation announces for its stage: its attribute `tx_count`."""
    given = op.attributes.get("tx_count")
    return given.value.data if isinstance(given, IntegerAttr) else None
