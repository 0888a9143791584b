# pyright: basic
"""Chained products: an accumulator becomes an operand without leaving its registers."""

from __future__ import annotations

import re
from functools import cache

import pytest

pytest.importorskip("cuda.tile")

from kernels.cutile.attention import Attention
from kernels.cutile.problem import emulated, evaluated
from tileas_xdsl.compiler import CompiledKernel, compile

SMALL = Attention(1, 1, 64, 128, 64)


@cache
def compiled(target: str) -> CompiledKernel:
    """The kernel, compiled once for all tests of the file."""
    return SMALL.problem().compiled(target)


@pytest.fixture
def hopper() -> CompiledKernel:
    return compiled("sm_90a")


def loop_of(text: str) -> str:
    """What the consumer of keys and values does for each tile of them."""
    return text[text.rindex("scf.for") : text.rindex("scf.yield")]


@pytest.mark.parametrize("target", ["sm_90a", "sm_100a"])
def test_scores_stay_where_the_product_leaves_them(target: str) -> None:
    """Masks, maxima, powers and their sums have one layout, values of rows one of their own."""
    kernel = compiled(target)
    body = loop_of(kernel.ir("tileas-remove-layout-conversions"))
    made = re.findall(r"= (?:arith|math)\.(?!constant)\w+ .*: tensor<64x64xf32, (#[^>]*>)>", body)
    assert len(made) >= 4
    assert len(set(made)) == 1
    rows = re.findall(r"tensor<64x1xf32, (#[^>]*>)>", body)
    assert len(rows) >= 4
    assert len(set(rows)) == 1
    assert "tensor<64x1xf32>" not in body


def conversions(kernel: CompiledKernel) -> int:
    """How many tiles of the loop are put into shared memory."""
    body = loop_of(kernel.ir("tileas-remove-layout-conversions"))
    return len(re.findall(r"convert_layout .* -> tensor<\w+, #nv_tileas.shared", body))


def test_powers_stay_in_registers(hopper: CompiledKernel) -> None:
    """TMA loads queries, keys and values; powers are A of the second product in registers.

    It stands in the rotated loop, behind that, and in the loop over the last, masked keys.
    """
    assert conversions(hopper) == 0
    assert len(re.findall(REGISTERS_OF_A, hopper.ptx)) == 3 * 64 // 16
    assert hopper.ptx.rindex("wgmma.mma_async") < hopper.ptx.index("stmatrix")


def test_powers_go_to_memory_where_tensor_cores_read_only_that() -> None:
    kernel = compiled("sm_100a")
    assert conversions(kernel) == 1
    assert "stmatrix" in kernel.ptx


def test_threads_of_a_row_meet_by_shuffles(hopper: CompiledKernel) -> None:
    """Two rows of a thread, two steps among four lanes, for the maximum, and once for the sum.

    Those for the maximum stand before the rotated loops and in them, of whole keys and of the last,
    masked ones; those for the sum behind all.
    """
    assert hopper.ptx.count("shfl.sync.bfly") == 4 * (2 * 2) + 2 * 2


REGISTERS_OF_A = r"wgmma\.mma_async[^;]*\}, \{%\w+, %\w+, %\w+, %\w+\}"

PRODUCT = """
  func.func @k(%a: !nv_tileaa.ptr<X, 1>) attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
    %s = arith.constant 1.0 : X
    %left = tensor.splat %s : tensor<64x32xX, #nv_tileas.blocked<"((4,16),32):((32@thread,1@value),1@thread)">>
    %right = nv_tileas.alloc_tensor : tensor<16x32xX, #nv_tileas.shared<(16,32),(32,1),SWIZZLE>>
    %view = nv_tileas.view %right : tensor<16x32xX, #nv_tileas.shared<(16,32),(32,1),SWIZZLE>> -> tensor<32x16xX, #nv_tileas.shared<(32,16),(1,32),SWIZZLE>>
    %zero = arith.constant dense<0.0> : tensor<64x16xf32>
    PRODUCT
    func.return
  }
"""  # noqa: E501
LEFT = 'tensor<64x32xX, #nv_tileas.blocked<"((4,16),32):((32@thread,1@value),1@thread)">>'
TYPES = f"{LEFT}, tensor<32x16xX, #nv_tileas.shared<(32,16),(1,32),SWIZZLE>>, tensor<64x16xf32>"


@pytest.mark.parametrize(
    ("element", "word", "steps"),
    [("f8E4M3FN", "f8e4m3", 1), ("f16", "f16", 2), ("tf32", "tf32", 4)],
)
def test_fragments_of_all_elements_are_read_from_registers(
    element: str, word: str, steps: int
) -> None:
    product = "%r = nv_tileas.dot %left, %view, %zero {ATOM} : TYPES -> tensor<64x16xf32>"
    atom = f"atom = #nv_tileas<atom wgmma_{word}_{word}_f32>"
    text = PRODUCT.replace("PRODUCT", product).replace("TYPES", TYPES).replace("ATOM", atom)
    swizzle = f"swizzle<{steps.bit_length()},4,3>"
    ptx = compile(
        text.replace("SWIZZLE", swizzle).replace("xX", f"x{element}").replace("X", element)
    ).ptx
    assert len(re.findall(REGISTERS_OF_A, ptx)) == steps


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("sizes", "order"),
    [
        (Attention(1, 1, 64, 100, 64, "e4m3"), "lazy"),
        (Attention(1, 1, 130, 192, 128, "e4m3", tm=128, tn=128), "drift"),
        (Attention(1, 1, 128, 128, 64, "e4m3", causal=True, tm=128, tn=32), "random"),
    ],
    ids=str,
)
def test_powers_of_bytes_stay_in_registers(sizes: Attention, order: str) -> None:
    """Values are transposed in the order in which threads have the powers: no byte is exchanged."""
    problem = sizes.problem()
    made = problem.compiled("sm_90a")
    body = loop_of(made.ir("tileas-remove-layout-conversions"))
    assert conversions(made) == body.count("convert_layout %") == body.count("depth_of_sums} :")
    assert evaluated(problem, made).is_right
    assert emulated(problem, made, seed=3, order=order).is_right
