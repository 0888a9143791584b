# pyright: basic
"""Record the launches of TileLang's examples for a machine without TileLang: `CHECKOUT FOLDER`.

    python -m benchmarks.tilelang_record CHECKOUT FOLDER [--only TEXT] [--seconds 60]

Every example runs as its authors run it, at their sizes, in a process of its own; kernels are traced and
nothing is computed.  `FOLDER/FILE.NUMBER.json` has the first call of each kernel: the PrimFunc as
`tvm.ir.save_json` writes it, its grids, and of each argument the type and extents, with the contents
of integers (indices, lengths of sequences; of large tensors the least and the most) and the mean
and deviation of floats.
`tilelang_gpu.py` compiles and times them.
"""

from __future__ import annotations

import argparse
import base64
import json
import os
import subprocess
import sys
import zlib
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import tilelang
import torch
import tvm

from benchmarks.tilelang_emulate import (
    EmulatedKernel,
    _Finder,
    _grid,
    launches_of,
    run,
    without_compilation,
    without_timing,
)
from benchmarks.tilelang_suite import programs
from benchmarks.tilelang_trace import OnCpu, without_comparisons, without_gpu
from tileas_xdsl.frontend.tilelang.traced.tracing import FAST_MATH

MOST_CONTENTS = 1 << 24
"""Bytes of an integer tensor whose contents are recorded."""

MULTIPROCESSORS = 132
"""Of an H200, for which persistent kernels are made."""

MOST_LAUNCHES = 12
"""Kernels of one example that are recorded."""


def described(tensor: Any) -> dict[str, Any]:
    """A tensor as text: what `tilelang_gpu.tensor_of` makes one like it from."""
    row: dict[str, Any] = {"dtype": str(tensor.dtype).split(".")[1], "shape": list(tensor.shape)}
    few = tensor.detach().reshape(-1)[: 1 << 16]
    if tensor.dtype.is_floating_point:
        values = few.float()
        finite = values[values.isfinite() & (values.abs() < 1e18)]
        if len(finite) > 1:
            row |= {"mean": float(finite.mean()), "deviation": float(finite.std())}
    elif tensor.numel() * tensor.itemsize <= MOST_CONTENTS:
        whole = tensor.detach().contiguous().view(torch.uint8).numpy().tobytes()
        row["contents"] = base64.b64encode(zlib.compress(whole, 1)).decode()
    elif tensor.dtype != torch.bool:
        row |= {"least": int(tensor.min()), "most": int(tensor.max())}
    return row


class Recorder:
    """Takes the place of `tilelang.compile`; its kernels write their first call."""

    def __init__(self, folder: Path, name: str) -> None:
        self.folder, self.name, self.count = folder, name, 0

    def __call__(
        self, func: Any = None, out_idx: Any = None, *_: Any, **options: Any
    ) -> RecordedKernel:
        function = func.get_tir() if hasattr(func, "get_tir") else func
        return RecordedKernel(self, function, out_idx, options.get("pass_configs") or {})

    def write(self, call: dict[str, Any]) -> None:
        """Write a call, if there are not too many."""
        if self.count < MOST_LAUNCHES:
            (self.folder / f"{self.name}.{self.count:02}.json").write_text(json.dumps(call))
        self.count += 1


class RecordedKernel(EmulatedKernel):
    """Stands for a compiled kernel: its first call is written, and none computes anything."""

    def __init__(self, recorder: Recorder, function: Any, outputs: Any, options: Any) -> None:
        super().__init__(function, outputs)
        self.recorder, self.is_recorded = recorder, False
        self.is_fast = any(getattr(k, "value", k) == FAST_MATH and on for k, on in options.items())

    def _empty(self, buffer: Any, values: Any) -> torch.Tensor:
        return torch.zeros_like(super()._empty(buffer, values))

    def _run(self, found: list[Any], values: Any) -> None:
        if self.is_recorded:
            return
        self.is_recorded = True
        scratch, launched = launches_of(self.prim_func)
        tensors = [*found, *(self._empty(buffer, values) for buffer in scratch)]
        given = dict(enumerate(self.parameters))
        rows = [
            described(a)
            if isinstance(a, torch.Tensor)
            else {"value": float(a), "dtype": str(given[n].dtype)}
            for n, a in enumerate(tensors)
        ]
        self.recorder.write(
            {
                "kernel": str((self.prim_func.attrs or {}).get("global_symbol", "main")),
                "function": tvm.ir.save_json(self.prim_func),
                "fast_math": self.is_fast,
                "arguments": rows,
                "outputs": self.outputs,
                "grids": [list(_grid(before, loops, values)) for before, loops in launched],
            }
        )

    def get_profiler(self, tensor_supply_type: Any = tilelang.TensorSupplyType.Auto) -> Any:
        """A profiler that launches once, with tensors of its own, whatever it is asked."""
        inner = super().get_profiler(tensor_supply_type)

        def launched(*_: Any, **__: Any) -> float:
            self(*inner._get_inputs())
            return 1.0

        names = (
            "do_bench",
            "run_once",
            "assert_allclose",
            "assert_consistent",
            "manual_assert_close",
        )
        return SimpleNamespace(**dict.fromkeys(names, launched), func=self)


def launched_once(launch: Any, *_: Any, **__: Any) -> float:
    """Stands for `do_bench`."""
    launch()
    return 1.0


def run_one(file: Path, folder: Path, statements: str) -> None:
    """Run an example in this process."""
    target = tvm.target.Target({"kind": "cuda", "arch": "sm_90a"})
    without_gpu(Recorder(folder, file.stem), target)
    without_timing()
    without_compilation()
    without_comparisons()
    for module in list(sys.modules.values()):
        if not getattr(module, "__name__", "").startswith("tilelang"):
            continue
        if hasattr(module, "get_num_sms"):
            module.get_num_sms = lambda *_: MULTIPROCESSORS
        if callable(getattr(module, "do_bench", None)):
            module.do_bench = launched_once
    sys.meta_path.append(_Finder())
    torch.manual_seed(0)
    os.chdir(file.parent)
    sys.path.insert(0, str(file.parent))
    sys.argv = [str(file)]
    with OnCpu(), target:
        run(file, statements)


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("checkout", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument(
        "--only", action="append", default=[], help="files whose path contains this"
    )
    parser.add_argument("--seconds", type=int, default=60, help="for one program")
    parser.add_argument("--run", default="", help="statements in place of the script")
    parser.add_argument("--one", action="store_true", help="CHECKOUT is a file, in this process")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    folder = given.folder.resolve()
    if given.one:
        run_one(given.checkout.resolve(), folder, given.run)
        return
    for path in programs(given.checkout, "examples"):
        if path.name.startswith("test_") or (
            given.only and not any(text in str(path) for text in given.only)
        ):
            continue
        command = [
            sys.executable,
            "-m",
            "benchmarks.tilelang_record",
            "--one",
            str(path),
            str(folder),
        ]
        try:
            done = subprocess.run(
                [*command, "--run", given.run],
                capture_output=True,
                text=True,
                timeout=given.seconds,
            )
            ended = (done.stderr.strip().splitlines() or [""])[-1] if done.returncode else ""
        except subprocess.TimeoutExpired:
            ended = f"more than {given.seconds} s"
        count = len(list(folder.glob(f"{path.stem}.*.json")))
        print(f"{path.parent.name}/{path.name} {count} {ended[:200]}", flush=True)


if __name__ == "__main__":
    main()
