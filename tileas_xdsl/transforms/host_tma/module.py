"""Build the host module: for each kernel a function that encodes its tensor maps.

`__CUDA_TILEIR_FUNC_ON_ARGUMENTS_CHANGE(cookie, buffer, arena, parameters...)` writes the maps of
128 bytes into `buffer`, in the order of the descriptor arguments, and returns 0, or 1 more than the
number of the first map that is illegal.  Every parameter is a word of 64 bits: the address of an
array, the extents and strides that its type leaves open, or the bits of a scalar.  Maps of the
device's table describe whole arrays; the device puts in address, extents and strides of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp, UnitAttr, i32, i64
from xdsl.ir import Operation, SSAValue

from tileas_xdsl.analysis.memory.tma_descriptors import ArgumentView
from tileas_xdsl.analysis.values.launches.kernel_parameters import parameters_of
from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.nv_tileas.tma.index import HOST_CODE
from tileas_xdsl.target.tma.array_slices import (
    EXTRA_DIMENSIONS,
    OUTER_EXTENT,
    ROW_LIMIT,
    WRAP,
)
from tileas_xdsl.target.tma.tensor_map import ELEMENTS, MAX_RANK, SWIZZLES
from tileas_xdsl.target.tma.tensor_map_bytes import (
    HEADER_OFFSET,
    OUTER_BOX_OFFSET,
    SIZE,
    TAIL_OFFSET,
    encode,
    header,
)
from tileas_xdsl.transforms.host_tma.callbacks import (
    ENCODE,
    ON_ARGUMENTS_CHANGE,
    KernelTable,
    common,
    initialisation,
    of_kernel,
)
from tileas_xdsl.transforms.host_tma.captured_values import Closure
from tileas_xdsl.transforms.host_tma.encoder import encoder
from tileas_xdsl.transforms.host_tma.llvm_builder import POINTER, Words, function
from tileas_xdsl.transforms.host_tma.recipes import Recipe, template_of


@dataclass(frozen=True)
class HostKernel:
    """A kernel and the recipes of its descriptors."""

    kernel: func.FuncOp
    device: Sequence[Recipe]
    host: Sequence[Recipe]
    extended_smem: bool

    def table(self, suffix: str) -> KernelTable:
        """What the tables of the kernel say."""
        return KernelTable(
            self.kernel.sym_name.data,
            suffix,
            len(parameters_of(self.kernel)),
            len(self.device),
            len(self.host),
            self.extended_smem,
        )


def host_module(kernels: Sequence[HostKernel]) -> ModuleOp:
    """The module; symbols of a kernel end with its name where there are several."""
    several = len(kernels) > 1
    suffixes = [f"_{k.kernel.sym_name.data}" if several else "" for k in kernels]
    tables = [kernel.table(suffix) for kernel, suffix in zip(kernels, suffixes, strict=True)]
    operations: list[Operation] = [*encoder(), *common(), initialisation(tables)]
    for kernel, table in zip(kernels, tables, strict=True):
        operations += [*of_kernel(table), _on_arguments_change(kernel, table.suffix)]
    return ModuleOp(operations, {HOST_CODE: UnitAttr()})


def _on_arguments_change(kernel: HostKernel, suffix: str) -> Operation:
    parameters = parameters_of(kernel.kernel)
    names = ["cookie", "buffer", "arena", *(str(p).replace(" ", "_") for p in parameters)]
    inputs = [POINTER, POINTER, POINTER, *[i64 for _ in parameters]]
    made, code = function(f"{ON_ARGUMENTS_CHANGE}{suffix}", inputs, i32, names)
    _, buffer, _, *words = made.body.block.args
    closure = Closure(code, dict(zip(parameters, words, strict=True)))
    arrays = _Arrays(code)
    status = code.const(0)
    whole = [_whole(recipe) for recipe in kernel.device]
    for index, recipe in enumerate([*whole, *kernel.host]):
        failed = arrays.encode(closure, recipe, code.at(buffer, index * (SIZE // 8), i64))
        first = code.compare("eq", status, 0)
        status = code.select(first, code.select(failed, index + 1, 0), status)
    code.ret(code.narrow(status))
    return made


def _whole(recipe: Recipe) -> Recipe:
    """The recipe of all of the array that a window is of."""
    window = recipe.window
    starts: list[list[SSAValue]] = [[] for _ in window.starts]
    whole = ArgumentView(window.argument, window.type, starts, window.pointed)
    return replace(recipe, window=whole)


class _Arrays:
    """The local arrays that an encoder reads, filled anew for each map."""

    def __init__(self, code: Words) -> None:
        self.code = code
        self.dims, self.strides = code.array(MAX_RANK, i64), code.array(MAX_RANK, i64)
        self.box, self.steps = code.array(MAX_RANK, i32), code.array(MAX_RANK, i32)

    def encode(self, closure: Closure, recipe: Recipe, map_: SSAValue) -> SSAValue:
        """Encode a map; whether it is illegal, as a bit."""
        code, bits = self.code, recipe.bits
        dims = [*reversed(closure.extents(recipe.window))]
        strides = [*reversed(closure.stride_bytes(recipe.window, bits))][1:]
        if recipe.slices is not None:
            axis = len(dims) - 1 - recipe.slices
            apart = strides[axis - 1]
            dims[axis] = code.const(ROW_LIMIT)
            dims += [code.const(OUTER_EXTENT)] * EXTRA_DIMENSIONS
            strides += [apart, code.sub(WRAP, apart)]
        box = recipe.box if recipe.pixels is None else recipe.box[:1]
        for axis in range(MAX_RANK):
            code.store(dims[axis] if axis < len(dims) else 1, self.dims, axis)
            code.store(strides[axis] if axis < len(strides) else 0, self.strides, axis)
            extent = box[axis] if axis < len(box) else 1
            code.store(code.const(extent, i32), self.box, axis)
            code.store(code.const(1, i32), self.steps, axis)
        address = code.pointer(closure.address(recipe.window, bits))
        element = ELEMENTS[recipe.element_name].driver
        head = [code.const(element, i32), code.const(len(dims), i32)]
        swizzle = SWIZZLES[recipe.swizzle].driver
        modes = [code.const(n, i32) for n in (0, swizzle, 0, int(recipe.nan_fill))]
        arrays = [self.dims, self.strides, self.box, self.steps]
        result = code.call(ENCODE, [map_, *head, address, *arrays, *modes], i32)
        assert result is not None
        if recipe.pixels is not None:
            self._make_im2col(recipe, map_)
        return code.compare("ne", code.wide(result), 0)

    def _make_im2col(self, recipe: Recipe, map_: SSAValue) -> None:
        """Make a tiled map one of columns of pixels: its kind, corners, pixels, and their bytes.

        No launch decides these, so that they are those of the template.
        """
        code, data = self.code, encode(template_of(recipe))
        tiled = code.wide(code.load(map_, HEADER_OFFSET // 4, i32))
        kind = code.either([tiled, code.word(header(kind=1))])
        code.store(code.narrow(kind), map_, HEADER_OFFSET // 4)
        for offset in (OUTER_BOX_OFFSET, TAIL_OFFSET):
            code.store(int.from_bytes(data[offset : offset + 8], "little"), map_, offset // 8)
