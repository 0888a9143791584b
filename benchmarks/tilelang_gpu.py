# pyright: basic
"""Time recorded launches of TileLang's examples on a GPU: `python -m benchmarks.tilelang_gpu FOLDER`.

    python -m benchmarks.tilelang_gpu FOLDER --compile 16     # to FOLDER/*.kernels, by so many processes
    python -m benchmarks.tilelang_gpu FOLDER [--only TEXT] [--rounds 7] [--seconds 50] [--json FILE]

FOLDER is of `tilelang_record.py`; neither TileLang nor nvcc is needed, nor a GPU to compile.  With
`TILELANG_PASSES` in the environment kernels are compiled by other passes.  A row is a kernel: all launches of its
first call, at its authors' sizes, with a cold level-2 cache; beside it what torch needs for the same
result (`tilelang_counterparts`), with which it is compared, and the larger of two bounds: every argument
moved once, and its products at the peak rate.
"""

from __future__ import annotations

import argparse
import base64
import json
import os
import pickle
import re
import sys
import traceback
import zlib
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import partial
from pathlib import Path
from time import perf_counter
from types import SimpleNamespace
from typing import Any

import tileas_xdsl as tileas
from benchmarks.gpu_timing import medians, sets_for
from benchmarks.tilelang_counterparts import COUNTERPARTS, Counterpart
from tileas_xdsl.frontend.tilelang.importer import module_of
from tileas_xdsl.frontend.tilelang.operations.fast_math import allow_fast_math
from tileas_xdsl.runtime.cutile.executable import Executable
from tileas_xdsl.runtime.gpu.device import gpu
from tileas_xdsl.runtime.kernel_launcher import Launcher
from tileas_xdsl.target.launches.specializations import suits

TARGET = "sm_90a"
PASSES = os.environ.get("TILELANG_PASSES")
MULTIPROCESSORS = 132
"""Of an H200."""
BYTES_A_MS = 4.3e9
"""What a copy of much memory reaches on an H200."""
OPERATIONS_A_MS = {2: 0.989e12, 1: 1.979e12, 4: 0.494e12}
"""Dense products of f16, f8 and tf32 on an H200, by the bytes of an element."""


def tensor_of(row: dict[str, Any], generator: Any) -> Any:
    """A tensor like the recorded one: its integers, or floats of its mean and deviation."""
    import torch

    if "value" in row:
        return row["value"] if row["dtype"].startswith("float") else int(row["value"])
    dtype, shape = getattr(torch, row["dtype"]), row["shape"]
    if "contents" in row:
        data = bytearray(zlib.decompress(base64.b64decode(row["contents"])))
        return torch.frombuffer(data, dtype=torch.uint8).view(dtype).reshape(shape).cuda()
    if "least" in row:
        return torch.randint(
            row["least"], row["most"] + 1, shape, dtype=dtype, device="cuda", generator=generator
        )
    if not dtype.is_floating_point:
        bits = torch.randint(
            0, 127, [*shape, dtype.itemsize], dtype=torch.uint8, device="cuda", generator=generator
        )
        return bits.view(dtype).reshape(shape)
    mean, deviation = row.get("mean", 0.0), row.get("deviation", 0.0)
    made = torch.empty(shape, device="cuda", dtype=torch.float32).normal_(
        mean, deviation or 0.0, generator=generator
    )
    return made.to(dtype)


def declaration(code: Executable) -> str:
    """The PTX without instructions: what a launch reads the parameters of."""
    start = code.ptx.index("{", code.ptx.index(f".entry {code.abi.name}("))
    return code.ptx[:start] + "{\n\tret;\n}\n"


class Loaded(Launcher):
    """A stored kernel: its arguments were checked when it was compiled."""

    def __init__(self, code: Executable, names: Sequence[str]) -> None:
        arguments = [SimpleNamespace(name_hint=name) for name in names]
        operation = SimpleNamespace(body=SimpleNamespace(blocks=[SimpleNamespace(args=arguments)]))
        stored = SimpleNamespace(
            target=code.target,
            abi=code.abi,
            ptx=declaration(code),
            host_code=None,
            parameters=None,
            is_for_threads=True,
            operation=operation,
            assemble=lambda strict: SimpleNamespace(cubin=code.cubin, warnings=()),
        )
        super().__init__(stored, gpu(0))

    def _checked(self, items: Any, arrays: Any) -> Any:
        import tileas_xdsl.runtime.kernel_launcher as launcher

        check, launcher.check_views = launcher.check_views, lambda *_: None
        try:
            return super()._checked(items, arrays)
        finally:
            launcher.check_views = check


def compiled(path: Path) -> str:
    """Compile the launches of a call to `.kernels`; return a line about it."""
    started = perf_counter()
    call = json.loads(path.read_text("utf-8"))
    try:
        import torch

        module = module_of(call["function"])
        if call["fast_math"]:
            allow_fast_math(module)
        arguments = [
            tensor_of(row, None)
            if "value" in row
            else torch.empty(row["shape"], dtype=getattr(torch, row["dtype"]), device="meta")
            for row in call["arguments"]
        ]
        made: list[tuple[bytes, list[str]]] = []
        facts: list[str] = []
        kernels = tileas.compile_kernels(module, TARGET, passes=PASSES).values()
        for kernel, grid in zip(kernels, call["grids"], strict=True):
            taking = kernel._taking(arguments)
            form = form_of(taking, arguments, tuple([*grid, 1, 1][:3]))
            whole = form.assemble(strict=False)
            code = Executable(TARGET, form.abi, form.ptx, whole.cubin)
            names = [
                a.name_hint or str(n) for n, a in enumerate(form.operation.body.blocks[0].args)
            ]
            made.append((code.to_bytes(), names))
            facts.append(facts_of(form, whole))
        path.with_suffix(".kernels").write_bytes(pickle.dumps((made, facts)))
        said = " | ".join(facts)
    except Exception as error:
        said = f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
    return f"{path.stem} {call['kernel']} {perf_counter() - started:.1f} s {said}"


def form_of(kernel: Any, arguments: Sequence[Any], grid: tuple[int, ...]) -> Any:
    """The form of a kernel that a launch on an H200 chooses, of which there is none needed."""
    if kernel.interface is None or not kernel.interface.predicates or kernel.compile_again is None:
        return kernel
    asked = partial(
        suits, args=arguments, grid=grid, of_clusters=lambda count: MULTIPROCESSORS // count * count
    )
    return kernel._specializations.chosen(asked, partial(kernel._made_again, choose=asked))


def facts_of(kernel: Any, whole: Any) -> str:
    """What decides the speed of a kernel, at a glance."""
    ptx = kernel.ptx
    words = {
        "wgmma": "wgmma.mma_async", "mma": "mma.sync", "tma": "cp.async.bulk", "cp": "cp.async.c",
        "roles": "setmaxnreg",
    }  # fmt: skip
    found = [f"{name} {ptx.count(text)}" for name, text in words.items() if text in ptx]
    spilled = sum(getattr(f, "spill_stores", 0) for f in whole.entries.values())
    return " ".join(
        [f"t{kernel.abi.threads} r{whole.registers} s{kernel.abi.shared_bytes >> 10}K", *found]
        + ([f"SPILLS {spilled}"] if spilled else [])
    )


def measured(path: Path, rounds: int) -> tuple[str, dict[str, Any]]:
    """Time a call; its row as text and as data."""
    import torch

    call = json.loads(path.read_text("utf-8"))
    title = title_of(path.stem, call["kernel"])
    stored = path.with_suffix(".kernels")
    if not stored.exists():
        return f"{title:50} not compiled", {}
    codes, facts = pickle.loads(stored.read_bytes())
    kernels = [Loaded(Executable.from_bytes(code), names) for code, names in codes]
    rows = call["arguments"]
    size = sum(_bytes_of(row) for row in rows)
    count = sets_for(size, 24)
    generator = torch.Generator("cuda").manual_seed(0)
    sets = [[tensor_of(row, generator) for row in rows]]
    sets += [
        [a.clone() if isinstance(a, torch.Tensor) else a for a in sets[0]] for _ in range(count - 1)
    ]

    def ours(arguments: Any) -> None:
        for kernel, grid in zip(kernels, call["grids"], strict=True):
            kernel.launch(arguments, grid)

    other = counterpart_of(path.stem, call["kernel"])
    launches: dict[str, Callable[[Any], Any]] = {"ours": ours}
    said = ""
    if other.function is not None:
        said = compared(ours, other, sets[0], call["outputs"])
        if not said.startswith("torch fails"):
            launches["torch"] = lambda arguments: other.function(*arguments)
    else:
        ours(sets[0])
        torch.cuda.synchronize()
    found = medians(launches, sets, rounds)
    operations = other.operations(*sets[0]) if other.operations else 0
    width = next((a.itemsize for a in sets[0] if isinstance(a, torch.Tensor)), 2)
    bound = max(size / BYTES_A_MS, operations / OPERATIONS_A_MS.get(other.width or width, 0.989e12))
    data = {
        "name": title,
        "ours": found["ours"],
        "torch": found.get("torch"),
        "bound": bound,
        "facts": facts,
    }
    ratio = f"{found['torch'] / found['ours']:5.2f}" if "torch" in found else "     "
    us = [f"{1000 * value:9.1f}" for value in (found["ours"], found.get("torch", 0.0), bound)]
    kind = "T" if operations / OPERATIONS_A_MS.get(width, 0.989e12) > size / BYTES_A_MS else "M"
    shares = f"x{ratio} b{bound / found['ours']:5.2f} {said}"
    line = f"{title[:44]:44} {' '.join(us)}{kind} {shares} {' | '.join(facts)[:70]}"
    return line, data


def _bytes_of(row: dict[str, Any]) -> int:
    import torch

    if "value" in row:
        return 0
    size = getattr(torch, row["dtype"]).itemsize
    for extent in row["shape"]:
        size *= extent
    return size


def title_of(stem: str, kernel: str) -> str:
    """The file and the kernel, without a number that orders files and what all are called."""
    return f"{re.sub(r'^[0-9]+_', '', stem.split('.')[0]).removeprefix('example_')}:{kernel}"


def counterpart_of(stem: str, kernel: str) -> Counterpart:
    """The counterpart of a kernel of a file, by the longest text that both begin with."""
    title = title_of(stem, kernel)
    found = [key for key in COUNTERPARTS if title.startswith(key)]
    return COUNTERPARTS[max(found, key=len)] if found else Counterpart()


def compared(ours: Any, other: Counterpart, arguments: Any, outputs: Sequence[int]) -> str:
    """Compare the results of a call."""
    import torch

    try:
        wanted = other.function(*arguments)
    except Exception as error:
        ours(arguments)
        return f"torch fails: {type(error).__name__} {str(error)[:60]}"
    ours(arguments)
    torch.cuda.synchronize()
    index = other.output if other.output is not None else [*outputs, len(arguments) - 1][0]
    found = arguments[index].float()
    most = torch.finfo(arguments[index].dtype).max
    want = wanted.float().reshape(found.shape).clamp(-most, most)
    error = ((found - want).norm() / want.norm()).item()
    return "ok" if error < other.tolerance else f"WRONG {error:.1e}"


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--compile", type=int, default=0)
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=50)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    paths = [
        path for path in sorted(given.folder.glob("*.json"))
        if not given.only or any(text in path.stem for text in given.only)
    ]  # fmt: skip
    if given.compile:
        with ProcessPoolExecutor(given.compile) as pool:
            for done in as_completed([pool.submit(compiled, path) for path in paths]):
                print(done.result(), flush=True)
        return
    started, rows = perf_counter(), []
    for path in paths:
        if perf_counter() - started > given.seconds:
            print(f"{path.stem} not reached")
            continue
        try:
            line, data = measured(path, given.rounds)
        except Exception as error:
            traceback.print_exc(file=sys.stderr)
            line, data = f"{path.stem} {type(error).__name__}: {str(error)[:120]}", {}
        print(line, flush=True)
        rows.append(data)
        import torch

        torch.cuda.empty_cache()
    if given.json:
        given.json.write_text(json.dumps(rows))


if __name__ == "__main__":
    main()
