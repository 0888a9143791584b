"""The dialect of what CUTLASS adds to a kernel: pipelines, sequence barriers, tile schedulers.

| class | name | meaning |
|---|---|---|
| `PipelineCreateOp(storage, kind, stages, multicast=1)` | `cutlass.pipeline.create` | a pipeline with its barriers at `storage` |
| `MakeParticipantsOp(warps)` | `cutlass.pipeline.make_participants` | who is at an end |
| `PipelineInitOp(pipe, participants, consumers, counts=, groups=)` | `cutlass.pipeline.init` | barriers are initialised |
| `StateCreateOp(role, stages)`, `StateIncrementOp(state)`, `StateGet...Op(state)` | `cutlass.pipeline.state.*` | which stage is next |
| `Producer...Op`, `Consumer...Op`, `GetProducer...Op` | `cutlass.pipeline.*` | steps at a stage |
| `ProduceOp(pipe, state, body)`, `ConsumeOp(pipe, state, body)` | `cutlass.pipeline.{produce, consume}` | a stage with a body |
| `SwitchByExecutorOp(warp, executors, masks, arms)` | `cutlass.pipeline.switch_by_executor` | roles of warps |
| `NamedBarrierArriveOp(id, threads)`, `NamedBarrierArriveAndWaitOp` | `cutlass.named_barrier.*` | barriers of a block |
| `GenericBarrier...Op(counter, value, thread, id=, threads=)` | `cutlass.generic_barrier.*` | counters of a grid |
| `BlockStriped...Op(data, array, thread, threads=, width=1)` | `cutlass.block_striped.*` | an array in turns |
| `SeqBar...Op` | `cutlass.seq_bar.*` | groups take turns |
| `{Create,Make}...ParamsOp(m, n, l)`, `InitialWorkTileInfoOp(params)`, ... | `cutlass.tile_scheduler.*` | the tiles of a block |
| `Fixup...Op(params, work, ...)` | `cutlass.tile_scheduler.fixup*` | blocks that share a tile |
| `AsyncExecOp(body)` | `cutlass.async.exec` | work beside the main one |
"""  # noqa: E501

from xdsl.ir import Dialect

from tileas_xdsl.dialects.cutlass import (
    block_striped,
    generic_barriers,
    named_barriers,
    regions,
    scheduler_params,
    seq_bar,
    setup,
    state,
    steps,
    streamk,
    tile_scheduler,
)
from tileas_xdsl.dialects.cutlass.block_striped import (
    BlockStripedLoadAddOp,
    BlockStripedLoadOp,
    BlockStripedOp,
    BlockStripedReduceOp,
    BlockStripedStoreOp,
)
from tileas_xdsl.dialects.cutlass.generic_barriers import (
    COUNTER_BYTES,
    GenericBarrierArriveIncrementOp,
    GenericBarrierSyncOp,
    GenericBarrierWaitEqOp,
    GenericBarrierWaitLessThanOp,
)
from tileas_xdsl.dialects.cutlass.named_barriers import (
    NamedBarrierArriveAndWaitOp,
    NamedBarrierArriveOp,
)
from tileas_xdsl.dialects.cutlass.regions import (
    AsyncExecOp,
    ConsumeOp,
    ProduceOp,
    SwitchByExecutorOp,
    YieldOp,
)
from tileas_xdsl.dialects.cutlass.scheduler_params import (
    CreateDpParamsOp,
    CreateParamsOp,
    CreateStaticPersistentParamsOp,
    CreateStreamkParamsOp,
    GetGridShapeOp,
    GetWorkspaceSizesOp,
    MakeDpParamsOp,
    MakeParamsOp,
    MakeStaticPersistentParamsOp,
    MakeStreamkParamsOp,
    ParamsGetValueOp,
    StreamkParamsOp,
)
from tileas_xdsl.dialects.cutlass.seq_bar import (
    SeqBarArriveOp,
    SeqBarCreateOp,
    SeqBarInitOp,
    SeqBarStateCreateOp,
    SeqBarWaitOp,
)
from tileas_xdsl.dialects.cutlass.setup import (
    MakeParticipantsOp,
    PipelineCreateOp,
    PipelineInitOp,
)
from tileas_xdsl.dialects.cutlass.state import (
    FIRST_PHASE,
    StateCreateOp,
    StateGetCountOp,
    StateGetIndexOp,
    StateGetPhaseOp,
    StateIncrementOp,
)
from tileas_xdsl.dialects.cutlass.steps import (
    ConsumerReleaseOp,
    ConsumerTryWaitOp,
    ConsumerWaitOp,
    GetProducerBarrierOp,
    GetProducerMaskOp,
    ProducerAcquireOp,
    ProducerCommitOp,
    ProducerTailOp,
    ProducerTryAcquireOp,
)
from tileas_xdsl.dialects.cutlass.streamk import (
    ComputeEpilogueOp,
    FixupIncrementOp,
    FixupOp,
    FixupWaitOp,
    GetWorkKTileCountOp,
    GetWorkKTileStartOp,
    InitializeWorkspaceOp,
)
from tileas_xdsl.dialects.cutlass.tile_scheduler import (
    AdvanceToNextWorkOp,
    CreateDpWorkTileInfoOp,
    CreateStaticPersistentWorkTileInfoOp,
    CreateStreamkWorkTileInfoOp,
    FetchNextWorkOp,
    GetCurrentWorkOp,
    InitialWorkTileInfoOp,
    OfWorkOp,
    StaticFetchNextWorkOp,
    WorkTileInfoGetValueOp,
    WorkTileInfoSetValueOp,
    WorkTileInfoToCoordMnklOp,
    WorkTileInfoToCtaCoordOp,
)
from tileas_xdsl.dialects.cutlass.types import (
    TYPES,
    ParticipantsType,
    PipelineStateType,
    PipelineType,
    SchedulerParamsType,
    SeqBarStateType,
    SeqBarType,
    WorkTileInfoType,
)

FAMILIES = (
    block_striped,
    generic_barriers,
    named_barriers,
    regions,
    scheduler_params,
    seq_bar,
    setup,
    state,
    steps,
    streamk,
    tile_scheduler,
)

__all__ = [
    "COUNTER_BYTES",
    "FIRST_PHASE",
    "AdvanceToNextWorkOp",
    "AsyncExecOp",
    "BlockStripedLoadAddOp",
    "BlockStripedLoadOp",
    "BlockStripedOp",
    "BlockStripedReduceOp",
    "BlockStripedStoreOp",
    "ComputeEpilogueOp",
    "ConsumeOp",
    "ConsumerReleaseOp",
    "ConsumerTryWaitOp",
    "ConsumerWaitOp",
    "CreateDpParamsOp",
    "CreateDpWorkTileInfoOp",
    "CreateParamsOp",
    "CreateStaticPersistentParamsOp",
    "CreateStaticPersistentWorkTileInfoOp",
    "CreateStreamkParamsOp",
    "CreateStreamkWorkTileInfoOp",
    "Cutlass",
    "FetchNextWorkOp",
    "FixupIncrementOp",
    "FixupOp",
    "FixupWaitOp",
    "GenericBarrierArriveIncrementOp",
    "GenericBarrierSyncOp",
    "GenericBarrierWaitEqOp",
    "GenericBarrierWaitLessThanOp",
    "GetCurrentWorkOp",
    "GetGridShapeOp",
    "GetProducerBarrierOp",
    "GetProducerMaskOp",
    "GetWorkKTileCountOp",
    "GetWorkKTileStartOp",
    "GetWorkspaceSizesOp",
    "InitialWorkTileInfoOp",
    "InitializeWorkspaceOp",
    "MakeDpParamsOp",
    "MakeParamsOp",
    "MakeParticipantsOp",
    "MakeStaticPersistentParamsOp",
    "MakeStreamkParamsOp",
    "NamedBarrierArriveAndWaitOp",
    "NamedBarrierArriveOp",
    "OfWorkOp",
    "ParamsGetValueOp",
    "ParticipantsType",
    "PipelineCreateOp",
    "PipelineInitOp",
    "PipelineStateType",
    "PipelineType",
    "ProduceOp",
    "ProducerAcquireOp",
    "ProducerCommitOp",
    "ProducerTailOp",
    "ProducerTryAcquireOp",
    "SchedulerParamsType",
    "SeqBarArriveOp",
    "SeqBarCreateOp",
    "SeqBarInitOp",
    "SeqBarStateCreateOp",
    "SeqBarStateType",
    "SeqBarType",
    "SeqBarWaitOp",
    "StateCreateOp",
    "StateGetCountOp",
    "StateGetIndexOp",
    "StateGetPhaseOp",
    "StateIncrementOp",
    "StaticFetchNextWorkOp",
    "StreamkParamsOp",
    "SwitchByExecutorOp",
    "WorkTileInfoGetValueOp",
    "WorkTileInfoSetValueOp",
    "WorkTileInfoToCoordMnklOp",
    "WorkTileInfoToCtaCoordOp",
    "WorkTileInfoType",
    "YieldOp",
]

Cutlass = Dialect("cutlass", [op for family in FAMILIES for op in family.OPERATIONS], [*TYPES])
