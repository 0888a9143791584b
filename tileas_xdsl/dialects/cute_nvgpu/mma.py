"""Products of matrices in the registers of one warp: `mma.sync`."""

from __future__ import annotations

from xdsl.dialects.builtin import DenseArrayBase, StringAttr, i32
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.cute.checks import fragment
from tileas_xdsl.dialects.cute.elements import stored_bytes
from tileas_xdsl.dialects.cute_nvgpu.operands import Value, word
from tileas_xdsl.dialects.cute_nvgpu.wgmma_kinds import ptx_element
from tileas_xdsl.target.ptx_isa.tensor_cores import MMA, Fragments

_SHAPE = DenseArrayBase.constr(i32)

_SUMS = {"i32": "s32"}
"""What PTX calls accumulators that have another name here."""

REGISTER_BYTES = {"b32": 4, "f32": 4, "f64": 8}


@irdl_op_definition
class MmaSm80Op(IRDLOperation):
    """`D = A * B + C` of a warp, A in rows and B in columns, all in fragments of `mma.sync`.

    Fragments are those of the PTX ISA, 9.7.14, the lowest bits of the lowest register first.
    """

    name = "cute_nvgpu.arch.mma.SM80"

    a = operand_def()
    b = operand_def()
    c = operand_def()
    shape = prop_def(_SHAPE)
    a_type = prop_def(StringAttr)
    b_type = prop_def(StringAttr)
    result = result_def()

    traits = traits_def(Pure())
    assembly_format = (
        "$a `,` $b `,` $c `shape` $shape `elements` $a_type `,` $b_type attr-dict"
        " `:` type($a) `,` type($b) `,` type($c) `->` type($result)"
    )

    def __init__(
        self,
        a: Value,
        b: Value,
        c: Value,
        *,
        shape: tuple[int, int, int],
        a_type: Attribute | str,
        b_type: Attribute | str,
    ) -> None:
        super().__init__(
            operands=[a, b, c],
            result_types=[SSAValue.get(c).type],
            properties={
                "shape": DenseArrayBase.from_list(i32, shape),
                "a_type": word(ptx_element(a_type)),
                "b_type": word(ptx_element(b_type)),
            },
        )

    @property
    def sum_type(self) -> str:
        """What PTX calls the elements of C and D."""
        name = ptx_element(fragment(self, self.c.type, "accumulator").get_element_type())
        return _SUMS.get(name, name)

    @property
    def shape_name(self) -> str:
        """The shape as PTX writes it."""
        return "m{}n{}k{}".format(*self.shape.get_values())

    def verify_(self) -> None:
        if len(self.shape.get_values()) != 3:
            raise op_error(self, "has a shape M, N, K")
        types = self.sum_type, self.a_type.data, self.b_type.data
        found = MMA.get((self.shape_name, *types))
        if found is None:
            d, a, b = types
            raise op_error(self, f"has no product {self.shape_name} of {a} and {b} in {d}")
        self._check_registers(found)
        if self.result.type != self.c.type:
            raise op_error(self, f"gives an accumulator like {self.c.type}, not {self.result.type}")

    def _check_registers(self, found: Fragments) -> None:
        for name, value, kind, count in (
            ("A", self.a, found.kind, found.a),
            ("B", self.b, found.kind, found.b),
            ("C", self.c, found.c_kind, found.c),
        ):
            type_ = fragment(self, value.type, name)
            wanted = REGISTER_BYTES[kind] * count
            if stored_bytes(type_) != wanted:
                raise op_error(self, f"has {wanted} bytes of {name} in a thread, but got {type_}")


OPERATIONS = (MmaSm80Op,)
