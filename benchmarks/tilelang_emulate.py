# pyright: basic
"""Run a program of TileLang, its kernels on the emulator: `FILE STATEMENTS ARGUMENT...`.

Tensors are those of torch on the CPU; every kernel that the program compiles is imported, compiled for
sm_90a, and its PTX emulated; the program's comparisons with its own reference are made.  Statements
are run in the program's module in place of what it does as a script; they may be empty.  The last line says what became
of it: `RIGHT` with the number of kernels run and comparisons made, or what was not.
"""

from __future__ import annotations

import builtins
import importlib.abc
import importlib.machinery
import linecache
import os
import re
import sys
from collections import Counter
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, ClassVar

os.environ["TILELANG_ENABLE_IR_SPAN"] = "1"
os.environ["TRITON_INTERPRET"] = "1"

import ml_dtypes
import numpy as np
import tilelang
import tilelang.profiler
import tilelang.testing
import torch
import tvm
from tilelang.engine.param import KernelParam

import tileas_xdsl as tileas
from benchmarks.tilelang_references import (
    attention_of_sequences,
    hadamard,
    with_counts_of_loops,
)
from benchmarks.tilelang_trace import OnCpu, outputs_of, without_gpu
from tileas_xdsl.diagnostics.errors import DiagnosticError
from tileas_xdsl.frontend.tilelang.importer import module_of
from tileas_xdsl.interpreters.ptx import Severity

TARGET = "sm_90a"

MULTIPROCESSORS = 4
"""Of the GPU that persistent kernels are made for: few, as blocks run one after the other."""

DONE: Counter[str] = Counter()
"""Kernels run and comparisons made."""

ABSENT = ("triton", "fla", "flash_attn", "flashinfer", "deep_gemm", "scipy")
"""Packages of references that may not be here, most for a GPU: they can be imported, not called."""

WRITTEN = {
    "flash_attn.flash_attn_varlen_func": attention_of_sequences,
    "scipy.linalg.hadamard": hadamard,
}
"""What is called of them, on the CPU."""

_SAME_BITS = {
    torch.bfloat16: (torch.int16, ml_dtypes.bfloat16),
    torch.float8_e4m3fn: (torch.int8, ml_dtypes.float8_e4m3fn),
    torch.float8_e5m2: (torch.int8, ml_dtypes.float8_e5m2),
    torch.float8_e8m0fnu: (torch.int8, ml_dtypes.float8_e8m0fnu),
    torch.bool: (torch.int8, np.int8),
    torch.uint8: (torch.int8, np.int8),
    torch.uint16: (torch.int16, np.int16),
    torch.uint32: (torch.int32, np.int32),
    torch.uint64: (torch.int64, np.int64),
}
"""What numpy sees of types that it does not have, and of unsigned ones, which `tl` has none of."""


class UnlikeError(AssertionError):
    """A result that is not the reference's, or a finding of the emulator."""


class EmulatedKernel:
    """Stands for a compiled kernel."""

    latency = ref_latency = 1.0
    config: ClassVar[dict[str, Any]] = {}

    def __init__(self, function: Any, outputs: Any) -> None:
        self.prim_func = function
        self.parameters = list(function.params)
        self.outputs = outputs_of(function, outputs)
        self.compiled: Any = None
        self.adapter = self

    @property
    def params(self) -> list[KernelParam]:
        """What the profiler asks for."""
        return [
            KernelParam.from_var(p) if buffer is None else KernelParam.from_buffer(buffer)
            for p in self.parameters
            for buffer in [self._buffer(p)]
        ]

    def _buffer(self, parameter: Any) -> Any:
        return self.prim_func.buffer_map.get(parameter)

    def __call__(self, *arguments: Any, **_: Any) -> Any:
        """Run on the emulator; what the kernel writes is written to the tensors."""
        values: dict[Any, Any] = {}
        given = list(arguments)
        count = len(self.parameters)
        held = given if len(given) == count else None
        found: list[Any] = []
        queue = iter(given)
        for number, parameter in enumerate(self.parameters):
            is_made = held is None and number in self.outputs
            argument = None if is_made else next(queue)
            found.append(argument)
            buffer = self._buffer(parameter)
            if argument is None or buffer is None:
                if argument is not None:
                    values[parameter] = (
                        tvm.tirx.IntImm(parameter.dtype, int(argument))
                        if "int" in str(parameter.dtype)
                        else argument
                    )
                continue
            for extent, size in zip(buffer.shape, argument.shape, strict=False):
                if isinstance(extent, tvm.tirx.Var):
                    values[extent] = tvm.tirx.IntImm(extent.dtype, int(size))
        for number in self.outputs:
            if found[number] is None:
                found[number] = self._empty(self._buffer(self.parameters[number]), values)
        self._run(found, values)
        made = [found[i] for i in self.outputs] if held is None else []
        return None if not made else made[0] if len(made) == 1 else made

    def _empty(self, buffer: Any, values: Any) -> torch.Tensor:
        """Not zeros, so that what a kernel leaves out shows; finite, as programs multiply it by 0."""
        shape = [_number(n, values) for n in buffer.shape]
        dtype = tilelang.language.dtype(buffer.dtype).as_torch()
        made = torch.empty(shape, dtype=dtype)
        if dtype.is_floating_point and dtype.itemsize > 1:
            return made.fill_(0.4375)
        return made.view(torch.int8).fill_(0x55).view(dtype) if made.numel() else made

    def _run(self, found: list[Any], values: Any) -> None:
        """Every launch in order, with the arrays between them."""
        if self.compiled is None:
            module = module_of(tvm.ir.save_json(self.prim_func))
            self.compiled = list(tileas.compile_kernels(module, TARGET).values())
        scratch, launched = launches_of(self.prim_func)
        tensors = [*found, *(self._empty(buffer, values) for buffer in scratch)]
        given = dict(enumerate(self.parameters))
        for kernel, (before, loops) in zip(self.compiled, launched, strict=True):
            arrays = [
                _array(a) if isinstance(a, torch.Tensor) else _scalar(a, given[n])
                for n, a in enumerate(tensors)
            ]
            ended = kernel.emulate(*arrays, grid=_grid(before, loops, values))
            DONE["kernels"] += 1
            wrong = [f for f in ended.findings if f.severity is not Severity.NOTE]
            if wrong:
                raise UnlikeError(f"{len(wrong)} findings: {str(wrong[0])[:300]}")
            for tensor, array in zip(tensors, ended.arrays, strict=True):
                if isinstance(tensor, torch.Tensor):
                    _write(tensor, array)

    def get_profiler(self, tensor_supply_type: Any = tilelang.TensorSupplyType.Auto) -> Any:
        """TileLang's own, which compares; it measures nothing."""
        made = tilelang.profiler.Profiler(self.params, self.outputs, tensor_supply_type)
        return made.with_default_adapter(self)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        DONE["source"] += "source" in name
        return lambda *_, **__: ""


def launches_of(function: Any) -> tuple[list[Any], list[tuple[list[Any], Any]]]:
    """The arrays between launches; and of each launch the statements before it and its loops."""
    body, scratch = function.body, list[Any]()
    if isinstance(body, tvm.tirx.SBlockRealize) and body.block.name_hint == "root":
        scratch, body = list(body.block.alloc_buffers), body.block.body
    parts = list(body.seq) if isinstance(body, tvm.tirx.SeqStmt) else [body]
    bound = [isinstance(p, tvm.tirx.For) and p.thread_binding is not None for p in parts]
    return scratch, [(parts[:n], p) for n, p in enumerate(parts) if bound[n]]


def _grid(before: list[Any], loops: Any, values: Any) -> tuple[int, ...]:
    """The numbers of blocks of a launch."""
    known = dict(values)
    for part in before:
        if type(part).__name__ == "Bind":
            known[part.var] = tvm.tirx.stmt_functor.substitute(part.value, known)
    extents: dict[str, int] = {}
    while isinstance(loops, tvm.tirx.For) and loops.thread_binding is not None:
        extents[str(loops.thread_binding.thread_tag)] = _number(loops.extent, known)
        loops = loops.body
    return tuple(extents[tag] for tag in sorted(extents) if tag.startswith("blockIdx"))


def _number(expression: Any, values: Any) -> int:
    known = tvm.tirx.stmt_functor.substitute(expression, values)
    return int(tvm.arith.Analyzer().simplify(known))


def _array(tensor: torch.Tensor) -> np.ndarray:
    own = tensor.detach().contiguous()
    if own.dtype in _SAME_BITS:
        bits, seen = _SAME_BITS[own.dtype]
        return own.view(bits).numpy().copy().view(seen)
    return own.numpy().copy()


def _write(tensor: torch.Tensor, array: np.ndarray) -> None:
    kept = tensor.detach()
    if tensor.dtype in _SAME_BITS:
        bits, _ = _SAME_BITS[tensor.dtype]
        words = torch.from_numpy(np.ascontiguousarray(array).view(f"i{bits.itemsize}").copy())
        kept.copy_(words.view(tensor.dtype))
        return
    kept.copy_(torch.from_numpy(np.ascontiguousarray(array)))


def _scalar(value: Any, parameter: Any) -> Any:
    dtype = str(parameter.dtype)
    return np.dtype(dtype).type(value) if dtype.startswith("float") else int(value)


class _Absent(ModuleType):
    """A package that is not here."""

    __path__: ClassVar[list[str]] = []

    def __getattr__(self, name: str) -> Any:
        if name == "__all__":
            return []
        if name.startswith("__"):
            raise AttributeError(name)
        full = f"{self.__name__}.{name}"
        return WRITTEN.get(full) or _Uncallable(full)


class _Uncallable:
    """What such a package has: decorators return their function, all else raises."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        if len(arguments) == 1 and isinstance(arguments[0], _Uncallable) and not keywords:
            return arguments[0]
        if len(arguments) == 1 and callable(arguments[0]) and not keywords:
            return _Uncallable(getattr(arguments[0], "__name__", self.name))
        if not arguments and "Config" not in self.name and "cdiv" not in self.name and not keywords:
            raise RuntimeError(f"{self.name} needs a package that is not here")
        if self.name.endswith(("autotune", "heuristics", "jit", "Config")):
            return _Uncallable(self.name)
        if self.name.endswith("cdiv"):
            return -(-arguments[0] // arguments[1])
        if self.name.endswith("next_power_of_2"):
            return 1 << (int(arguments[0]) - 1).bit_length()
        raise RuntimeError(f"{self.name} needs a package that is not here")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        full = f"{self.name}.{name}"
        return WRITTEN.get(full) or _Uncallable(full)

    def __getitem__(self, _: Any) -> Any:
        return self

    def __mro_entries__(self, _: Any) -> tuple[type, ...]:
        return (object,)


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if name.split(".")[0] not in ABSENT:
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec: Any) -> ModuleType:
        return _Absent(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        pass


def counted(function: Callable[..., Any]) -> Callable[..., Any]:
    """The comparison, which is counted and of which a failure is told apart."""

    def compare(*arguments: Any, **keywords: Any) -> Any:
        DONE["comparisons"] += 1
        try:
            found = function(*arguments, **keywords)
        except AssertionError as error:
            raise UnlikeError(str(error)[:400]) from error
        if found is False:
            DONE["unlike"] += 1
        return found

    return compare


def with_comparisons() -> None:
    """Count comparisons; what they compare are tensors of the CPU."""
    builtins.counted_comparison = counted
    torch.testing.assert_close = counted(torch.testing.assert_close)
    torch.allclose = counted(torch.allclose)
    torch.equal = counted(torch.equal)
    for name in ("assert_allclose", "assert_array_equal", "assert_array_almost_equal"):
        setattr(np.testing, name, counted(getattr(np.testing, name)))
    own = counted(tilelang.utils.tensor.torch_assert_close)
    for module in list(sys.modules.values()):
        if getattr(module, "torch_assert_close", None) is not None:
            module.torch_assert_close = own
    torch.nn.functional.cosine_similarity = counted(torch.nn.functional.cosine_similarity)


class CpuGenerator(torch.Generator):
    """One of a GPU, on the CPU."""

    def __new__(cls, *_: Any, **__: Any) -> Any:
        """Made without the device."""
        return super().__new__(cls)


class NoStream:
    """A stream or event of a GPU; packages name the class in annotations (`Stream | None`)."""

    cuda_stream = 0

    def __init__(self, *_: Any, **__: Any) -> None: ...

    def wait_stream(self, *_: Any) -> None:
        """Everything is done in order."""

    record = synchronize = wait_event = wait_stream

    def elapsed_time(self, *_: Any) -> float:
        """What measures gives 1."""
        return 1.0


class NoDevice(nullcontext):
    """The context of a GPU or stream."""

    def __init__(self, *_: Any, **__: Any) -> None:
        super().__init__()


def without_timing() -> None:
    """What measures gives 1."""
    torch.cuda.Event = torch.cuda.Stream = NoStream
    torch.Generator = CpuGenerator
    torch.cuda.device = torch.cuda.stream = torch.random.fork_rng = NoDevice
    torch.cuda.profiler = SimpleNamespace(start=lambda: None, stop=lambda: None)
    torch.cuda.current_stream = NoStream
    tilelang.profiler.Profiler.do_bench = lambda *_, **__: 1.0
    for module in list(sys.modules.values()):
        if getattr(module, "__name__", "").startswith("tilelang"):
            if hasattr(module, "get_current_device"):
                module.get_current_device = lambda: "cpu"
            if hasattr(module, "get_num_sms"):
                module.get_num_sms = lambda *_: MULTIPROCESSORS
            if callable(getattr(module, "do_bench", None)):
                module.do_bench = lambda *_, **__: 1.0


def without_compilation() -> None:
    """References are run as they are: torch's own compiler would ask for Triton's kernels."""
    torch.compile = lambda function=None, *_, **__: function or (lambda inner: inner)


def without_tuning() -> None:
    """References in Triton, which its interpreter runs, have their first configuration."""
    try:
        from triton.runtime.autotuner import Autotuner
    except ImportError:
        return
    Autotuner._bench = lambda *_, **__: [1.0, 1.0, 1.0]
    Autotuner.check_disk_cache = lambda *arguments: bool(arguments[-1]())


def run(file: Path, statements: str) -> None:
    """The program as a script, or statements in its module."""
    text = file.read_text()
    name = "__main__" if not statements else file.stem
    module = ModuleType(name)
    module.__file__ = str(file)
    sys.modules[name] = module
    linecache.checkcache(str(file))
    exec(builtins.compile(text, str(file), "exec", dont_inherit=True), module.__dict__)
    if statements:
        exec(builtins.compile(statements, "statements", "exec", dont_inherit=True), module.__dict__)


_DIFFERENT = re.compile(r"mismatch|not match|not close|wrong|incorrect|❌|✗|failed", re.IGNORECASE)
"""What programs print that do not raise."""


class Heard:
    """Standard output that remembers whether a difference was told."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner
        self.said = ""

    def write(self, text: str) -> int:
        if _DIFFERENT.search(text) and not self.said:
            self.said = text.strip()[:200]
        return self.inner.write(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)


def outcome(file: Path, statements: str) -> str:
    """What became of the program, in one line."""
    heard = Heard(sys.stdout)
    sys.stdout = heard
    try:
        run(file, statements)
    except DiagnosticError as error:
        lines = str(error).splitlines()
        kind = "FAILED" if "internal error" in lines[0] else "REFUSED"
        return f"{kind} {lines[0]}"
    except UnlikeError as error:
        return f"WRONG {' '.join(str(error).split())[:300]}"
    except AssertionError as error:
        kind = "WRONG" if DONE["kernels"] else "FAILED"
        return f"{kind} AssertionError: {' '.join(str(error).split())[:300]}"
    except (SystemExit, Exception) as error:
        import traceback

        traceback.print_exc()
        return f"FAILED {type(error).__name__}: {' '.join(str(error).split())[:300]}"
    finally:
        sys.stdout = heard.inner
    if heard.said or DONE["unlike"]:
        return f"WRONG {' '.join(heard.said.split()) or 'a comparison failed'}"
    kind = "RIGHT" if DONE["comparisons"] and DONE["kernels"] else "RAN"
    return f"{kind} {DONE['kernels']} kernels {DONE['comparisons']} comparisons"


def on_emulator() -> Any:
    """Run kernels that programs compile on the emulator; return TileLang's target."""
    target = tvm.target.Target({"kind": "cuda", "arch": TARGET})
    without_gpu(
        lambda func=None, out_idx=None, *_, **__: EmulatedKernel(
            func.get_tir() if hasattr(func, "get_tir") else func, out_idx
        ),
        target,
    )
    without_timing()
    without_tuning()
    without_compilation()
    with_counts_of_loops()
    with_comparisons()
    sys.meta_path.append(_Finder())
    return target


def main() -> None:
    """Run the command line."""
    file = Path(sys.argv[1]).resolve()
    statements = sys.argv[2] if len(sys.argv) > 2 else ""
    target = on_emulator()
    torch.manual_seed(0)
    os.chdir(file.parent)
    sys.path.insert(0, str(file.parent))
    sys.argv = [str(file), *sys.argv[3:]]
    with OnCpu(), target:
        said = outcome(file, statements)
    print(said, flush=True)


if __name__ == "__main__":
    main()
