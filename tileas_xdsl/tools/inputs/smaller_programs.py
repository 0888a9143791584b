"""An input of the commands with other sizes of tiles, compiled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from tileas_xdsl.compiled_kernel import CompiledKernel
from tileas_xdsl.compiler import compile_module
from tileas_xdsl.diagnostics.verification.verify import verify_module
from tileas_xdsl.explanation.refused.variants import ConstantVariants, TextVariants, Variants
from tileas_xdsl.frontend.kernel_files import split_reference
from tileas_xdsl.frontend.signature import ConstantParameter, Parameter
from tileas_xdsl.tools.inputs.programs import Program, program_of


def variants_of(program: Program, path: str, name: str, target: str) -> Variants | None:
    """Return the sizes that the kernel of an input may have, and what compiles it with them."""
    if split_reference(path) is None:
        return _of_text(program, path, name, target)
    if program.factory_arguments is not None:
        return _of_tilelang(program, path, target)
    return None if program.parameters is None else _of_cutile(program, path, target)


def _of_text(program: Program, path: str, name: str, target: str) -> Variants:
    """Of a file of MLIR its text, of bytecode the Tile IR that it holds."""
    is_text = path.endswith(".mlir") and Path(path).is_file()
    text = Path(path).read_text(encoding="utf-8") if is_text else program.text()

    def compiled(changed: str) -> CompiledKernel:
        again = program_of(changed.encode(), path if is_text else f"{name}.mlir")
        return compile_module(again.module, again.ctx, target, kernel=name)

    return TextVariants(text, compiled, has_lines=is_text)


def _of_cutile(program: Program, path: str, target: str) -> Variants:
    from tileas_xdsl.frontend.cutile.kernels import load_kernel
    from tileas_xdsl.frontend.cutile.tile_ir import kernel_module

    kernel = load_kernel(path)

    def compiled(parameters: Sequence[Parameter]) -> CompiledKernel:
        module = kernel_module(kernel, parameters)
        verify_module(module)
        return replace(compile_module(module, program.ctx, target), parameters=parameters)

    return ConstantVariants(program.parameters or (), compiled)


def _of_tilelang(program: Program, path: str, target: str) -> Variants:
    """Of a factory of kernels its arguments."""
    from tileas_xdsl.frontend.tilelang.traced.tracing import load_function, tilelang_module

    function = load_function(path)

    def compiled(parameters: Sequence[Parameter]) -> CompiledKernel:
        keywords = {p.name: p.value for p in parameters if isinstance(p, ConstantParameter)}
        module = tilelang_module(function, keywords=keywords, target=target)
        return compile_module(module, program.ctx, target)

    return ConstantVariants(program.factory_arguments or (), compiled)
