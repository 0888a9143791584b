"""The pass `tileas-separate-host-tma`: generate host code that encodes tensor maps."""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import BoolAttr, BytesAttr, ModuleOp
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from tileas_xdsl.analysis.memory.tma_descriptors import (
    check_lowered,
    descriptor_tables,
    functions_with_descriptors,
)
from tileas_xdsl.backend.host import NATIVE, HostCodeError, compile_object
from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.catalogue import message
from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.nv_tileaa.memory.block_memory import AllocaOp
from tileas_xdsl.dialects.nv_tileas.tma.capture import capture_problem
from tileas_xdsl.dialects.nv_tileas.tma.descriptor import MakeTiledTmaDescOp
from tileas_xdsl.dialects.nv_tileas.tma.index import EXTENDED_SMEM, HOST_CODE, counts_of
from tileas_xdsl.dialects.target_attribute import module_target
from tileas_xdsl.target.arch import Target
from tileas_xdsl.transforms.host_tma.module import HostKernel, host_module
from tileas_xdsl.transforms.host_tma.recipes import recipe_of

MAX_DEVICE_DESCRIPTORS = 32
"""The templates of so many maps fill the 4096 bytes of parameters that every driver takes."""

ENCODED_MODES = ("tiled", "tiled_at", "gather4", "scatter4", "im2col")
"""The modes of maps that host code makes; those of im2col are tiled ones with corners put in."""


@dataclass(frozen=True)
class TileasSeparateHostTma(ModulePass):
    """Generate, compile and attach the host code that encodes tensor maps.

    Needs: functions whose `make_tiled_tma_desc` describe windows of array arguments; the tiles that
    are moved through them have their layouts.  llvmlite, which the extra `host` installs.

    Leaves: the functions as they were, marked `nv_tileas.enable-extended-smem`, and on the module
    `nv_tileas.host-code`: the bytes of a relocatable object that has, for every kernel with
    descriptors, the callbacks of `host_tma.module` and `host_tma.callbacks`.  Functions without
    descriptors are left alone, and so are functions that have been given theirs if the module has
    host code.

    Idempotent; the same module and triple give the same bytes.  On a diagnostic it stops the
    pipeline and leaves the module as it was.
    """

    name = "tileas-separate-host-tma"

    target: str | None = None
    """Deprecated: the attribute `nv_tileas.target` of the module says it."""

    host_triple: str = NATIVE
    """The machine that the object is for, as LLVM calls it."""

    enable_extended_smem: bool = True
    """Whether host code may ask for more shared memory than 48 KiB; told to whoever launches."""

    keep_host_module: bool = False
    """Also put the host module, as `llvm`, at the end of the module, to be read."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        functions = [f for f in functions_with_descriptors(op) if not _is_done(op, f)]
        if not functions:
            return
        target = module_target(op, self.target)
        kernels = [self._kernel(function, target) for function in functions]
        module = host_module(kernels)
        module.verify()
        try:
            data = compile_object(module, self.host_triple)
        except HostCodeError as error:
            raise op_error(functions[0], str(error), prefix=False) from error
        for function in functions:
            function.attributes[EXTENDED_SMEM] = BoolAttr.from_bool(self.enable_extended_smem)
        op.attributes[HOST_CODE] = BytesAttr(data)
        if self.keep_host_module:
            _keep(op, module)

    def _kernel(self, function: func.FuncOp, target: Target) -> HostKernel:
        for op in function.walk():
            if isinstance(op, AllocaOp):
                text = "is memory of each block, for which host code gives a launch no room"
                raise op_error(op, f"{text}: compile without host code")
        tables = descriptor_tables(function)
        if len(tables.device) > MAX_DEVICE_DESCRIPTORS:
            text = message("separate_host_tma.too_many_device_descriptors")
            raise op_error(function, text, prefix=False)
        for op in tables.device:
            _check_capture(op, for_host=False)
        for op in tables.host:
            _check_capture(op, for_host=True)
        device = [recipe_of(op, target) for op in tables.device]
        host = [recipe_of(op, target) for op in tables.host]
        return HostKernel(function, device, host, self.enable_extended_smem)


def _is_done(module: ModuleOp, function: func.FuncOp) -> bool:
    """Whether a function has its descriptors and host code that encodes them."""
    if counts_of(function) is None:
        return False
    check_lowered(function)
    if HOST_CODE in module.attributes:
        return True
    raise op_error(
        function, "has its descriptors already; host code is separated before they are attached"
    )


def _check_capture(op: MakeTiledTmaDescOp, *, for_host: bool) -> None:
    """What a descriptor depends on can be captured, and its map can be encoded."""
    if (problem := capture_problem(op, for_host=for_host)) is not None:
        raise op_error(op, problem)
    if op.load_mode not in ENCODED_MODES:
        raise op_error(op, message("separate_host_tma.lower_descriptor_first"))


def _keep(module: ModuleOp, host: ModuleOp) -> None:
    """The host module at the end, instead of one that is there."""
    for old in [op for op in module.ops if isinstance(op, ModuleOp) and HOST_CODE in op.attributes]:
        Rewriter.erase_op(old)
    module.body.block.add_op(host)
