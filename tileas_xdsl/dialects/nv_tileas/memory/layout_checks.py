"""The check of `nv_tileas.layout` against the tile that it lays out.

    %a = nv_tileas.tiled_load %v[%i, %j] {nv_tileas.layout = <(64,64),(64,1),swizzle<3,4,3>>, ...}
      : memref<?x?xf16> -> tensor<64x64xf16>

Source: "Layout Descriptor Grammar" of the layout and buffer family: shape and stride are those of
the tile, `elem` renames its elements where descriptors read them as another type, and the swizzle
goes into descriptors of shared memory.  The parser has refused unknown elements and swizzles.
"""

from __future__ import annotations

from xdsl.dialects.builtin import DYNAMIC_INDEX, TensorType
from xdsl.ir import Attribute, Operation

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.nv_tileas.atoms import CopyAtomInterface
from tileas_xdsl.dialects.nv_tileas.attributes import AtomAttr, LayoutAttr, SharedEncoding
from tileas_xdsl.dialects.nv_tileas.enums import Space
from tileas_xdsl.dialects.nv_tileas.spaces import element_of, shape_of
from tileas_xdsl.dialects.nv_tileas.tma.checks import bits_of
from tileas_xdsl.layout.int_tuple import product_each
from tileas_xdsl.layout.memory.elements import element_type
from tileas_xdsl.layout.memory.memory_layout import MemoryLayout


def check_layout(op: Operation, layout: LayoutAttr | None, tile: Attribute, atom: AtomAttr) -> None:
    """Check that the layout that an operation carries is one of its tile.

    Raises `OpError` where it has another shape, renames elements to ones of another width, is not
    the layout that the type of a tile in shared memory says, or swizzles what `atom` moves past
    shared memory.
    """
    if layout is None:
        return
    _check_shape(op, layout.data, tile)
    _check_element(op, layout.data, tile)
    _check_memory(op, layout.data, tile)
    if layout.data.swizzle is not None:
        _check_swizzled(op, layout.data, atom)


def _check_shape(op: Operation, layout: MemoryLayout, tile: Attribute) -> None:
    shape = shape_of(tile)
    if shape is None or DYNAMIC_INDEX in shape:
        return
    if product_each(layout.shape) != shape:
        text = "x".join(str(size) for size in shape)
        raise op_error(op, f"has the layout {layout}, which is none of a tile of {text}")


def _check_element(op: Operation, layout: MemoryLayout, tile: Attribute) -> None:
    element = element_of(tile)
    if layout.elem is None or element is None:
        return
    named, bits = element_type(layout.elem), bits_of(element)
    if bits != named.bits:
        text = f"reads elements {element} of {bits} bits as {named.name}, which has {named.bits}"
        raise op_error(op, f"has the layout {layout}, which {text}")


def _check_memory(op: Operation, layout: MemoryLayout, tile: Attribute) -> None:
    encoding = tile.encoding if isinstance(tile, TensorType) else None
    if not isinstance(encoding, SharedEncoding):
        return
    if (layout.layout, layout.swizzle) != (encoding.data.layout, encoding.data.swizzle):
        text = f"but its tile is in shared memory as {encoding.data}"
        raise op_error(op, f"has the layout {layout}, {text}")


def _check_swizzled(op: Operation, layout: MemoryLayout, atom: AtomAttr) -> None:
    if not isinstance(atom.data, CopyAtomInterface):
        return
    if not any(Space.SMEM in pair for pair in atom.data.spaces):
        text = f"which swizzles shared memory, past which {atom.data.keyword} moves the tile"
        raise op_error(op, f"has the layout {layout}, {text}")
