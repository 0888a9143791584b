"""Register fragments of A and B for each k-step of `mma.sync`, from any memory space."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TypeAlias

import numpy as np
from xdsl.ir import Attribute, SSAValue

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.cute_nvgpu.mma.wgmma_kinds import ptx_element
from tileas_xdsl.dialects.element_bits import bits_of
from tileas_xdsl.dialects.tl.base import element_of
from tileas_xdsl.dialects.tl.compute import GemmOp
from tileas_xdsl.inference.fragment_map import FragmentMap
from tileas_xdsl.inference.gemm_layouts import Product, operand
from tileas_xdsl.layout.convert.buffers import Buffer
from tileas_xdsl.layout.tables import table
from tileas_xdsl.layout.units import WORD_BITS
from tileas_xdsl.threads.registers.register_array import RegisterFile, VectorElement
from tileas_xdsl.threads.smem.table_driven_copy import load_elements, moves_of_buffer
from tileas_xdsl.transforms.lower_tl.buffer_locations import FragmentLocation, SharedLocation
from tileas_xdsl.transforms.lower_tl.lowering_state import State
from tileas_xdsl.transforms.lower_tl.memory.fragment_exchange import register_map

PTX_ELEMENTS = {"f32": "tf32", "i8": "s8"}
"""What PTX calls elements that it multiplies under another name."""


def multiplied_as(element: Attribute) -> str:
    """What PTX calls the elements of an operand."""
    name = ptx_element(element)
    return PTX_ELEMENTS.get(name, name)


Elements: TypeAlias = Sequence[VectorElement | None]
"""Where elements are."""


class MmaOperand:
    """A or B of a product: its registers, step after step of K."""

    def __init__(self, state: State, op: GemmOp, product: Product, side: str) -> None:
        self.state, self.op, self.product, self.side = state, op, product, side
        self.value: SSAValue = getattr(op, side)
        self.element = element_of(self.value.type)
        self.is_transposed_operand = getattr(op, f"transpose_{side}") is not None

    @property
    def depth(self) -> int:
        """Elements of K in a step."""
        return self.product.words * WORD_BITS // bits_of(self.element)

    def layout(self, depth: int) -> FragmentMap:
        """The registers of so much of K."""
        product, bits = replace(self.product, k=depth), bits_of(self.element)
        return operand(product, self.side, bits, self.is_transposed_operand, self.state.threads)

    def joined(self, elements: Elements) -> SSAValue:
        """Elements as one vector."""
        return RegisterFile(self.state.e, self.element).joined(elements)

    @cached_property
    def of_step(self) -> Callable[[int], Elements]:
        """Where the elements of a step are, read now."""
        location = self.state.locations[self.value]
        match location:
            case FragmentLocation():
                return self._in_registers(location)
            case SharedLocation():
                return lambda k: self._in_memory(location, k)
            case _:
                raise op_error(self.op, f"takes no {self.value.type}")

    def _in_registers(self, location: FragmentLocation) -> Callable[[int], Elements]:
        wanted = self.layout(self.product.k)
        if not location.layout.same_function(wanted):
            name = self.side.upper()
            raise op_error(
                self.op, f"takes {name} laid out as {wanted}, and it is {location.layout}"
            )
        file = RegisterFile(self.state.e, self.element)
        file.add(0, self.state.registers[location.storage])
        count = wanted.slots * self.depth // self.product.k
        return lambda k: [file.vector_element(k * count + n) for n in range(count)]

    def _in_memory(self, location: SharedLocation, k: int) -> Elements:
        e, layout = self.state.e, self.layout(self.depth)
        registers = register_map(layout)
        assert registers is not None, "operands of instructions have digits"
        bytes_ = table(location.layout).reshape(location.shape, order="F")
        along = 0 if self.is_transposed_operand == (self.side == "a") else 1
        mine = np.take(bytes_, np.arange(k * self.depth, (k + 1) * self.depth), along)
        buffer = Buffer("a step of K", 8 * mine.ravel(order="F"), bits_of(self.element))
        moves = moves_of_buffer("load", registers, buffer)
        return load_elements(e, location.pointer(e), moves, self.element, registers.thread_digits)
