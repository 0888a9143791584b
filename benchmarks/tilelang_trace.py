# pyright: basic
"""Run a program of TileLang and write the kernels that it would compile: `FILE FOLDER`.

Nothing is compiled or computed: tensors have shapes and no data, kernels return tensors of their
output types, comparisons succeed, measurements give 1.  Tunable kernels have their first
configuration.  `FOLDER/NUMBER.NAME.json` is a PrimFunc as `tvm.ir.save_json` writes it.
"""

from __future__ import annotations

import os
import runpy
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import tilelang
import tilelang.profiler
import tilelang.testing
import torch
import tvm
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.overrides import TorchFunctionMode

JIT = sys.modules["tilelang.jit"]
"""The module, which a function of the same name hides."""

CUDA = dict(
    is_available=lambda: True,
    synchronize=lambda *_: None,
    current_device=lambda: 0,
    device_count=lambda: 1,
    get_device_capability=lambda *_: (9, 0),
    get_device_name=lambda *_: "NVIDIA H100",
    get_device_properties=lambda *_: SimpleNamespace(
        name="NVIDIA H100", multi_processor_count=132, major=9, minor=0, total_memory=80 << 30
    ),
    empty_cache=lambda: None,
    set_device=lambda *_: None,
    manual_seed=lambda *_: None,
    manual_seed_all=lambda *_: None,
)
"""What programs ask of a device."""


def outputs_of(function: Any, outputs: Any) -> list[int]:
    """The parameters that a kernel makes, by what the caller or the function says."""
    given = [outputs] if isinstance(outputs, int) else outputs
    if given is None:
        given = (function.attrs or {}).get("tilelang_out_idx") or []
    return [int(i) % len(function.params) for i in given]


class TracedKernel:
    """Stands for a compiled kernel."""

    latency = ref_latency = 1.0
    config: ClassVar[dict[str, Any]] = {}

    def __init__(self, function: Any, outputs: Any) -> None:
        self.prim_func = function
        self.outputs = outputs_of(function, outputs)

    def __call__(self, *arguments: Any, **_: Any) -> Any:
        """Empty outputs; their dynamic extents are those of the arguments."""
        parameters, values, given = list(self.prim_func.params), {}, iter(arguments)
        for number, parameter in enumerate(parameters):
            buffer = self.prim_func.buffer_map.get(parameter)
            argument = None if number in self.outputs else next(given, None)
            for extent, size in zip(
                getattr(buffer, "shape", ()), getattr(argument, "shape", ()), strict=False
            ):
                if isinstance(extent, tvm.tirx.Var):
                    values[extent] = tvm.tirx.IntImm(extent.dtype, int(size))
        found = [
            self._empty(self.prim_func.buffer_map[parameters[i]], values) for i in self.outputs
        ]
        return None if not found else found[0] if len(found) == 1 else found

    @staticmethod
    def _empty(buffer: Any, values: Any) -> torch.Tensor:
        known = [tvm.tirx.stmt_functor.substitute(n, values) for n in buffer.shape]
        shape = [int(tvm.arith.Analyzer().simplify(n)) for n in known]
        return torch.empty(shape, dtype=tilelang.language.dtype(buffer.dtype).as_torch())

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *_, **__: SimpleNamespace(
            do_bench=lambda *_, **__: 1.0,
            run_once=lambda *_, **__: None,
            assert_allclose=lambda *_, **__: None,
            assert_consistent=lambda *_, **__: None,
            manual_assert_close=lambda *_, **__: None,
            func=self,
        )


def compiler(folder: Path) -> Any:
    """What takes the place of `tilelang.compile`."""
    count = iter(range(10_000))

    def compile(func: Any = None, out_idx: Any = None, *_: Any, **__: Any) -> TracedKernel:
        function = func.get_tir() if hasattr(func, "get_tir") else func
        name = (function.attrs or {}).get("global_symbol", "main")
        (folder / f"{next(count):04}.{name}.json").write_text(tvm.ir.save_json(function))
        return TracedKernel(function, out_idx)

    return compile


USUAL_THREADS = 128


def first_configuration(tuned: Any, *arguments: Any, **keywords: Any) -> Any:
    """What takes the place of a tuner's call: one with the usual number of threads, if there is."""
    keywords.pop("__tune_params", None)
    is_compiled = keywords.pop("__return_kernel", False)
    configurations = tuned.configs
    if callable(configurations):
        configurations = configurations(*arguments, **keywords)
    usual = (c for c in configurations if c.get("threads") == USUAL_THREADS)
    chosen = {k: v for k, v in next(usual, configurations[0]).items() if k not in keywords}
    if is_compiled:
        return tuned.jit_impl.compile(*arguments, **keywords, **chosen)
    return tuned.jit_impl(*arguments, **keywords, __tune_params=chosen)


class OnCpu(TorchFunctionMode):
    """Makes tensors of a GPU on the CPU."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        named = {k: _on_cpu(v) for k, v in (kwargs or {}).items()}
        return func(*map(_on_cpu, args), **named)


def _on_cpu(value: Any) -> Any:
    is_cuda = isinstance(value, str | torch.device) and str(value).startswith("cuda")
    return "cpu" if is_cuda else value


def without_gpu(made: Any, target: Any) -> None:
    """Replace what needs a GPU or a compiler; `made` takes the place of `tilelang.compile`."""
    from tilelang.autotuner.tuner import AutoTuneImpl

    JIT.compile = tilelang.compile = made
    JIT.par_compile = tilelang.par_compile = lambda functions, out_idx=None, **_: [
        made(f, out_idx) for f in functions
    ]
    AutoTuneImpl.__call__ = first_configuration
    for name, value in CUDA.items():
        setattr(torch.cuda, name, value)
    torch.Tensor.cuda = lambda self, *_, **__: self
    torch.set_default_device = lambda *_: None
    tilelang.profiler.do_bench = lambda *_, **__: 1.0
    for module in list(sys.modules.values()):
        if getattr(module, "__name__", "").startswith("tilelang") and hasattr(
            module, "determine_target"
        ):
            module.determine_target = lambda *_, return_object=False, **__: (
                target if return_object else "cuda"
            )


def without_comparisons() -> None:
    """Let comparisons of tensors without data succeed."""
    torch.testing.assert_close = lambda *_, **__: None
    torch.allclose = lambda *_, **__: True
    tilelang.testing.torch_assert_close = tilelang.utils.torch_assert_close = lambda *_, **__: None


def main() -> None:
    """Run the program, and the tests of a file of tests one by one."""
    file, folder = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
    target = tvm.target.Target({"kind": "cuda", "arch": "sm_90a"})
    without_gpu(compiler(folder), target)
    without_comparisons()
    is_test = file.name.startswith("test_")
    os.chdir(file.parent)
    sys.path.insert(0, str(file.parent))
    sys.argv = [str(file)]
    with OnCpu(), FakeTensorMode(allow_non_fake_inputs=True), target:
        names = runpy.run_path(str(file), run_name="tests" if is_test else "__main__")
        for name, function in list(names.items()):
            if is_test and name.startswith("test") and callable(function):
                try:
                    function()
                except Exception as error:
                    print(f"{name}: {type(error).__name__}: {error}"[:300], file=sys.stderr)


if __name__ == "__main__":
    main()
