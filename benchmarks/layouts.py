"""Times of the layout package against its bars (`make bench`); medians, in microseconds.

A bar that is missed is marked, never an error: the machines are shared.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tileas_xdsl.layout import (
    E,
    Layout,
    MemoryLayout,
    Swizzle,
    coalesce,
    complement,
    composition,
    invert,
    is_injective,
    left_inverse,
    logical_divide,
    logical_product,
    parse_layout,
    recover,
    register_layout_from_tv,
    right_inverse,
    scatter_inverse,
    table,
    tile_to_shape,
    zipped_divide,
)
from tileas_xdsl.layout.convert import plan_conversion
from tileas_xdsl.layout.memory.banks import wavefronts
from tileas_xdsl.tools.failures import ends_with_its_reader

OPERATION_BAR = 50.0


@dataclass(frozen=True)
class Case:
    name: str
    run: Callable[[], Any]
    bar: float


def median_time(run: Callable[[], Any], budget: float = 0.3) -> float:
    """The median time of one call in microseconds, over about `budget` seconds."""
    run()
    start = time.perf_counter()
    run()
    once = max(time.perf_counter() - start, 1e-7)
    batch = max(1, int(0.002 / once))
    samples = []
    deadline = time.perf_counter() + budget
    while time.perf_counter() < deadline or len(samples) < 3:
        start = time.perf_counter()
        for _ in range(batch):
            run()
        samples.append((time.perf_counter() - start) / batch)
    return statistics.median(samples) * 1e6


def cases() -> list[Case]:
    a = Layout((8, (4, 2)), (8, (1, 64)))
    b = Layout((4, 8), (8, 1))
    sparse = Layout((2, 2), (E("thread", 16), E("thread", 32)))
    tv = parse_layout("((4,8,4),(2,2,32)):((128,1,16),(64,8,512))")
    assert isinstance(tv, Layout)
    fragment = register_layout_from_tv(tv, (64, 256))
    blocked = register_layout_from_tv(Layout(((32, 4), (8, 16)), ((512, 16), (64, 1))), (64, 256))
    thread, value = table(fragment.layout, "thread"), table(fragment.layout, "value")
    shape = fragment.shape
    addresses = MemoryLayout(Layout((64, 64), (64, 1)), Swizzle(3, 4, 3)).addresses(16)
    lanes = np.resize(addresses.reshape(64, 64).T.ravel()[::2], (8, 32, 32))
    text = "<(128,64),(64,1),swizzle<3,4,3>,elem=nvfp4>"
    small = {
        "Layout((8,(4,2)),(8,(1,64)))": lambda: Layout((8, (4, 2)), (8, (1, 64))),
        "L(3, (2, 1))": lambda: a(3, (2, 1)),
        "coalesce": lambda: coalesce(a),
        "composition": lambda: composition(a, b),
        "complement": lambda: complement(b, 64),
        "right_inverse": lambda: right_inverse(a),
        "left_inverse": lambda: left_inverse(a),
        "logical_divide": lambda: logical_divide(Layout(64), Layout(8, 2)),
        "logical_product": lambda: logical_product(b, Layout(4)),
        "zipped_divide by (4, 4)": lambda: zipped_divide(Layout((16, 16)), (4, 4)),
        "tile_to_shape": lambda: tile_to_shape(Layout((8, 64), (64, 1)), (128, 128)),
        "invert (closed form with guard)": lambda: invert(sparse, {"thread": 64}),
        "parse a layout literal": lambda: parse_layout(text),
        "print it": lambda: str(parse_layout(text)),
    }

    def fresh_table() -> Any:
        table.cache_clear()
        return table(tv)

    def fresh_conversion() -> Any:
        table.cache_clear()
        return plan_conversion(fragment, blocked, 32)

    large = [
        Case("table of wgmma 64x256, 16384 points", fresh_table, 500),
        Case("is it injective", lambda: is_injective(tv), 5000),
        Case("scatter inverse", lambda: scatter_inverse(tv), 5000),
        Case(
            "recover wgmma 64x256 from tables, certified",
            lambda: recover({"thread": thread, "value": value}, shape),
            5000,
        ),
        Case("invert wgmma 64x256 in closed form", lambda: invert(fragment.layout), 50),
        Case("bank conflicts, 8 warps x 32 steps", lambda: wavefronts(lanes, 4), 1000),
        Case("plan wgmma 64x256 -> row-blocked, f32", fresh_conversion, 50000),
    ]
    return [*(Case(name, run, OPERATION_BAR) for name, run in small.items()), *large]


def main() -> None:
    print(f"{'what':48} {'median us':>10} {'bar us':>8}")
    for case in cases():
        measured = median_time(case.run)
        verdict = "" if measured <= case.bar else f"  {measured / case.bar:.1f} x the bar"
        print(f"{case.name:48} {measured:10.1f} {case.bar:8.0f}{verdict}")


if __name__ == "__main__":
    with ends_with_its_reader():
        main()
