"""Iterations of a parallel loop are independent: what one writes no other may touch."""

from __future__ import annotations

import numpy as np
import pytest

from tests.interpreters.tile.tl_kernels.block_programs import block, floats, memref, refuses, run
from tests.support.simulating import module_of
from tileas_xdsl.interpreters.tile.faults import SimulationError
from tileas_xdsl.interpreters.tile.launch import simulate

TYPES = {"A": memref("4x6xf32"), "F": memref("4x6xf32", "fragment"), "M": memref("4xf32", "shared")}
LOADED = """
    %f = tl.alloc_fragment : !F
    %m = tl.alloc_shared : !M
    tl.copy %A to %f : !A to !F"""


def loop(lines: str, before: str = "") -> str:
    """A block that has A in a fragment, and a loop over it."""
    body = f"{LOADED}\n{before}\n    tl.parallel (%i, %j) in (4, 6) {{\n{lines}\n    }}"
    return block("%A: !A", body, TYPES)


A = floats(1, 4, 6)

FILLED = """
    %c = arith.constant 2.0 : f32
    tl.fill %m, %c : !M"""


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (
            "%x = memref.load %f[%i, %j] : !F\n memref.store %x, %m[%i] : !M",
            r"race on %m\[0\]: iterations \[0, 0\] and \[0, 1\] of one loop write different values",
        ),
        (
            "%o = memref.load %m[%i] : !M\n %x = memref.load %f[%i, %j] : !F\n"
            "%n = arith.addf %o, %x : f32\n memref.store %n, %m[%i] : !M",
            r"race on %m\[0\]: iteration \[0, 1\] reads what iteration \[0, 0\] of its loop writes",
        ),
        (
            "%k = affine.apply affine_map<(d0) -> ((d0 + 1) mod 6)> (%j)\n"
            "%x = memref.load %f[%i, %k] : !F\n memref.store %x, %f[%i, %j] : !F",
            r"race on %f\[0, 0\]: iteration \[0, 5\] reads what iteration \[0, 0\] of its loop",
        ),
        (
            "%x = memref.load %f[%i, %j] : !F\n tl.atomic_add %m[%i], %x : !M\n"
            "%y = memref.load %m[%i] : !M",
            r"race on %m\[0\]: iteration \[0, .\] reads what iteration \[0, .\] of its loop updat",
        ),
        (
            "%x = memref.load %f[%i, %j] : !F\n tl.atomic_add %m[%i], %x : !M\n"
            "memref.store %x, %m[%zero] : !M",
            r"race on %m\[0\]: iteration \[0, .\] \w+s what iteration \[0, .\] of its loop",
        ),
    ],
)
def test_iterations_that_are_in_each_others_way(lines: str, message: str):
    refuses(loop(lines, FILLED), message, A)


@pytest.mark.parametrize(
    "lines",
    [
        # All write one value.
        "%one_ = arith.constant 1.0 : f32\n memref.store %one_, %m[%i] : !M",
        # An iteration reads what it writes itself.
        "%x = memref.load %f[%i, %j] : !F\n %y = arith.addf %x, %x : f32\n"
        "memref.store %y, %f[%i, %j] : !F\n %z = memref.load %f[%i, %j] : !F",
        # Only one of those that come to an element writes it.
        "%x = memref.load %f[%i, %j] : !F\n %is = arith.cmpi eq, %j, %two : index\n"
        "scf.if %is {\n memref.store %x, %m[%i] : !M\n }",
        # Updates are atomic.
        "%x = memref.load %f[%i, %j] : !F\n tl.atomic_add %m[%i], %x : !M",
        # Many read.
        "%x = memref.load %m[%i] : !M",
    ],
)
def test_iterations_that_are_not(lines: str):
    run(loop(lines, FILLED), A)


def test_both_places_are_told():
    lines = "%x = memref.load %f[%i, %j] : !F\nmemref.store %x, %m[%i] : !M\n"
    other = "%y = arith.negf %x : f32\nmemref.store %y, %m[%i] : !M"
    with pytest.raises(SimulationError) as caught:
        simulate(module_of(loop(lines + other, FILLED)), [A])
    (fault,) = caught.value.diagnostics
    (note,) = fault.notes
    assert fault.op_name == "memref.store"
    assert note.message == "iteration [0, 0] writes it here"
    assert fault.location is not None
    assert note.location is not None


def test_views_of_one_storage_meet():
    body = """
    %f = tl.alloc_shared : !S
    %h = tl.view %f : !S to !H
    tl.parallel (%i) in (8) {
      %k = affine.apply affine_map<(d0) -> (d0 * 2)> (%i)
      %next = affine.apply affine_map<(d0) -> ((d0 * 2 + 1) mod 16)> (%i)
      %c = arith.index_cast %i : index to i32
      memref.store %c, %f[%i] : !S
      %d = memref.load %h[OFFSET] : !H
    }"""
    types = {"S": memref("8xi32", "shared"), "H": memref("16xi16", "shared")}
    run(block("", body.replace("OFFSET", "%next"), types))
    run(block("", body.replace("OFFSET", "%k"), types))
    message = r"race on %f\[0\]: iteration \[1\] reads what iteration \[0\] of its loop writes"
    refuses(block("", body.replace("OFFSET", "%i"), types), message)


def test_loops_and_blocks_come_one_after_another_but_blocks_race():
    body = """
    tl.parallel (%i) in (4) {
      %v = arith.index_cast %b : index to i32
      memref.store %v, %B[%i] : memref<4xi32>
    }"""
    text = block("%B: memref<4xi32>", body, grid="(%b) in (2)")
    refuses(text, "race on %B", np.zeros(4, np.int32), grid=2)
