"""The kinds of pipelines: who fills a stage, who reads it, and how each tells the other.

Source: CUTLASS include/cutlass/pipeline, sm90_pipeline.hpp (PipelineTmaAsync, PipelineAsync, which
`cpasync_barrier_arrive_noinc` commits for cp.async) and
sm100_pipeline.hpp (PipelineTmaUmmaAsync, PipelineUmmaAsync, PipelineUmmaConsumerAsync).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from tileas_xdsl.data_classes import dataclass

Agent = Literal["tma", "umma", "cp_async", "threads"]
"""TMA completes bytes, `tcgen05.commit` arrives for products, threads arrive themselves.

`cp.async` arrives for each thread when the copies of that thread are there.
"""


@dataclass(frozen=True, slots=True)
class PipelineKind:
    """Who is at the two ends of a pipeline."""

    name: str
    producer: Agent
    consumer: Agent

    @property
    def is_in_tensor_memory(self) -> bool:
        """Whether the stages are in tensor memory: threads read what MMA has written."""
        return self.producer == "umma"


KINDS: Mapping[str, PipelineKind] = {
    kind.name: kind
    for kind in (
        PipelineKind("tma_async", "tma", "threads"),
        PipelineKind("tma_umma", "tma", "umma"),
        PipelineKind("async", "threads", "threads"),
        PipelineKind("cp_async", "cp_async", "threads"),
        PipelineKind("async_umma", "threads", "umma"),
        PipelineKind("umma_async", "umma", "threads"),
    )
}
"""Every kind by its name."""
