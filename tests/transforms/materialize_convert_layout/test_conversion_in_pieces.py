"""Layout conversions through less shared memory than the tile has, against the tile itself."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from support.encodings import chain, linear, lowered, random_array, random_encoding
from support.seeds import seeds
from xdsl.dialects import func

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.threads.pipeline.kernel_plan import KernelPlan
from tileas_xdsl.threads.smem.smem_layout import SharedMemoryError
from tileas_xdsl.transforms.conversion import convert_tileas_to_cute_nvgpu as lowering

LIMIT = 256


@pytest.fixture(autouse=True)
def _little_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every exchange has a quarter of a kilobyte."""
    lower = lowering.lower_kernel

    def lower_within_limit(plan: KernelPlan) -> func.FuncOp:
        return lower(replace(plan, is_thrifty=True, exchange_limit=LIMIT))

    monkeypatch.setattr(lowering, "lower_kernel", lower_within_limit)


@pytest.mark.sample(2)
@pytest.mark.parametrize("seed", seeds(4, 150))
def test_any_registers_to_any_others(seed: int) -> None:
    rng = np.random.default_rng([41, seed])
    warps, element = int(rng.choice([1, 2, 4])), ["f32", "f16", "i8", "i64"][seed % 4]
    shape = tuple(int(rng.choice([16, 32])) for _ in range(2))
    layouts = [
        random_encoding(rng, shape, 32 * warps, replicas=bool(rng.integers(2))) for _ in range(2)
    ]
    encodings = [linear(layout) for layout in layouts]
    numbers = random_array(rng, shape, element)
    kernel = lowered(chain(shape, element, [*encodings, encodings[0]], warps))
    assert kernel.abi.shared_bytes <= 2 * LIMIT
    found = kernel.emulate(numbers, np.zeros_like(numbers), grid=1, order="random")
    assert [str(finding) for finding in found.findings] == []
    # Bytes are only moved; other elements are doubled where the chain says so.
    factor = 1 if element == "i8" else 4
    np.testing.assert_array_equal(found.arrays[1], factor * numbers)


def test_pieces_get_smaller_until_nothing_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    """A kernel without stages that always lacks shared memory: whole tiles first, 1 KiB last."""
    limits: list[int | None] = []

    def without_room(plan: KernelPlan) -> func.FuncOp:
        limits.append(plan.exchange_limit)
        raise SharedMemoryError(*op_error(plan.kernel, "has no room").diagnostics)

    monkeypatch.setattr(lowering, "lower_kernel", without_room)
    encoding = linear(random_encoding(np.random.default_rng(3), (16, 16), 32))
    with pytest.raises(SharedMemoryError, match="has no room"):
        lowered(chain((16, 16), "f32", [encoding, encoding], 1))
    assert limits == [None, None, 32768, 8192, 1024]
