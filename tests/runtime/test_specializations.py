"""Forms of a kernel: each is compiled once, also where another one stands for it."""

from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

pytest.importorskip("cuda.tile")

from kernels.cutile import matmul as products
from tileas_xdsl.compiler import compile
from tileas_xdsl.runtime.specializations import Specializations
from tileas_xdsl.target.kernel_abi import KernelAbi
from tileas_xdsl.target.launches.specializations import (
    ChooseSpecialization,
    LaunchPredicate,
    unspecialized,
)

HALVES = "f16[?, ?%8]"
MATMUL: Any = vars(products)["matmul"]
ABI = compile(
    MATMUL,
    signature=f"a: {HALVES}, b: {HALVES}, c: {HALVES}, tm=128, tn=256, tk=64",
    target="sm_90a",
).abi


def few(predicate: LaunchPredicate) -> bool:
    """The launch has few tile blocks."""
    return predicate is ABI.few_tile_blocks[0]


@dataclass(frozen=True)
class Code:
    abi: KernelAbi


def asked(
    specializations: Specializations[Code],
    choose: ChooseSpecialization,
    made: KernelAbi,
    log: list[Any],
) -> Code:
    def compile() -> Code:
        log.append(choose)
        return Code(made)

    return specializations.chosen(choose, compile)


def test_a_form_is_compiled_once() -> None:
    log: list[Any] = []
    specializations = Specializations([Code(ABI)])
    divided = replace(ABI, tile_block_ctas=ABI.few_tile_blocks[0].count)
    assert asked(specializations, unspecialized, ABI, log).abi is ABI
    for _ in range(2):
        assert asked(specializations, few, divided, log).abi is divided
    assert log == [few]


def test_a_form_that_cannot_be_made_is_asked_for_once() -> None:
    log: list[Any] = []
    specializations: Specializations[Code] = Specializations()
    for _ in range(3):
        assert asked(specializations, few, ABI, log).abi is ABI
    assert log == [few]
    assert asked(specializations, unspecialized, ABI, log).abi is ABI
    assert log == [few]


class Asked:
    """A launcher that counts what it is asked."""

    device = SimpleNamespace(number=0)

    def __init__(self) -> None:
        self.predicates = 0

    def suits(self, predicate: LaunchPredicate, *, args: Any, grid: Any) -> bool:
        self.predicates += 1
        return unspecialized(predicate)


def test_launches_alike_ask_once() -> None:
    """A launch with the extents and the grid of an earlier one runs its specialization."""
    a, b, c = (np.zeros((256, 256), np.float16) for _ in "abc")
    kernel = compile(MATMUL, a, b, c, 128, 128, 64, target="sm_90a")
    launcher: Any = Asked()
    counts: list[int] = []
    for rows, grid in ((256, (2, 2, 1)), (256, (2, 2, 1)), (128, (1, 2, 1)), (256, (2, 2, 1))):
        kernel._specialized(launcher, (a[:rows], b, c[:rows], 128, 128, 64), grid)
        counts.append(launcher.predicates)
    assert counts[0] > 0
    assert counts[1] == counts[0] < counts[2] == counts[3]
