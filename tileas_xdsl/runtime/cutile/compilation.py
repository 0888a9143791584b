"""Compilation of a cuTile kernel for a launch: Tile IR by cuTile's front end, then code by ours.

The disk cache is asked as soon as the Tile IR is there, which has everything that the kernel and
its signature say.  The compiler is loaded only if the cache has no answer.
"""

from __future__ import annotations

import sys
import threading
import warnings
from contextlib import nullcontext
from importlib import import_module
from typing import TYPE_CHECKING, Any

from tileas_xdsl.backend.nvidia_tools import find_tool
from tileas_xdsl.backend.waiting_ptxas import WaitingPtxas, waiting_ptxas
from tileas_xdsl.cache import DiskCache, build_id, disk_cache, entry_key, file_id
from tileas_xdsl.frontend.cutile.remembered_signatures import remember_signatures
from tileas_xdsl.runtime.cutile.executable import Executable
from tileas_xdsl.target.arch import target_of_capability
from tileas_xdsl.target.errors import TargetError
from tileas_xdsl.target.launches.specializations import ChooseSpecialization, unspecialized

if TYPE_CHECKING:
    from tileas_xdsl.compiler import CompiledKernel

_EXTENSIONS = "tileas_xdsl.transforms.extension"
"""The module that knows what other packages have added to passes."""

_lock = threading.RLock()
"""Held while a kernel is compiled."""


def compile_signature(
    kernel: Any,
    signature: Any,
    context: Any,
    compute_capability: tuple[int, int],
    *,
    for_gpu: bool = True,
    choose: ChooseSpecialization = unspecialized,
) -> Executable:
    """Compile a kernel for a `KernelSignature`: what `cuda.tile.kernel._compile` does.

    `choose` evaluates the predicates for the launch; the specialization selected is compiled alone.
    Without a GPU there is no machine code.  Raises cuTile's exceptions for what is wrong with the
    program, and `DiagnosticError` for what this compiler does not lower.
    """
    major, minor = compute_capability
    found = target_of_capability(10 * major + minor)
    if found is None:
        raise TargetError(f"kernels are not compiled for compute capability {major}.{minor}")
    with _lock:
        content = _bytecode(kernel, signature, context, f"sm_{major}{minor}")
        return _cached(kernel, content, found.name, for_gpu, choose)


def _bytecode(kernel: Any, signature: Any, context: Any, gpu: str) -> bytes:
    """Return the Tile IR of a kernel."""
    remember_signatures()
    front_end: Any = import_module("cuda.tile._compile")
    version: Any = import_module("cuda.tile._bytecode.version").BytecodeVersion
    result = front_end.compile_tile(
        kernel._annotated_function,
        (signature.with_symbol(kernel._annotated_function.pyfunc.__name__),),
        gpu,
        kernel._compiler_options,
        context,
        bytecode_version=version.V_13_4,
        return_bytecode=True,
        return_cubin=False,
    )
    return bytes(result.bytecode)


def _cached(
    kernel: Any, content: bytes, target: str, for_gpu: bool, choose: ChooseSpecialization
) -> Executable:
    """Return the code for Tile IR, from the disk cache if it has it.

    Each specialization of a kernel carries the predicates, so those of what is stored first are
    evaluated; the key has the outcome, not the numbers that it depends on.
    """
    ptxas = find_tool("ptxas") if for_gpu else None
    store = disk_cache()
    if store is None or is_extended():
        return _compile(kernel, content, target, for_gpu, choose)
    parts = (content, target, str(for_gpu), build_id(), file_id(ptxas))
    first = _stored(store, entry_key(*parts))
    if first is not None:
        wanted = first.abi.wanted(choose)
        found = (
            first
            if first.abi.specialization == wanted
            else _stored(store, entry_key(*parts, str(wanted)))
        )
        if found is not None:
            return found
    found = _compile(kernel, content, target, for_gpu, choose)
    if not is_extended():
        specialization = () if first is None else (str(found.abi.specialization),)
        store.put(entry_key(*parts, *specialization), found.to_bytes())
    return found


def _stored(store: DiskCache, key: str) -> Executable | None:
    """Return an entry; None where there is none, or what is no code and is to be written anew."""
    data = store.get(key)
    try:
        return None if data is None else Executable.from_bytes(data)
    except ValueError:
        return None


def is_extended() -> bool:
    """Whether other packages have added to the compiler, which the key does not know."""
    extensions: Any = sys.modules.get(_EXTENSIONS)
    return extensions is not None and bool(extensions.is_extended())


def _compile(
    kernel: Any, content: bytes, target: str, for_gpu: bool, choose: ChooseSpecialization
) -> Executable:
    with waiting_ptxas(target) if for_gpu else nullcontext() as waiting:
        from tileas_xdsl.compiler import compile_bytecode

        compiled = compile_bytecode(kernel, content, target, choose)
        cubin = _machine_code(compiled, waiting) if for_gpu else b""
    return Executable(target, compiled.abi, compiled.ptx, cubin)


def _machine_code(compiled: CompiledKernel, waiting: WaitingPtxas | None) -> bytes:
    """Assemble, if ptxas is installed; what makes code slow is a warning."""
    from tileas_xdsl.runtime.kernel_launcher import SlowCodeWarning

    if find_tool("ptxas") is None:
        return b""
    found = compiled.assemble(strict=False, waiting=waiting)
    for message in found.warnings:
        warnings.warn(str(message), SlowCodeWarning, stacklevel=2)
    return found.cubin
