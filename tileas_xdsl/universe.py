"""What `xdsl-opt` and every other xDSL tool see of this package: its `xdsl.universe` entry point.

Factories are lazy: importing this module imports no dialect, no pass and no target, so that tools
start quickly.  Keys equal the `name` of what their factory returns; a test checks it.
"""

from xdsl.ir import Dialect
from xdsl.passes import ModulePass
from xdsl.universe import Universe
from xdsl.utils.target import Target


def _convert_tileas_to_cute_nvgpu() -> type[ModulePass]:
    from tileas_xdsl.transforms.convert_tileas_to_cute_nvgpu import ConvertTileasToCuteNvgpu

    return ConvertTileasToCuteNvgpu


def _convert_cudatile_to_tileaa() -> type[ModulePass]:
    from tileas_xdsl.transforms.convert_cudatile_to_tileaa import ConvertCudatileToTileaa

    return ConvertCudatileToTileaa


def _convert_tileaa_to_tileas() -> type[ModulePass]:
    from tileas_xdsl.transforms.convert_tileaa_to_tileas import ConvertTileaaToTileas

    return ConvertTileaaToTileas


def _cuda_tile() -> Dialect:
    from tileas_xdsl.dialects.cuda_tile import CudaTile

    return CudaTile


def _cute() -> Dialect:
    from tileas_xdsl.dialects.cute import Cute

    return Cute


def _cute_desugar() -> type[ModulePass]:
    from tileas_xdsl.transforms.cute_desugar import CuteDesugar

    return CuteDesugar


def _cute_to_llvm() -> type[ModulePass]:
    from tileas_xdsl.transforms.cute_to_llvm import CuteToLlvm

    return CuteToLlvm


def _cute_kernel_to_nvvm() -> type[ModulePass]:
    from tileas_xdsl.transforms.cute_kernel_to_nvvm import CuteKernelToNvvm

    return CuteKernelToNvvm


def _cute_nvgpu() -> Dialect:
    from tileas_xdsl.dialects.cute_nvgpu import CuteNvgpu

    return CuteNvgpu


def _cutlass() -> Dialect:
    from tileas_xdsl.dialects.cutlass import Cutlass

    return Cutlass


def _lower_tma_load_store_to_async() -> type[ModulePass]:
    from tileas_xdsl.transforms.lower_tma_load_store_to_async import LowerTmaLoadStoreToAsync

    return LowerTmaLoadStoreToAsync


def _nv_tileaa() -> Dialect:
    from tileas_xdsl.dialects.nv_tileaa.dialect import NvTileaa

    return NvTileaa


def _nv_tileas() -> Dialect:
    from tileas_xdsl.dialects.nv_tileas import NvTileas

    return NvTileas


def _ptx() -> Dialect:
    from tileas_xdsl.dialects.ptx import Ptx

    return Ptx


def _tile() -> Dialect:
    from tileas_xdsl.dialects.tile import Tile

    return Tile


def _tl() -> Dialect:
    from tileas_xdsl.dialects.tl import Tl

    return Tl


def _convert_cute_nvgpu_to_ptx() -> type[ModulePass]:
    from tileas_xdsl.backend.ptx.convert_cute_nvgpu_to_ptx import ConvertCuteNvgpuToPtx

    return ConvertCuteNvgpuToPtx


def _convert_cute_to_nvgpu() -> type[ModulePass]:
    from tileas_xdsl.transforms.convert_cute_to_nvgpu import ConvertCuteToNvgpu

    return ConvertCuteToNvgpu


def _convert_pipeline_to_nvgpu() -> type[ModulePass]:
    from tileas_xdsl.transforms.convert_pipeline_to_nvgpu import ConvertPipelineToNvgpu

    return ConvertPipelineToNvgpu


def _expand_math() -> type[ModulePass]:
    from tileas_xdsl.transforms.expand_math import ExpandMath

    return ExpandMath


def _tileas_arrange_factors() -> type[ModulePass]:
    from tileas_xdsl.transforms.tileas_arrange_factors import TileasArrangeFactors

    return TileasArrangeFactors


def _tileas_assign_load_store_layouts() -> type[ModulePass]:
    from tileas_xdsl.transforms.tileas_assign_load_store_layouts import (
        TileasAssignLoadStoreLayouts,
    )

    return TileasAssignLoadStoreLayouts


def _tileas_attach_tma_descriptor_args() -> type[ModulePass]:
    from tileas_xdsl.transforms.tileas_attach_tma_descriptor_args import (
        TileasAttachTmaDescriptorArgs,
    )

    return TileasAttachTmaDescriptorArgs


def _tileas_attach_tma_desc_args() -> type[ModulePass]:
    from tileas_xdsl.transforms.tileas_attach_tma_descriptor_args import TileasAttachTmaDescArgs

    return TileasAttachTmaDescArgs


def _tileas_separate_host_tma() -> type[ModulePass]:
    from tileas_xdsl.transforms.tileas_separate_host_tma import TileasSeparateHostTma

    return TileasSeparateHostTma


def _tileas_place_constants() -> type[ModulePass]:
    from tileas_xdsl.transforms.tileas_place_constants import TileasPlaceConstants

    return TileasPlaceConstants


def _tl_layout_inference() -> type[ModulePass]:
    from tileas_xdsl.transforms.tl_layout_inference import TlLayoutInference

    return TlLayoutInference


def _tileas_widen_truths() -> type[ModulePass]:
    from tileas_xdsl.transforms.tileas_widen_truths import TileasWidenTruths

    return TileasWidenTruths


def _tileas_choose_tma() -> type[ModulePass]:
    from tileas_xdsl.transforms.tileas_choose_tma import TileasChooseTma

    return TileasChooseTma


def _tileas_pipeline_loads() -> type[ModulePass]:
    from tileas_xdsl.transforms.tileas_pipeline_loads import TileasPipelineLoads

    return TileasPipelineLoads


def _tileas_canonicalize() -> type[ModulePass]:
    from tileas_xdsl.transforms.tileas_canonicalize import TileasCanonicalize

    return TileasCanonicalize


def _tileas_fuse_generates() -> type[ModulePass]:
    from tileas_xdsl.transforms.tileas_fuse_generates import TileasFuseGenerates

    return TileasFuseGenerates


def _tileas_legalize_tmem_copy() -> type[ModulePass]:
    from tileas_xdsl.transforms.tileas_legalize_tmem_copy import TileasLegalizeTmemCopy

    return TileasLegalizeTmemCopy


def _tileas_materialize_convert_layout() -> type[ModulePass]:
    from tileas_xdsl.transforms.tileas_materialize_convert_layout import (
        TileasMaterializeConvertLayout,
    )

    return TileasMaterializeConvertLayout


def _tileas_remove_buffer_alias() -> type[ModulePass]:
    from tileas_xdsl.transforms.tileas_remove_buffer_alias import TileasRemoveBufferAlias

    return TileasRemoveBufferAlias


def _tileas_remove_dead_args() -> type[ModulePass]:
    from tileas_xdsl.transforms.tileas_remove_dead_args import TileasRemoveDeadArgs

    return TileasRemoveDeadArgs


def _tileas_remove_layout_conversions() -> type[ModulePass]:
    from tileas_xdsl.transforms.tileas_remove_layout_conversions import (
        TileasRemoveLayoutConversions,
    )

    return TileasRemoveLayoutConversions


def _tileas_resolve_agent_boundary() -> type[ModulePass]:
    from tileas_xdsl.transforms.tileas_resolve_agent_boundary import TileasResolveAgentBoundary

    return TileasResolveAgentBoundary


def _tileas_slicing() -> type[ModulePass]:
    from tileas_xdsl.transforms.tileas_slicing import TileasSlicing

    return TileasSlicing


def _tl_lower() -> type[ModulePass]:
    from tileas_xdsl.transforms.tl_lower import TlLower

    return TlLower


def _verify_dominance() -> type[ModulePass]:
    from tileas_xdsl.transforms.verify_dominance import VerifyDominance

    return VerifyDominance


def _ptx_target() -> type[Target]:
    from tileas_xdsl.backend.ptx.target import PtxTarget

    return PtxTarget


TILEAS_UNIVERSE = Universe(
    all_dialects={
        "cuda_tile": _cuda_tile,
        "cute": _cute,
        "cute_nvgpu": _cute_nvgpu,
        "cutlass": _cutlass,
        "nv_tileaa": _nv_tileaa,
        "nv_tileas": _nv_tileas,
        "ptx": _ptx,
        "tile": _tile,
        "tl": _tl,
    },
    all_passes={
        "convert-cudatile-to-tileaa": _convert_cudatile_to_tileaa,
        "convert-cute-nvgpu-to-ptx": _convert_cute_nvgpu_to_ptx,
        "convert-cute-to-nvgpu": _convert_cute_to_nvgpu,
        "convert-pipeline-to-nvgpu": _convert_pipeline_to_nvgpu,
        "convert-tileaa-to-tileas": _convert_tileaa_to_tileas,
        "convert-tileas-to-cute-nvgpu": _convert_tileas_to_cute_nvgpu,
        "cute-desugar": _cute_desugar,
        "cute-kernel-to-nvvm": _cute_kernel_to_nvvm,
        "cute-to-llvm": _cute_to_llvm,
        "expand-math": _expand_math,
        "lower-tma-load-store-to-async": _lower_tma_load_store_to_async,
        "tileas-arrange-factors": _tileas_arrange_factors,
        "tileas-assign-load-store-layouts": _tileas_assign_load_store_layouts,
        "tileas-attach-tma-desc-args": _tileas_attach_tma_desc_args,
        "tileas-attach-tma-descriptor-args": _tileas_attach_tma_descriptor_args,
        "tileas-canonicalize": _tileas_canonicalize,
        "tileas-choose-tma": _tileas_choose_tma,
        "tileas-fuse-generates": _tileas_fuse_generates,
        "tileas-legalize-tmem-copy": _tileas_legalize_tmem_copy,
        "tileas-materialize-convert-layout": _tileas_materialize_convert_layout,
        "tileas-pipeline-loads": _tileas_pipeline_loads,
        "tileas-place-constants": _tileas_place_constants,
        "tileas-remove-buffer-alias": _tileas_remove_buffer_alias,
        "tileas-remove-dead-args": _tileas_remove_dead_args,
        "tileas-remove-layout-conversions": _tileas_remove_layout_conversions,
        "tileas-resolve-agent-boundary": _tileas_resolve_agent_boundary,
        "tileas-separate-host-tma": _tileas_separate_host_tma,
        "tileas-slicing": _tileas_slicing,
        "tileas-widen-truths": _tileas_widen_truths,
        "tl-layout-inference": _tl_layout_inference,
        "tl-lower": _tl_lower,
        "verify-dominance": _verify_dominance,
    },
    all_targets={"ptx": _ptx_target},
)
"""An open compiler for GPU tile kernels on xDSL."""
