"""Kernels without layouts and instruction choices, which the compiler then infers."""

from __future__ import annotations

from dataclasses import replace

from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.ir import Operation, SSAValue

from tileas_xdsl.dialects.nv_tileas.atoms import CopyAtom, TmaAtom
from tileas_xdsl.dialects.nv_tileas.attributes import AtomAttr, atom_of
from tileas_xdsl.dialects.nv_tileas.compute.dot import AsyncDotOp, DotOp
from tileas_xdsl.dialects.nv_tileas.enums import Space, SpaceAttr
from tileas_xdsl.dialects.nv_tileas.shapes.transposed import is_transposed
from tileas_xdsl.dialects.nv_tileas.spaces import space_of
from tileas_xdsl.dialects.nv_tileas.tile_operands import as_tile

OPEN = AtomAttr.of("unknown_copy")


def strip(module: ModuleOp) -> int:
    """Remove layouts, copy and MMA atoms and TMA boxes; return the number removed.

    Memory spaces and transposed views remain.
    """
    return sum(_strip_operation(op) + sum(map(_strip_value, _values(op))) for op in module.walk())


def _values(op: Operation) -> list[SSAValue]:
    return [*op.results, *(a for region in op.regions for b in region.blocks for a in b.args)]


def _strip_operation(op: Operation) -> int:
    atom = atom_of(op.properties.get("atom"))
    found = op.attributes.pop("nv_tileas.layout", None) is not None
    if isinstance(op, DotOp | AsyncDotOp) and op.atom is not None:
        op.atom = None
    elif isinstance(atom, CopyAtom) and atom.keyword != "unknown_copy":
        op.properties["atom"] = OPEN
    elif isinstance(atom, TmaAtom) and atom.box:
        op.properties["atom"] = AtomAttr(replace(atom, box=()))
    else:
        return int(found)
    return 1 + found


def _strip_value(value: SSAValue) -> int:
    tile = as_tile(value.type)
    if tile is None or isinstance(tile.encoding, SpaceAttr) or is_transposed(tile):
        return 0
    space = space_of(tile)
    if space is None:
        return 0
    encoding = [SpaceAttr(space)] if space is Space.SMEM else []
    type_ = TensorType(tile.element_type, tile.get_shape(), *encoding)
    value._type = type_  # pyright: ignore[reportPrivateUsage]
    return 1
