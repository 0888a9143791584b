"""Tiles that one block transfers to another one: once for each slot, and in order."""

from __future__ import annotations

import numpy as np

from tests.support.simulating import kernel, numbers, refuses, run

TYPES = {"tile": "tensor<4x8xf32>", "view": "!nv_tileas.tiled_view<4x8xf32, gmem>"}
ARGS = "%a: !view, %b: !view"
BLOCK = """
  %i = "gpu.block_id"() <{dimension = #gpu<dim x>}> : () -> index
  %me = arith.index_cast %i : index to i32
  %x = nv_tileas.tiled_load %a[%i, %zero] {atom = #ldg} : !view -> !tile
"""


def test_a_block_goes_on_with_what_the_one_before_has_transferred() -> None:
    """Each CTA transfers its tile out before it waits for one; the first waits for none."""
    rng = np.random.default_rng(1)
    a, b = numbers(rng, (12, 8), np.float32), np.zeros((12, 8), np.float32)
    body = f"""{BLOCK}
  nv_tileas.transfer_out %x in %me : !tile
  %is_later = arith.cmpi ugt, %i, %zero : index
  scf.if %is_later {{
    %unit = arith.constant 1 : i32
    %before = arith.subi %me, %unit : i32
    %y = nv_tileas.transfer_in %before : !tile
    %z = arith.addf %x, %y : !tile
    nv_tileas.tiled_store %z, %b[%i, %zero] {{atom = #stg}} : !tile, !view
  }}"""
    wanted = np.concatenate([np.zeros((4, 8), np.float32), a[4:] + a[:-4]])
    np.testing.assert_array_equal(run(kernel(ARGS, body, types=TYPES), a, b, grid=3)[1], wanted)


def test_a_slot_holds_one_tile() -> None:
    rng = np.random.default_rng(2)
    a, b = (numbers(rng, (4, 8), np.float32) for _ in range(2))
    twice = "  nv_tileas.transfer_out %x in %me : !tile\n" * 2
    refuses(kernel(ARGS, BLOCK + twice, types=TYPES), "slot 0 is full", a, b)


def test_who_is_transferred_nothing_waits_forever() -> None:
    rng = np.random.default_rng(3)
    a, b = (numbers(rng, (4, 8), np.float32) for _ in range(2))
    body = BLOCK + "  %y = nv_tileas.transfer_in %me : !tile\n"
    refuses(kernel(ARGS, body, types=TYPES), "waits forever", a, b)
