"""The language of the tile interpreter: the semantics of every operation of a kernel."""

from __future__ import annotations

from tileas_xdsl.interpreters.tile.execution.agent import Language
from tileas_xdsl.interpreters.tile.execution.control_flow import SCALAR
from tileas_xdsl.interpreters.tile.semantics.agents import AGENTS
from tileas_xdsl.interpreters.tile.semantics.compute import COMPUTE
from tileas_xdsl.interpreters.tile.semantics.memory_access.gather_scatter import GATHER_SCATTER
from tileas_xdsl.interpreters.tile.semantics.memory_access.pointer_atomics import POINTER_ATOMICS
from tileas_xdsl.interpreters.tile.semantics.memory_access.tiled_access import TILED_MEMORY
from tileas_xdsl.interpreters.tile.semantics.pipelines import PIPELINES
from tileas_xdsl.interpreters.tile.semantics.pointers import POINTERS
from tileas_xdsl.interpreters.tile.semantics.print import MESSAGES
from tileas_xdsl.interpreters.tile.semantics.storage import STORAGE
from tileas_xdsl.interpreters.tile.semantics.tile_transfers import TILE_TRANSFERS
from tileas_xdsl.interpreters.tile.semantics.tma.descriptors import DESCRIPTORS
from tileas_xdsl.interpreters.tile.semantics.tma.tma_copies import TMA
from tileas_xdsl.interpreters.tile.semantics.tokens import TOKENS
from tileas_xdsl.interpreters.tile.tensor_ops.reshaping import RESHAPES
from tileas_xdsl.interpreters.tile.tl_kernels.language import TL_KERNELS

TILE_LANGUAGE = (
    SCALAR
    | Language(pure=RESHAPES)
    | AGENTS
    | TOKENS
    | PIPELINES
    | STORAGE
    | TILED_MEMORY
    | GATHER_SCATTER
    | POINTER_ATOMICS
    | DESCRIPTORS
    | TILE_TRANSFERS
    | TMA
    | COMPUTE
    | POINTERS
    | MESSAGES
    | TL_KERNELS
)
"""Control flow, arithmetic, all of `nv_tileas`, the remaining `nv_tileaa`, and `tl`."""
