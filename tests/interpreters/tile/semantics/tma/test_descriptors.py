"""TMA descriptors: what the driver would refuse is a fault, the rest describes the tensor."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.simulating import kernel, numbers, refuses, run

HEAD = """
  %c64 = arith.constant 64 : index
  %s = nv_tileas.alloc_tensor : tensor<8x16xf16, #nv_tileas<space smem>>
  %barrier = nv_tileas.create_none : !mem
"""
LOAD = """
  %t = nv_tileas.async.tiled_tma_load %d, %s[%zero, %zero] barrier %barrier
    {atom = #nv_tileas<atom tma_load_2d>}
    : !desc, tensor<8x16xf16, #nv_tileas<space smem>>, index, index, !mem -> !token
  nv_tileas.async.wait %t : !token
  nv_tileas.copy %s, %out {atom = #any}
    : tensor<8x16xf16, #nv_tileas<space smem>>, memref<8x16xf16>
"""


def made(of: str, type_: str, more: str = "") -> str:
    return f"""
  %d = nv_tileas.make_tiled_tma_desc {of} box[%sixteen, %eight]
    {{atom = #nv_tileas<atom tma_load_2d>{more}}} : {type_} -> !desc
"""


def test_a_view_into_the_middle_ends_where_its_memory_ends() -> None:
    rng = np.random.default_rng(1)
    a, out = numbers(rng, (9, 24), np.float16), numbers(rng, (8, 16), np.float16)
    view = "!nv_tileas.tiled_view<8x16xf16, gmem>"
    text = kernel(
        "%a: memref<?x?xf16>, %out: memref<8x16xf16>, %i: index, %j: index",
        f"""{HEAD}
  %v = nv_tileas.view %a[%i, %j] : memref<?x?xf16> -> {view}
  {made("%v", view)}
  {LOAD}""",
    )
    for i, j in [(0, 0), (3, 8), (8, 16)]:
        wanted = np.zeros((8, 16), np.float16)
        part = a[i : i + 8, j : j + 16]
        wanted[: part.shape[0], : part.shape[1]] = part
        np.testing.assert_array_equal(run(text, a, out, i, j, schedules=[None])[1], wanted)
    refuses(text, "tensor map: the address 0x6 is not a multiple of 16", a, out, 0, 3)
    refuses(text, "begins outside its memory", a, out, -1, 0)
    refuses(text, r"tensor map: dims\[1\] is 0", a, out, 9, 0)


def test_rows_are_multiples_of_sixteen_bytes_apart() -> None:
    rng = np.random.default_rng(2)
    out = numbers(rng, (8, 16), np.float16)
    text = kernel(
        "%a: memref<?x?xf16>, %out: memref<8x16xf16>",
        f"{HEAD}{made('%a', 'memref<?x?xf16>')}{LOAD}",
    )
    a = numbers(rng, (9, 24), np.float16)
    np.testing.assert_array_equal(run(text, a, out, schedules=[None])[1], a[:8, :16])
    message = r"tensor map: strides\[0\] is 42 bytes, not a multiple of 16"
    refuses(text, message, numbers(rng, (9, 21), np.float16), out)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (", oob_mode = #nv_tileas<oob_mode constant>", "fills with a constant"),
        (', swizzle_mode = #nv_tileas<swizzle_mode "32B">', None),
        (', swizzle_mode = #nv_tileas<swizzle_mode "128B">, alignment = 128 : i32', None),
        (", tma_internal_type = bf16", None),
        (", tma_internal_type = f32", "not as wide as those of the view"),
    ],
)
def test_what_a_descriptor_says(more: str, message: str | None) -> None:
    rng = np.random.default_rng(3)
    a, out = numbers(rng, (9, 24), np.float16), numbers(rng, (8, 16), np.float16)
    body = f"{HEAD}{made('%a', 'memref<?x?xf16>', more)}"
    if message is not None:
        text = kernel("%a: memref<?x?xf16>, %out: memref<8x16xf16>", body)
        refuses(text, message, a, out)
        return
    if "bf16" in more:
        # Bits move as they are, into a tile of the type that moves.
        body = body.replace("tensor<8x16xf16,", "tensor<8x16xbf16,")
        load = LOAD.replace("tensor<8x16xf16,", "tensor<8x16xbf16,").split("nv_tileas.copy")[0]
        body += f"""{load}
  %x = nv_tileas.tiled_load %s[%zero, %zero] {{atom = #any}}
    : tensor<8x16xbf16, #nv_tileas<space smem>> -> tensor<8x16xbf16>
  %y = nv_tileas.reinterpret %x : tensor<8x16xbf16> -> tensor<8x16xf16>
  nv_tileas.store %y, %out[%zero, %zero] {{atom = #stg}} : tensor<8x16xf16>, memref<8x16xf16>
"""
    else:
        body += LOAD
    text = kernel("%a: memref<?x?xf16>, %out: memref<8x16xf16>", body)
    np.testing.assert_array_equal(run(text, a, out)[1], a[:8, :16])
