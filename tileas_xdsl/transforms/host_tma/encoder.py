"""Generate the code that packs the fields of a tensor map, from the tables of `target`.

Its parameters are those of the driver's `cuTensorMapEncodeTiled`, so that a launch can put the
driver's in its place; arrays have five entries, those beyond the rank 1 (strides 0).  What is known
when a kernel is compiled is checked then; here is checked what the arguments of a launch decide.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects import llvm
from xdsl.dialects.builtin import i32
from xdsl.ir import Operation, SSAValue

from tileas_xdsl.target.tma.tensor_map import ELEMENTS, MAX_RANK, SWIZZLES, Element, SwizzleMode
from tileas_xdsl.target.tma.tensor_map_bytes import (
    ADDRESS_OFFSET,
    DIMS_OFFSET,
    HEADER,
    HEADER_OFFSET,
    HIGH_STRIDES_OFFSET,
    LOW_STRIDES_OFFSET,
    OUTER_BOX_OFFSET,
    SIZE,
    STEPS_OFFSET,
    TAIL_OFFSET,
    element_header,
    shared_alignment,
    shared_bits,
    swizzle_header,
)
from tileas_xdsl.target.tma.tensor_map_rules import (
    ADDRESS_LIMIT,
    DIM_LIMIT,
    STRIDE_LIMIT,
    element_alignment,
    element_multiple,
)
from tileas_xdsl.transforms.host_tma.llvm_builder import POINTER, Words, function, word_table

ENCODER = "__tileas_encode_tiled"

SIGNATURE = (POINTER, i32, i32, *[POINTER] * 5, *[i32] * 4)
"""The map, element type, rank, address, extents, strides, box, element strides, and four modes."""

PARAMETERS = (
    *("map", "element", "rank", "address", "dims", "strides", "box", "steps"),
    *("interleave", "swizzle", "l2", "fill"),
)

INVALID_VALUE = 1
"""What the driver returns for a map that it refuses, CUDA_ERROR_INVALID_VALUE."""

_STRIDE_BITS, _DIM_BITS, _ADDRESS_BITS = (
    limit.bit_length() - 1 for limit in (STRIDE_LIMIT, DIM_LIMIT, ADDRESS_LIMIT)
)
_WIDE_INTERLEAVE = 2

_ELEMENT_TABLES: Sequence[tuple[str, Callable[[Element], int]]] = (
    ("__tileas_element_headers", element_header),
    ("__tileas_element_bits", shared_bits),
    ("__tileas_element_alignments", element_alignment),
    ("__tileas_element_multiples", element_multiple),
)
_SWIZZLE_TABLES: Sequence[tuple[str, Callable[[SwizzleMode], int]]] = (
    ("__tileas_swizzle_headers", swizzle_header),
    ("__tileas_swizzle_alignments", shared_alignment),
)


def encoder() -> list[Operation]:
    """The tables, by the codes of the driver, and the function."""
    elements = sorted(ELEMENTS.values(), key=lambda element: element.driver)
    swizzles = sorted(SWIZZLES.values(), key=lambda swizzle: swizzle.driver)
    tables: list[Operation] = [
        word_table(name, [value(element) for element in elements], linkage="internal")
        for name, value in _ELEMENT_TABLES
    ]
    tables += [
        word_table(name, [value(swizzle) for swizzle in swizzles], linkage="internal")
        for name, value in _SWIZZLE_TABLES
    ]
    return [*tables, _function()]


def _function() -> llvm.FuncOp:
    made, code = function(ENCODER, SIGNATURE, i32, PARAMETERS)
    found = dict(zip(PARAMETERS, made.body.block.args, strict=True))
    words = {name: code.wide(value) for name, value in found.items() if value.type == i32}
    words["address"] = code.number(found["address"])
    dims = [code.load(found["dims"], i) for i in range(MAX_RANK)]
    strides = [code.load(found["strides"], i) for i in range(MAX_RANK - 1)]
    box = [code.wide(code.load(found["box"], i, i32)) for i in range(MAX_RANK)]
    steps = [code.wide(code.load(found["steps"], i, i32)) for i in range(MAX_RANK)]
    _Map(code, found["map"]).write(words, dims, strides, box, steps)
    broken = _broken(code, words, dims, strides)
    invalid = code.compare("ne", broken, 0)
    code.ret(code.narrow(code.select(invalid, INVALID_VALUE, 0)))
    return made


class _Map:
    """The bytes of a map that is written."""

    def __init__(self, code: Words, pointer: SSAValue) -> None:
        self.code, self.pointer = code, pointer

    def write(
        self,
        words: dict[str, SSAValue],
        dims: Sequence[SSAValue],
        strides: Sequence[SSAValue],
        box: Sequence[SSAValue],
        steps: Sequence[SSAValue],
    ) -> None:
        """All fields; the rest is zero."""
        code = self.code
        for position in range(SIZE // 8):
            code.store(0, self.pointer, position)
        code.store(words["address"], self.pointer, ADDRESS_OFFSET // 8)
        self._half(HEADER_OFFSET, self._header(words))
        for i, stride in enumerate(strides):
            self._half(LOW_STRIDES_OFFSET + 4 * i, code.binary("lshr", stride, 4))
        high = [code.binary("lshr", stride, 36) for stride in strides]
        self._half(HIGH_STRIDES_OFFSET, self._packed(high, 4))
        for i, extent in enumerate(dims):
            self._half(DIMS_OFFSET + 4 * i, code.sub(extent, 1))
        inner = code.binary("shl", code.sub(box[0], 1), 24)
        less = self._packed([code.sub(step, 1) for step in steps], 3)
        self._half(STEPS_OFFSET, code.either([less, inner]))
        self._half(OUTER_BOX_OFFSET, self._packed([code.sub(n, 1) for n in box[1:]], 8))
        self._tail(words, box, steps)

    def _header(self, words: dict[str, SSAValue]) -> SSAValue:
        code = self.code
        simple = {
            "rank_minus_1": code.sub(words["rank"], 1),
            "interleave": words["interleave"],
            "nan_fill": words["fill"],
            "l2_promotion": words["l2"],
        }
        lows = {field.name: field.low for field in HEADER}
        parts = [code.binary("shl", value, lows[name]) for name, value in simple.items()]
        parts.append(_entry(code, "__tileas_element_headers", words["element"]))
        parts.append(_entry(code, "__tileas_swizzle_headers", words["swizzle"]))
        return code.either(parts)

    def _tail(
        self, words: dict[str, SSAValue], box: Sequence[SSAValue], steps: Sequence[SSAValue]
    ) -> None:
        """Bytes of the box, and its alignment in shared memory."""
        code = self.code
        size = _entry(code, "__tileas_element_bits", words["element"])
        for extent, step in zip(box, steps, strict=True):
            size = code.mul(size, code.binary("udiv", extent, step))
        code.store(code.binary("lshr", size, 3), self.pointer, TAIL_OFFSET // 8)
        alignment = _entry(code, "__tileas_swizzle_alignments", words["swizzle"])
        code.store(alignment, self.pointer, TAIL_OFFSET // 8 + 1)

    def _packed(self, values: Sequence[SSAValue], width: int) -> SSAValue:
        """Values one after another, the first in the low bits."""
        code = self.code
        return code.either([code.binary("shl", v, width * i) for i, v in enumerate(values)])

    def _half(self, offset: int, value: SSAValue) -> None:
        self.code.store(self.code.narrow(value), self.pointer, offset // 4)


def _entry(code: Words, table: str, index: SSAValue) -> SSAValue:
    return code.load(code.address(table), index)


def _broken(
    code: Words, words: dict[str, SSAValue], dims: Sequence[SSAValue], strides: Sequence[SSAValue]
) -> SSAValue:
    """Not zero where the driver would refuse the address, an extent or a stride."""
    wide = code.compare("eq", words["interleave"], _WIDE_INTERLEAVE)
    usual = _entry(code, "__tileas_element_alignments", words["element"])
    alignment = code.select(wide, 32, usual)
    multiple = _entry(code, "__tileas_element_multiples", words["element"])
    found = [
        code.binary("lshr", words["address"], _ADDRESS_BITS),
        code.binary("urem", words["address"], alignment),
        code.binary("urem", dims[0], multiple),
    ]
    found += [code.binary("lshr", code.sub(extent, 1), _DIM_BITS) for extent in dims]
    for stride in strides:
        found.append(code.binary("lshr", stride, _STRIDE_BITS))
        found.append(code.binary("urem", stride, alignment))
    return code.either(found)
