"""Named pipelines as data: each prints as a `-p` string that `xdsl-opt` and `tileas-opt` accept."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from xdsl.utils.arg_spec import ArgSpec


@dataclass(frozen=True)
class Pipeline:
    """A sequence of passes by name and options; nothing is imported before it runs."""

    name: str
    summary: str
    passes: tuple[ArgSpec, ...]

    @property
    def spec(self) -> str:
        """The pipeline as `-p` takes it."""
        return ",".join(str(spec) for spec in self.passes)


def _plain(*names: str) -> tuple[ArgSpec, ...]:
    return tuple(ArgSpec(name, {}) for name in names)


_ALL = (
    Pipeline(
        "cleanup",
        "fold, merge and drop what is redundant, then check that every value is defined before use",
        _plain("canonicalize", "cse", "dce", "verify-dominance"),
    ),
    Pipeline(
        "tileas-to-ptx",
        "lower kernels of tiles and agents to the threads of a block, and those to PTX",
        _plain(
            "convert-tileas-to-cute-nvgpu",
            "licm",
            "cse",
            "convert-cute-nvgpu-to-ptx",
        ),
    ),
)

PIPELINES: Mapping[str, Pipeline] = {pipeline.name: pipeline for pipeline in _ALL}
"""Every named pipeline."""
