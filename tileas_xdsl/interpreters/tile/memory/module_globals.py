"""Globals of a module: memory that is initialised anew for every launch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np
from xdsl.dialects.builtin import ModuleOp

from tileas_xdsl.dialects.nv_tileaa.memory.globals import GlobalOp
from tileas_xdsl.dialects.nv_tileas.enums import Space
from tileas_xdsl.interpreters.tile.memory.tracked_memory import Memory
from tileas_xdsl.interpreters.tile.numerics.element_types import Array
from tileas_xdsl.interpreters.tile.tensor_ops.elementwise import attribute_value


def name_of_global(name: str) -> str:
    """Return the name of a global's memory in diagnostics."""
    return f"@{name}"


def global_memories(module: ModuleOp) -> Sequence[Memory]:
    """Return the memories of the globals of a module, with their initial values."""
    return [_memory(op) for op in module.ops if isinstance(op, GlobalOp)]


def _memory(op: GlobalOp) -> Memory:
    values = cast(Array, attribute_value(op, op.value, op.value.type))
    name = name_of_global(op.sym_name.data)
    return Memory(name, Space.GMEM, np.array(values, order="C"), is_initialised=True)
