"""Several kernels of one module, compiled whole: an entry of one PTX text for each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import ModuleOp, StringAttr, SymbolRefAttr
from xdsl.ir import Operation

from tileas_xdsl.compilation.module_kernels import KernelOp, kernels_in
from tileas_xdsl.compiled_kernel import CompiledKernel
from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.printing import module_text

if TYPE_CHECKING:
    from tileas_xdsl.backend.ptxas import Assembled


@dataclass(frozen=True)
class CompiledModule(Mapping[str, CompiledKernel]):
    """The kernels of a module by name, and their PTX as one text."""

    kernels: Mapping[str, CompiledKernel]
    """In the order of the module; there is one at least."""

    def __getitem__(self, name: str) -> CompiledKernel:
        """Return the kernel of a name."""
        return self.kernels[name]

    def __iter__(self) -> Iterator[str]:
        """Yield the names of the kernels."""
        return iter(self.kernels)

    def __len__(self) -> int:
        """Return the number of kernels."""
        return len(self.kernels)

    def __repr__(self) -> str:
        """One line."""
        return f"<CompiledModule {', '.join(f'@{name}' for name in self)} for {self.target}>"

    @property
    def target(self) -> str:
        """The target, which is that of each kernel."""
        return self._first.target

    @property
    def _first(self) -> CompiledKernel:
        return next(iter(self.kernels.values()))

    @cached_property
    def module(self) -> ModuleOp:
        """What the passes made of all kernels; what several of them declare alike is there once."""
        made = self._first.module.clone()
        for kernel in list(self.kernels.values())[1:]:
            _merge(made, kernel.module.clone(), kernel.name)
        return made

    @cached_property
    def ptx(self) -> str:
        """The PTX text; raises `DiagnosticError` if the passes do not lower to PTX."""
        from tileas_xdsl.backend.ptx.printer import ptx_text

        texts = [kernel.ptx for kernel in self.kernels.values()]
        return texts[0] if len(texts) == 1 else ptx_text(self.module, self.target)

    @property
    def lowered_ir(self) -> str:
        """The IR after all passes."""
        return module_text(self.module, {}, self._first.ctx.loaded_dialects)

    def assemble(self, *, strict: bool = True) -> Assembled:
        """The machine code of all kernels and its facts; raises as that of a kernel."""
        from tileas_xdsl.backend.ptxas import assemble

        name = f"{'-'.join(self)[:60]}.ptx"
        return assemble(self.ptx, self.target, name=name, strict=strict)

    def cubin(self) -> bytes:
        """The machine code; raises as `assemble`."""
        return self.assemble().cubin


def _merge(module: ModuleOp, other: ModuleOp, kernel: str) -> None:
    """Move the operations of a module with one kernel into another one, after the same kind."""
    table = {symbol: op for op in module.ops if (symbol := _symbol(op)) is not None}
    for op in list(other.ops):
        symbol = _symbol(op)
        same = None if symbol is None else table.get(symbol)
        op.detach()
        if same is None:
            _insert(module, op)
        elif not op.is_structurally_equivalent(same) or isinstance(op, KernelOp):
            _rename(op, other, f"{symbol}_{kernel}")
            _insert(module, op)


def _insert(module: ModuleOp, op: Operation) -> None:
    """Declarations stand before the kernels, as PTX has them."""
    if isinstance(op, KernelOp):
        module.body.block.add_op(op)
    else:
        module.body.block.insert_op_before(op, kernels_in(module)[0])


def _symbol(op: Operation) -> str | None:
    found = op.get_attr_or_prop("sym_name")
    return found.data if isinstance(found, StringAttr) else None


def _rename(op: Operation, module: ModuleOp, name: str) -> None:
    """Give what a module declares another name there, in what uses it, too."""
    old = _symbol(op)
    op.properties["sym_name"] = StringAttr(name)
    for user in module.walk():
        for attributes in (user.properties, user.attributes):
            for key, value in attributes.items():
                if isinstance(value, SymbolRefAttr) and value.string_value() == old:
                    attributes[key] = SymbolRefAttr(name)
