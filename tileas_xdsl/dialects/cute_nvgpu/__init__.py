"""The dialect of what one thread block of an NVIDIA GPU does: barriers, bulk copies, products.

Constructors take values and Python numbers; `pred` is an `i1` value, without it all threads act.

| class | constructor |
|---|---|
| indices (i32) | `ThreadIdxOp(axis="x") BlockIdxOp(axis) GridDimOp(axis) LaneIdxOp() WarpIdxOp() ClusterRankOp()` |
| roles | `ElectOneOp() MakeWarpUniformOp(value) SetMaxRegisterOp(count, increase)` |
| memory | `GetDynSmemOp(offset_bytes, element=i8, align=None) AllocSmemOp(count, type) AllocRmemOp(count, type)` |
| mbarriers | `MbarrierInitOp(ptr, count, pred=None) MbarrierArriveOp(ptr, pred=None, cta=None) MbarrierArriveExpectTxOp(ptr, bytes, pred=None) MbarrierWaitOp(ptr, parity) MbarrierTryWaitOp(ptr, parity)` |
| fences | `FenceMbarrierInitOp() FenceProxyAsyncOp(space="shared::cta")` |
| barriers | `BarrierOp(id=0, threads=None) BarrierArriveOp(id, threads) ClusterArriveOp(relaxed=False) ClusterWaitOp() SyncWarpOp()` |
| bulk copies | `TmaLoadOp(desc, smem, mbar, coords, multicast_mask=None, pred=None) TmaStoreOp(desc, smem, coords, pred=None) TmaReduceOp(desc, smem, coords, kind="add", pred=None) BulkCommitOp(pred=None) BulkWaitOp(count, read=False, pred=None) PrefetchTmaDescOp(desc, pred=None)` |
| changed maps | `CopyTmaDescOp(desc, smem) UpdateTmaDescOp(field, smem, value, ordinal=None, pred=None) PublishTmaDescOp(smem, gmem) AcquireTmaDescOp(gmem)` |
| products | `MakeGmmaSmemDescOp(ptr, swizzle, leading_bytes, stride_bytes) SmemDescAddOp(desc, bytes) WgmmaFenceOp() WgmmaCommitOp() WgmmaWaitOp(count, values) MmaSm90Op(a, b, c, scale_d=None, shape=, a_type=, b_type=, a_major="k", b_major="k")` |
| tensor memory | `AllocTmemOp(ptr, columns, num_cta=1) RelinquishTmemOp(num_cta=1) RetrieveTmemPtrOp(ptr) DeallocTmemOp(address, columns, num_cta=1) TmemLoadOp(address, element, shape, repeat) TmemStoreOp(address, value, shape, repeat) TmemWaitOp(access, values=()) TmemFenceOp(side)` |
| products into it | `MakeUmmaSmemDescOp(ptr, swizzle, leading_bytes, stride_bytes) UmmaOp(d, a, b, accumulate, shape=, a_type=, b_type=, d_type=, a_major="k", b_major="k", num_cta=1) UmmaCommitOp(ptr, mask=None, pred=None, num_cta=1) PairTmaLoadOp(desc, smem, mbar, coords, pred=None)` |
| block scales | `CopyToTmemOp(source, address, lanes=32, bits=128, broadcast="x4", num_cta=1) UmmaBlockScaledOp(d, a, b, sf_a, sf_b, accumulate, shape=, kind=, scale_vec=, a_type=, b_type=, sf_type=, scale_ids=(0, 0), num_cta=1)` |
| sm_120 | `MmaSm120BlockScaledOp((a, b, c), (sf_a, sf_b), shape=, elements=, sf_type=, vec_size=, thread_ids=(0, 0))` |
| atomics | `AtomicRmwOp(kind, value, ptr, pred=None, order=None, scope=None) AtomicCasOp(compare, value, ptr, pred=None, order=None, scope=None)` |
| operands by layout | `GmmaDescriptorOfOp(ptr, layout, major="k") UmmaDescriptorOfOp(ptr, layout, major="k")` |
| partitions by TMA | `MakeNonExecTiledTma{Load,Store,Reduce}Op(gmem, smem_layout, cta_v_map, types, num_multicast=None) MakeExecTmaOp(source, type)`; `cute_nvgpu.atom.tma_partition(atom, block, blocks, smem, gmem)` |
| values of atoms | `AtomGetValueOp(atom, field, type) AtomSetValueOp(atom, field, value) PrefetchAtomDescOp(atom)`; `cute_nvgpu.atom.make_tmem_copy(atom, view)` |
| sparse products | `UmmaSparseOp(d, a, b, metadata, descriptor, accumulate, kind, num_cta=1) UmmaBlockScaledSparseOp(..., scales, ...)` |
| addresses | `MakeTmaDescTiledOp(gmem, smem_layout, cta_v_map, num_multicast=None) GetTmaDescAddrOp(desc) GetGridConstantPointerOp(desc) CastTmaDescToIntegerOp(desc) GetDynSmemSizeOp()` |
| sm_80 | `CpAsyncOp(smem, gmem, bytes, cache="always", pred=None) CpAsyncCommitOp() CpAsyncWaitOp(count) CpAsyncMbarrierArriveOp(ptr) MmaSm80Op(a, b, c, shape=, a_type=, b_type=) MmaSm89Op(...) MmaSm80SparseOp((a, b, c), metadata, shape=, a_type=, b_type=, selector=0, ordered=False)` |
| warps | `StsmOp(ptr, value, num_matrices=4, transpose=False) LdsmOp(ptr, result_type, num_matrices=4, transpose=False) ShuffleOp(value, lane, mode="bfly") ReduxOp(value, kind="add")` |
"""  # noqa: E501

from xdsl.ir import Dialect

from tileas_xdsl.dialects.cute_nvgpu import (
    addresses,
    allocations,
    ampere,
    ampere_sparse,
    atom_fields,
    atomics,
    atoms,
    barriers,
    blackwell_warp,
    canonical_descriptors,
    ids,
    number_types,
    tcgen05,
    tcgen05_scaled,
    tcgen05_sparse,
    tensor_tiles,
    tma,
    tma_partition,
    tma_tensors,
    tma_updates,
    warp,
    wgmma,
)
from tileas_xdsl.dialects.cute_nvgpu.addresses import (
    CastTmaDescToIntegerOp,
    GetDynSmemSizeOp,
    GetGridConstantPointerOp,
    GetTmaDescAddrOp,
)
from tileas_xdsl.dialects.cute_nvgpu.allocations import AllocRmemOp, AllocSmemOp
from tileas_xdsl.dialects.cute_nvgpu.ampere import (
    CpAsyncCommitOp,
    CpAsyncMbarrierArriveOp,
    CpAsyncOp,
    CpAsyncWaitOp,
    MmaSm80Op,
    MmaSm89Op,
)
from tileas_xdsl.dialects.cute_nvgpu.ampere_sparse import MmaSm80SparseOp
from tileas_xdsl.dialects.cute_nvgpu.atom_fields import (
    AtomGetValueOp,
    AtomSetValueOp,
    PrefetchAtomDescOp,
)
from tileas_xdsl.dialects.cute_nvgpu.atomics import AtomicCasOp, AtomicRmwOp
from tileas_xdsl.dialects.cute_nvgpu.barriers import (
    BarrierArriveOp,
    BarrierOp,
    ClusterArriveOp,
    ClusterWaitOp,
    FenceMbarrierInitOp,
    FenceProxyAsyncOp,
    MbarrierArriveExpectTxOp,
    MbarrierArriveOp,
    MbarrierInitOp,
    MbarrierTryWaitOp,
    MbarrierWaitOp,
    SyncWarpOp,
)
from tileas_xdsl.dialects.cute_nvgpu.blackwell_warp import MmaSm120BlockScaledOp
from tileas_xdsl.dialects.cute_nvgpu.canonical_descriptors import (
    GmmaDescriptorOfOp,
    UmmaDescriptorOfOp,
)
from tileas_xdsl.dialects.cute_nvgpu.ids import (
    BlockIdxOp,
    ClusterRankOp,
    ElectOneOp,
    GetDynSmemOp,
    GridDimOp,
    LaneIdxOp,
    MakeWarpUniformOp,
    SetMaxRegisterOp,
    ThreadIdxOp,
    WarpIdxOp,
)
from tileas_xdsl.dialects.cute_nvgpu.tcgen05 import (
    AllocTmemOp,
    DeallocTmemOp,
    MakeUmmaSmemDescOp,
    PairTmaLoadOp,
    RelinquishTmemOp,
    RetrieveTmemPtrOp,
    TmemFenceOp,
    TmemLoadOp,
    TmemStoreOp,
    TmemWaitOp,
    UmmaCommitOp,
    UmmaOp,
)
from tileas_xdsl.dialects.cute_nvgpu.tcgen05_scaled import CopyToTmemOp, UmmaBlockScaledOp
from tileas_xdsl.dialects.cute_nvgpu.tcgen05_sparse import UmmaBlockScaledSparseOp, UmmaSparseOp
from tileas_xdsl.dialects.cute_nvgpu.tensor_tiles import MakeTmemCopyOp
from tileas_xdsl.dialects.cute_nvgpu.tma import (
    BulkCommitOp,
    BulkWaitOp,
    PrefetchTmaDescOp,
    TmaLoadOp,
    TmaReduceOp,
    TmaStoreOp,
)
from tileas_xdsl.dialects.cute_nvgpu.tma_partition import (
    MakeExecTmaOp,
    MakeNonExecTiledTmaLoadOp,
    MakeNonExecTiledTmaReduceOp,
    MakeNonExecTiledTmaStoreOp,
    MakeTmaDescTiledOp,
)
from tileas_xdsl.dialects.cute_nvgpu.tma_tensors import TmaPartitionOp
from tileas_xdsl.dialects.cute_nvgpu.tma_updates import (
    AcquireTmaDescOp,
    CopyTmaDescOp,
    PublishTmaDescOp,
    UpdateTmaDescOp,
)
from tileas_xdsl.dialects.cute_nvgpu.types import (
    SmemDescType,
    SmemDescViewType,
    TmaDescriptorIm2colType,
    TmaDescriptorTiledType,
    smem_desc,
    tma_descriptor,
)
from tileas_xdsl.dialects.cute_nvgpu.warp import LdsmOp, ReduxOp, ShuffleOp, StsmOp
from tileas_xdsl.dialects.cute_nvgpu.wgmma import (
    MakeGmmaSmemDescOp,
    MmaSm90Op,
    SmemDescAddOp,
    WgmmaCommitOp,
    WgmmaFenceOp,
    WgmmaWaitOp,
)

FAMILIES = (
    addresses,
    allocations,
    ampere,
    ampere_sparse,
    atom_fields,
    atomics,
    barriers,
    blackwell_warp,
    canonical_descriptors,
    ids,
    tcgen05,
    tcgen05_scaled,
    tcgen05_sparse,
    tensor_tiles,
    tma,
    tma_partition,
    tma_tensors,
    tma_updates,
    warp,
    wgmma,
)

__all__ = [
    "AcquireTmaDescOp",
    "AllocRmemOp",
    "AllocSmemOp",
    "AllocTmemOp",
    "AtomGetValueOp",
    "AtomSetValueOp",
    "AtomicCasOp",
    "AtomicRmwOp",
    "BarrierArriveOp",
    "BarrierOp",
    "BlockIdxOp",
    "BulkCommitOp",
    "BulkWaitOp",
    "CastTmaDescToIntegerOp",
    "ClusterArriveOp",
    "ClusterRankOp",
    "ClusterWaitOp",
    "CopyTmaDescOp",
    "CopyToTmemOp",
    "CpAsyncCommitOp",
    "CpAsyncMbarrierArriveOp",
    "CpAsyncOp",
    "CpAsyncWaitOp",
    "CuteNvgpu",
    "DeallocTmemOp",
    "ElectOneOp",
    "FenceMbarrierInitOp",
    "FenceProxyAsyncOp",
    "GetDynSmemOp",
    "GetDynSmemSizeOp",
    "GetGridConstantPointerOp",
    "GetTmaDescAddrOp",
    "GmmaDescriptorOfOp",
    "GridDimOp",
    "LaneIdxOp",
    "LdsmOp",
    "MakeExecTmaOp",
    "MakeGmmaSmemDescOp",
    "MakeNonExecTiledTmaLoadOp",
    "MakeNonExecTiledTmaReduceOp",
    "MakeNonExecTiledTmaStoreOp",
    "MakeTmaDescTiledOp",
    "MakeTmemCopyOp",
    "MakeUmmaSmemDescOp",
    "MakeWarpUniformOp",
    "MbarrierArriveExpectTxOp",
    "MbarrierArriveOp",
    "MbarrierInitOp",
    "MbarrierTryWaitOp",
    "MbarrierWaitOp",
    "MmaSm80Op",
    "MmaSm80SparseOp",
    "MmaSm89Op",
    "MmaSm90Op",
    "MmaSm120BlockScaledOp",
    "PairTmaLoadOp",
    "PrefetchAtomDescOp",
    "PrefetchTmaDescOp",
    "PublishTmaDescOp",
    "ReduxOp",
    "RelinquishTmemOp",
    "RetrieveTmemPtrOp",
    "SetMaxRegisterOp",
    "ShuffleOp",
    "SmemDescAddOp",
    "SmemDescType",
    "SmemDescViewType",
    "StsmOp",
    "SyncWarpOp",
    "ThreadIdxOp",
    "TmaDescriptorIm2colType",
    "TmaDescriptorTiledType",
    "TmaLoadOp",
    "TmaPartitionOp",
    "TmaReduceOp",
    "TmaStoreOp",
    "TmemFenceOp",
    "TmemLoadOp",
    "TmemStoreOp",
    "TmemWaitOp",
    "UmmaBlockScaledOp",
    "UmmaBlockScaledSparseOp",
    "UmmaCommitOp",
    "UmmaDescriptorOfOp",
    "UmmaOp",
    "UmmaSparseOp",
    "UpdateTmaDescOp",
    "WarpIdxOp",
    "WgmmaCommitOp",
    "WgmmaFenceOp",
    "WgmmaWaitOp",
    "smem_desc",
    "tma_descriptor",
]

CuteNvgpu = Dialect(
    "cute_nvgpu",
    [op for family in FAMILIES for op in family.OPERATIONS],
    [
        SmemDescType,
        SmemDescViewType,
        TmaDescriptorIm2colType,
        TmaDescriptorTiledType,
        *atoms.TYPES,
        *number_types.TYPES,
    ],
)
