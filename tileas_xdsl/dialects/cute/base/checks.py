"""What verifiers of `cute` and `cute_nvgpu` ask of their operands, each with its sentence."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import VectorType
from xdsl.ir import Attribute, Operation, SSAValue

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.cute.types.address_spaces import AddressSpace
from tileas_xdsl.dialects.cute.types.elements import as_vector
from tileas_xdsl.dialects.cute.types.pointers import PtrType


def pointer(op: Operation, value: SSAValue, name: str) -> PtrType:
    """The pointer type of the operand called `name`."""
    if not isinstance(value.type, PtrType):
        raise op_error(op, f"expects a pointer as the {name}, but got {value.type}")
    return value.type


def pointer_to(
    op: Operation, value: SSAValue, name: str, space: AddressSpace, align: int
) -> PtrType:
    """A pointer to `space`, aligned to `align` bytes."""
    type_ = pointer(op, value, name)
    if type_.space is not space:
        raise op_error(op, f"expects a pointer to {space} as the {name}, but got {type_}")
    if type_.align % align:
        raise op_error(
            op, f"expects the {name} aligned to {align} bytes, but {type_} promises {type_.align}"
        )
    return type_


def one_of(op: Operation, value: SSAValue, name: str, types: Sequence[Attribute]) -> None:
    """The operand called `name` has one of `types`."""
    if value.type not in types:
        allowed = " or ".join(str(t) for t in types)
        raise op_error(op, f"expects {allowed} as the {name}, but got {value.type}")


def fragment(op: Operation, type_: Attribute, name: str) -> VectorType:
    """A one-dimensional vector: what one thread holds of a tile."""
    vector = as_vector(type_)
    if vector is None or vector.get_num_dims() != 1:
        raise op_error(op, f"expects a fragment vector<NxT> as the {name}, but got {type_}")
    return vector
