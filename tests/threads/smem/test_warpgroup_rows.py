"""Warpgroups store their rows of a product for themselves, and meet no other one."""

import re
from collections.abc import Mapping

import pytest

pytest.importorskip("cuda.tile")

from kernels.cutile import emulated
from kernels.cutile.matmul import product_problem
from tests.support.ptx_edits import Edit, changing
from tileas_xdsl.compiled_kernel import CompiledKernel
from tileas_xdsl.interpreters.ptx.execution.state import Order

PRODUCT = product_problem("matmul", "bf16", "bf16", (260, 264, 72), (128, 256, 64))
"""Rows of two warpgroups, stored in two pieces of columns; three tile blocks by two."""

BARRIER = r"^ *bar\.sync %r\d+, 128;\n"


@pytest.fixture(scope="module", params=["a tile block a CTA", "persistent"])
def kernel(request: pytest.FixtureRequest) -> CompiledKernel:
    made = PRODUCT.compiled("sm_90a")
    return made.persistent if request.param == "persistent" else made


@pytest.mark.parametrize("order", ["lazy", "eager", "random"])
def test_rows_are_stored_by_their_warpgroup(order: Order, kernel: CompiledKernel) -> None:
    assert len(re.findall(BARRIER, kernel.ptx, re.M)) == 4 + kernel.abi.is_persistent
    assert emulated(PRODUCT, kernel, order=order, seed=1).is_right


FAULTS: Mapping[str, Edit] = {
    "rows are stored before their warpgroup has written them": changing(
        r"(fence\.proxy\.async\S*\n)" + BARRIER, r"\1"
    ),
    "a piece is written before the one in front of it is read": changing(
        r"^.*bulk\.wait_group\.read.*\n(?= *bar\.sync %r\d+, 128;\n *stmatrix)", ""
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_planted_faults_are_found(
    name: str, kernel: CompiledKernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernel, "ptx", FAULTS[name](kernel.ptx))
    found = emulated(PRODUCT, kernel, order="lazy", seed=1)
    assert not found.is_right
