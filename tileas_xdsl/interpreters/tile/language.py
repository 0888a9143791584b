"""The language of the tile interpreter: what every operation of a kernel means."""

from __future__ import annotations

from tileas_xdsl.interpreters.tile.agent import Language
from tileas_xdsl.interpreters.tile.block_programs.language import BLOCK_PROGRAMS
from tileas_xdsl.interpreters.tile.control_flow import SCALAR
from tileas_xdsl.interpreters.tile.reshaping import RESHAPES
from tileas_xdsl.interpreters.tile.semantics.agents import AGENTS
from tileas_xdsl.interpreters.tile.semantics.compute import COMPUTE
from tileas_xdsl.interpreters.tile.semantics.descriptors import DESCRIPTORS
from tileas_xdsl.interpreters.tile.semantics.messages import MESSAGES
from tileas_xdsl.interpreters.tile.semantics.pipelines import PIPELINES
from tileas_xdsl.interpreters.tile.semantics.pointed_atomics import POINTED_ATOMICS
from tileas_xdsl.interpreters.tile.semantics.pointers import POINTERS
from tileas_xdsl.interpreters.tile.semantics.scattered_memory import SCATTERED_MEMORY
from tileas_xdsl.interpreters.tile.semantics.storage import STORAGE
from tileas_xdsl.interpreters.tile.semantics.tiled_memory import TILED_MEMORY
from tileas_xdsl.interpreters.tile.semantics.tma import TMA
from tileas_xdsl.interpreters.tile.semantics.tokens import TOKENS

TILE_LANGUAGE = (
    SCALAR
    | Language(meanings=RESHAPES)
    | AGENTS
    | TOKENS
    | PIPELINES
    | STORAGE
    | TILED_MEMORY
    | SCATTERED_MEMORY
    | POINTED_ATOMICS
    | DESCRIPTORS
    | TMA
    | COMPUTE
    | POINTERS
    | MESSAGES
    | BLOCK_PROGRAMS
)
"""Control flow, arithmetic, all of `nv_tileas`, what stays in it of `nv_tileaa`, and `tl`."""
