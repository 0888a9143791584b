"""Launches whose CTAs count or transfer tiles, side by side on a GPU: every bit as if alone.

    python tests/hardware/launch_side_by_side.py

Rows of layer_norm come from a counter, and CTAs of a product transfer tiles to each other, in
memory that launches share which follow one another (`runtime/gpu/launch_memory.py`); softmax has
none.  Here they run on streams at once, by threads whose streams have one handle, in graphs that
are replayed between other launches, one behind the other on a stream, and with any number of rows.
Each is compared with the same launch alone, rows with those of launches of few rows.  Needs torch,
and 16 GB of GPU memory.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import torch

sys.path.insert(0, str(Path(__file__).parents[2]))

import tileas_xdsl as tileas
from kernels.cutile.layer_norm import layer_norm
from kernels.cutile.matmul import matmul
from kernels.cutile.softmax import softmax
from tileas_xdsl.runtime.gpu.device_arrays import device_array
from tileas_xdsl.runtime.gpu.launch_memory import PER_THREAD_STREAM

ROWS, FEW_ROWS = 10_007, 104
"""Rows of a launch, and of those that no CTA asks the counter for; whole vectors of odd rows."""

WIDTHS = 10_000, 10_001
TILE = 1 << 14
PRODUCT = 2304, 2304, 4096
TILES = 128, 256, 64

Tensor = Any
Stream = Any
Wrong = Counter[str]
"""How many results are wrong, by what computed them."""

Launch = Callable[[Any, Sequence[int], Sequence[Any], Stream], None]
"""Launches a kernel with a grid and arguments on a stream."""


def by_cutile(kernel: Any, grid: Sequence[int], args: Sequence[Any], stream: Stream) -> None:
    """Launch as a program of cuTile does."""
    tileas.launch(stream, tuple(grid), kernel, tuple(args))


@dataclass
class Compiled:
    """Launches a kernel as it was compiled for the first arrays with rows of a length."""

    made: dict[Any, Any] = field(default_factory=dict)

    def __call__(
        self, kernel: Any, grid: Sequence[int], args: Sequence[Any], stream: Stream
    ) -> None:
        key = kernel, args[0].shape[-1]
        if key not in self.made:
            found = [(value, device_array(value, "data")) for value in args]
            shadows = [value if array is None else array.shadow for value, array in found]
            self.made[key] = tileas.compile(kernel, *shadows)
        self.made[key].launch(*args, grid=tuple(grid), stream=stream)


@dataclass
class Work:
    """A kernel, its inputs, and what its launches give alone."""

    name: str
    kernel: Any
    inputs: Sequence[Tensor]
    make: Callable[[], Sequence[Tensor]]
    """Unset memory for results."""
    arguments: Callable[..., tuple[Sequence[int], Sequence[Any]]]
    """Grid and arguments for inputs and results."""
    alone: Sequence[Tensor] = ()

    def launch(self, launch: Launch, results: Sequence[Tensor], stream: Stream) -> None:
        grid, args = self.arguments(self.inputs, results)
        launch(self.kernel, grid, args, stream)

    def wrong(self, results: Sequence[Tensor], rows: int | None = None) -> Wrong:
        """Count results that differ from those alone in some bit, those of so many rows."""
        pairs = zip(results, self.alone, strict=True)
        differ = (not torch.equal(bits(found)[:rows], bits(one)[:rows]) for found, one in pairs)
        return Counter({self.name: sum(differ)})


def bits(tensor: Tensor) -> Tensor:
    return tensor.view({2: torch.int16, 4: torch.int32}[tensor.element_size()])


def unset(*shape: int, dtype: Any = torch.float16) -> Tensor:
    return torch.full(shape, float("nan"), dtype=dtype, device="cuda")


def random(*shape: int) -> Tensor:
    return torch.randn(shape, dtype=torch.float16, device="cuda")


def softmax_arguments(inputs: Any, results: Any) -> tuple[Sequence[int], Sequence[Any]]:
    return (results[0].shape[0], 1, 1), (*inputs, *results, 1, TILE)


def layer_norm_arguments(inputs: Any, results: Any) -> tuple[Sequence[int], Sequence[Any]]:
    return (results[0].shape[0], 1, 1), (*inputs, *results, 1, TILE)


def product_arguments(inputs: Any, results: Any) -> tuple[Sequence[int], Sequence[Any]]:
    m, n, _ = PRODUCT
    return (-(-m // TILES[0]), -(-n // TILES[1]), 1), (*inputs, *results, *TILES)


def norms(rows: int, columns: int) -> Sequence[Tensor]:
    f32 = partial(unset, dtype=torch.float32)
    return unset(rows, columns), f32(rows), f32(rows)


def in_few_rows(work: Work) -> Sequence[Tensor]:
    """The results of launches of few rows each, one after another."""
    found = work.make()
    for begin in range(0, ROWS, FEW_ROWS):
        rows = slice(begin, begin + FEW_ROWS)
        results = [one[rows].clone() for one in found]
        grid, args = work.arguments((work.inputs[0][rows].clone(), *work.inputs[1:]), results)
        by_cutile(work.kernel, grid, args, torch.cuda.current_stream())
        torch.cuda.synchronize()
        for one, part in zip(found, results, strict=True):
            one[rows] = part
    return found


def works() -> Iterator[Work]:
    """Rows that are and are not whole vectors, and a product."""
    for columns in WIDTHS:
        x = random(ROWS, columns)
        lines = random(columns), random(columns)
        shape = ROWS, columns
        soft = Work("softmax", softmax, [x], lambda s=shape: [unset(*s)], softmax_arguments)
        norm = Work(
            "layer_norm", layer_norm, [x, *lines], partial(norms, *shape), layer_norm_arguments
        )
        for work in (soft, norm):
            work.name += f" of {columns} columns"
            work.alone = in_few_rows(work)
            yield work
    m, n, k = PRODUCT
    made = Work(
        "product", matmul, [random(m, k), random(k, n)], lambda: [unset(m, n)], product_arguments
    )
    made.alone = made.make()
    made.launch(by_cutile, made.alone, torch.cuda.current_stream())
    torch.cuda.synchronize()
    yield made


Check = Callable[[Sequence[Work], Launch], Wrong]


def any_number_of_rows(works: Sequence[Work], launch: Launch) -> Wrong:
    """Each row has its bits in launches of any number of rows."""
    wrong = Wrong()
    for work in works:
        if work.kernel is matmul:
            continue
        for rows in (3, 131, 133, 265, 397, 1001, ROWS):
            results = [one[:rows].clone() for one in work.make()]
            inputs = work.inputs[0][:rows].clone(), *work.inputs[1:]
            launch(work.kernel, *work.arguments(inputs, results), torch.cuda.current_stream())
            torch.cuda.synchronize()
            wrong += work.wrong(results, rows)
    return wrong


def streams_at_once(works: Sequence[Work], launch: Launch) -> Wrong:
    """Six streams of launches, which begin with another kernel each."""
    streams = [torch.cuda.Stream() for _ in range(6)]
    made: list[tuple[Work, Sequence[Tensor]]] = []
    todo: list[tuple[Stream, Work, Sequence[Tensor]]] = []
    for turn in range(len(works)):
        for number, stream in enumerate(streams):
            work = works[(turn + number) % len(works)]
            todo.append((stream, work, work.make()))
            made.append((work, todo[-1][2]))
    wrong = Wrong()
    for _ in range(3):
        torch.cuda.synchronize()
        for stream, work, results in todo:
            work.launch(launch, results, stream)
        torch.cuda.synchronize()
        wrong += cleared(made)
    return wrong


def threads_by_one_handle(works: Sequence[Work], launch: Launch) -> Wrong:
    """Four threads, whose streams have one handle."""
    made = [(work, work.make()) for _ in range(4) for work in works]
    torch.cuda.synchronize()

    def run(number: int) -> None:
        count = len(works)
        for turn in range(count):
            work, results = made[number * count + (number + turn) % count]
            work.launch(launch, results, PER_THREAD_STREAM)

    wrong = Wrong()
    for _ in range(3):
        with ThreadPoolExecutor(4) as executor:
            any(executor.map(run, range(4)))
        torch.cuda.synchronize()
        wrong += cleared(made)
    return wrong


def cleared(made: Sequence[tuple[Work, Sequence[Tensor]]]) -> Wrong:
    """Count wrong results, and unset all for the next launches."""
    wrong = Wrong()
    for work, results in made:
        wrong += work.wrong(results)
        for one in results:
            one.fill_(float("nan"))
    return wrong


def graphs_between_launches(works: Sequence[Work], launch: Launch) -> Wrong:
    """Three graphs recorded on one stream, each with a branch, replayed beside its launches."""
    own, side = torch.cuda.Stream(), torch.cuda.Stream()
    others = [torch.cuda.Stream() for _ in range(3)]
    made: list[tuple[Work, Sequence[Tensor]]] = []
    graphs: list[Any] = []
    for number in range(3):
        graph = torch.cuda.CUDAGraph()
        order = [works[(number + turn) % len(works)] for turn in range(3)]
        parts = [(work, work.make()) for work in (*order, *order)]
        torch.cuda.synchronize()
        with torch.cuda.graph(graph, stream=own):
            side.wait_stream(own)
            for turn, (work, results) in enumerate(parts):
                work.launch(launch, results, side if turn % 2 else own)
            own.wait_stream(side)
        graphs.append(graph)
        made += parts
    plain = [(work, work.make()) for work in works]
    wrong = Wrong()
    for _ in range(4):
        torch.cuda.synchronize()
        for graph, stream in zip(graphs, others, strict=True):
            with torch.cuda.stream(stream):
                graph.replay()
            for work, results in plain:
                work.launch(launch, results, own)
        torch.cuda.synchronize()
        wrong += cleared([*made, *plain])
    return wrong


def one_behind_the_other(works: Sequence[Work], launch: Launch) -> Wrong:
    """A chain of launches, each of what the one before wrote, on one stream and in a graph."""
    wrong = Wrong()
    for soft, norm in zip(works[:4:2], works[1:4:2], strict=True):
        kernels = [norm if number % 2 else soft for number in range(8)]
        stream = torch.cuda.Stream()
        apart, results = ([work.make() for work in kernels] for _ in range(2))
        torch.cuda.synchronize()
        launch_chain(kernels, apart, launch, stream, torch.cuda.synchronize)
        for _ in range(5):
            launch_chain(kernels, results, launch, stream)
        torch.cuda.synchronize()
        wrong += differing(kernels, apart, results)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, stream=stream):
            launch_chain(kernels, results, launch, stream)
        for _ in range(5):
            graph.replay()
        torch.cuda.synchronize()
        wrong += differing(kernels, apart, results)
    return wrong


def launch_chain(
    kernels: Sequence[Work],
    results: Sequence[Sequence[Tensor]],
    launch: Launch,
    stream: Stream,
    after: Callable[[], object] = lambda: None,
) -> None:
    """Launch kernels of rows, each of the matrix that the one before wrote."""
    last = kernels[0].inputs[0]
    for work, made in zip(kernels, results, strict=True):
        launch(work.kernel, *work.arguments((last, *work.inputs[1:]), made), stream)
        after()
        last = made[0]


def differing(kernels: Sequence[Work], apart: Any, results: Any) -> Wrong:
    """Count results that differ, and unset them."""
    wrong = Wrong()
    for work, ones, others in zip(kernels, apart, results, strict=True):
        for one, other in zip(ones, others, strict=True):
            wrong[work.name] += not torch.equal(bits(one), bits(other))
            other.fill_(float("nan"))
    torch.cuda.synchronize()
    return wrong


def verdict(check: Check, works: Sequence[Work], launch: Launch) -> tuple[int, str]:
    """How many results are wrong, and what to say of it."""
    try:
        wrong = +check(works, launch)
    except Exception as error:
        first = error
        while first.__context__ is not None:  # torch's end of a capture fails behind a launch
            first = first.__context__
        return 1, f"{type(first).__name__}: {first}"
    named = ", ".join(f"{count} of {name}" for name, count in wrong.items())
    return wrong.total(), f"WRONG: {named}" if named else "right"


def main() -> int:
    """Run all checks; 1 where a result is wrong."""
    made, failures = [*works()], 0
    for work in made[:4:2]:
        exact = torch.softmax(work.inputs[0].double(), -1)
        error = float(((work.alone[0].double() - exact).abs() / (exact + 2**-14)).max())
        print(f"{work.name}: relative error {error:.1e}", flush=True)
        failures += not error < 1e-3
    for check in (
        any_number_of_rows,
        streams_at_once,
        threads_by_one_handle,
        graphs_between_launches,
        one_behind_the_other,
    ):
        for name, launch in (("cuTile", by_cutile), ("compiled", Compiled())):
            wrong, said = verdict(check, made, launch)
            failures += wrong
            print(f"{check.__name__}, {name}: {said}", flush=True)
            torch.cuda.empty_cache()
    print(f"{torch.cuda.get_device_name()}: {failures} failures")
    return int(failures > 0)


if __name__ == "__main__":
    sys.exit(main())
