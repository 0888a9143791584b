"""Lower `tl.gemm` to `mma.sync`, by the warps and in the layouts that the instruction requires."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import Any

from xdsl.dialects import scf
from xdsl.ir import Block, Operation, Region, SSAValue

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.element_bits import bits_of
from tileas_xdsl.dialects.tl.base import element_of, scope_of, shape_of
from tileas_xdsl.dialects.tl.compute import GemmOp
from tileas_xdsl.inference.decisions import InferenceError
from tileas_xdsl.inference.fragment_map import FragmentMap
from tileas_xdsl.inference.gemm_layouts import Product, accumulator, product_of_some_warps
from tileas_xdsl.inference.program import Buffer, Gemm, Program, Scope, WarpPolicy
from tileas_xdsl.threads.codegen.integer_ops import constant_like, is_less
from tileas_xdsl.threads.codegen.thread_ids import warp_id
from tileas_xdsl.transforms.lower_tl.buffer_locations import FragmentLocation
from tileas_xdsl.transforms.lower_tl.dot.dot_mma_sync import multiply_by_warps
from tileas_xdsl.transforms.lower_tl.lowering_state import Handler, State


def product_in(op: GemmOp, threads: int, arch: str) -> Product:
    """How a product is computed; an error where no partition of warps covers it."""
    buffers = {name: _buffer(name, getattr(op, name)) for name in ("a", "b", "c")}
    asked = Gemm(
        "a",
        "b",
        "c",
        op.transpose_a is not None,
        op.transpose_b is not None,
        WarpPolicy(op.warp_policy.value),
    )
    try:
        return product_of_some_warps(Program(threads, buffers, (asked,), arch), asked)
    except InferenceError as error:
        raise op_error(op, error.text) from error


def _buffer(name: str, value: SSAValue) -> Buffer:
    element, scope = element_of(value.type), scope_of(value.type)
    return Buffer(name, shape_of(value.type), bits_of(element), scope or Scope.SHARED, str(element))


def gemm(state: State, op: GemmOp) -> None:
    """C += A B, in the registers of C."""
    product = product_in(op, state.threads, state.target.name)
    sums = state.fragment(op, op.c)
    check_layout(op, "C", sums, accumulator(product, state.threads))
    if sums.registers != sums.layout.slots:
        raise op_error(op, f"has C of {sums.layout.slots} elements in each thread: too few")
    if product.threads == state.threads:
        multiply_by_warps(state, op, product, sums)
        return
    with _first_warps(state, product.warps_m * product.warps_n, sums.storage):
        multiply_by_warps(state, op, product, sums)


@contextmanager
def _first_warps(state: State, warps: int, storage: SSAValue) -> Generator[None]:
    """Insert code of the first warps of the block, which changes the registers of a storage."""
    e, before = state.e, state.registers[storage]
    own, others = Block(), Block()
    is_first = is_less(e, warp_id(e), constant_like(e, warp_id(e), warps))
    with e.within(own):
        yield
        e.insert(scf.YieldOp(state.registers[storage]))
    with e.within(others):
        e.insert(scf.YieldOp(before))
    made = e.insert(scf.IfOp(is_first, [before.type], Region(own), Region(others)))
    state.registers[storage] = made.results[0]


def check_layout(op: Operation, what: str, location: FragmentLocation, wanted: FragmentMap) -> None:
    """Raise where an operand is in other registers than the instruction takes."""
    if location.layout.same_function(wanted):
        return
    raise op_error(op, f"takes {what} laid out as {wanted}, and it is {location.layout}")


_TABLE: Any = {GemmOp: gemm}

PRODUCTS: Mapping[type[Operation], Handler] = _TABLE
"""Products of matrices."""
