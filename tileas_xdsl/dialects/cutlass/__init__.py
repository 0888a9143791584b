"""The dialect of what CUTLASS adds to a kernel: pipelines, sequence barriers, tile schedulers.

| class | name | meaning |
|---|---|---|
| `PipelineCreateOp(storage, kind, stages, multicast=1)` | `cutlass.pipeline.create` | a pipeline with its barriers at `storage` |
| `MakeParticipantsOp(warps)` | `cutlass.pipeline.make_participants` | who is at an end |
| `PipelineInitOp(pipe, participants, consumers, stages=, num_producers=, num_consumers=)` | `cutlass.pipeline.init` | barriers are initialised |
| `StateCreateOp(role, stages)`, `StateIncrementOp(state)`, `StateGet...Op(state)` | `cutlass.pipeline.state.*` | which stage is next |
| `Producer...Op`, `Consumer...Op`, `GetProducer...Op` | `cutlass.pipeline.*` | steps at a stage |
| `ProduceOp(pipe, state, body)`, `ConsumeOp(pipe, state, body)` | `cutlass.pipeline.{produce, consume}` | a stage with a body |
| `SwitchByExecutorOp(warp, executors, masks, arms)` | `cutlass.pipeline.switch_by_executor` | roles of warps |
| `NamedBarrierArriveOp(id, threads)`, `NamedBarrierArriveAndWaitOp` | `cutlass.named_barrier.*` | barriers of a block |
| `GenericBarrier...Op(counter, value, thread, id=, threads=)` | `cutlass.generic_barrier.*` | counters of a grid |
| `BlockStriped...Op(data, array, thread, threads=, width=1)` | `cutlass.block_striped.*` | an array, thread by thread |
| `SeqBar...Op` | `cutlass.seq_bar.*` | groups proceed one after the other |
| `{Create,Make}...ParamsOp(m, n, l)`, `InitialWorkTileInfoOp(params)`, ... | `cutlass.tile_scheduler.*` | the tiles of a block |
| `Fixup...Op(params, work, ...)` | `cutlass.tile_scheduler.fixup*` | blocks that share a tile |
| `AsyncExecOp(body)` | `cutlass.async.exec` | work beside the main one |
"""  # noqa: E501

from tileas_xdsl.dialects.cutlass.barriers.generic_barriers import *
from tileas_xdsl.dialects.cutlass.barriers.named_barriers import *
from tileas_xdsl.dialects.cutlass.barriers.seq_bar import *
from tileas_xdsl.dialects.cutlass.regions import *
from tileas_xdsl.dialects.cutlass.schedulers.block_striped import *
from tileas_xdsl.dialects.cutlass.schedulers.scheduler_params import *
from tileas_xdsl.dialects.cutlass.schedulers.streamk import *
from tileas_xdsl.dialects.cutlass.schedulers.tile_scheduler import *
from tileas_xdsl.dialects.cutlass.schedulers.work_tile_info import *
from tileas_xdsl.dialects.cutlass.setup import *
from tileas_xdsl.dialects.cutlass.state import *
from tileas_xdsl.dialects.cutlass.steps import *
from tileas_xdsl.dialects.cutlass.types import *
from tileas_xdsl.dialects.registry import dialect_of

Cutlass = dialect_of(__name__, "cutlass")
