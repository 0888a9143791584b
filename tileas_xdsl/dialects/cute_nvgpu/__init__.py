"""The dialect of what one thread block of an NVIDIA GPU does: barriers, bulk copies, products.

Constructors take values and Python numbers; `pred` is an `i1` value, without it all threads act.

| class | constructor |
|---|---|
| indices (i32) | `ThreadIdxOp(axis="x") BlockIdxOp(axis) GridDimOp(axis) LaneIdxOp() WarpIdxOp() ClusterRankOp()` |
| roles | `ElectOneOp() MakeWarpUniformOp(value) SetMaxRegisterOp(count, increase)` |
| memory | `GetDynSmemOp(offset_bytes, element=i8, align=None) AllocSmemOp(count, type) AllocRmemOp(count, type)` |
| mbarriers | `MbarrierInitOp(ptr, count, pred=None) MbarrierArriveOp(ptr, pred=None, cta=None) MbarrierArriveExpectTxOp(ptr, bytes, pred=None) MbarrierWaitOp(ptr, parity) MbarrierTryWaitOp(ptr, parity)` |
| launches taken over | `IssueClcQueryOp(response, mbar, pred=None, multicast=False) ClcResponseOp(response)` |
| fences | `FenceMbarrierInitOp() FenceProxyAsyncOp(space="shared::cta")` |
| barriers | `BarrierOp(id=0, threads=None) BarrierArriveOp(id, threads, again=None) ClusterArriveOp(relaxed=False) ClusterWaitOp() SyncWarpOp()` |
| bulk copies | `TmaLoadOp(desc, smem, mbar, coords, multicast_mask=None, pred=None) TmaStoreOp(desc, smem, coords, pred=None) TmaReduceOp(desc, smem, coords, kind="add", pred=None) BulkCommitOp(pred=None) BulkWaitOp(count, read=False, pred=None) PrefetchTmaDescOp(desc, pred=None)` |
| changed maps | `CopyTmaDescOp(desc, smem) UpdateTmaDescOp(field, smem, value, ordinal=None, pred=None) PublishTmaDescOp(smem, gmem) AcquireTmaDescOp(gmem)` |
| products | `MakeGmmaSmemDescOp(ptr, swizzle, leading_bytes, stride_bytes) SmemDescAddOp(desc, bytes) WgmmaFenceOp() WgmmaCommitOp() WgmmaWaitOp(count, values) MmaSm90Op(a, b, c, scale_d=None, shape=, a_type=, b_type=, a_major="k", b_major="k")` |
| tensor memory | `AllocTmemOp(ptr, columns, num_cta=1) RelinquishTmemOp(num_cta=1) RetrieveTmemPtrOp(ptr) DeallocTmemOp(address, columns, num_cta=1) TmemLoadOp(address, element, shape, repeat) TmemStoreOp(address, value, shape, repeat) TmemWaitOp(access, values=()) TmemFenceOp(side)` |
| products into it | `MakeUmmaSmemDescOp(ptr, swizzle, leading_bytes, stride_bytes) UmmaOp(d, a, b, accumulate, shape=, a_type=, b_type=, d_type=, a_major="k", b_major="k", num_cta=1) UmmaCommitOp(ptr, mask=None, pred=None, num_cta=1) PairTmaLoadOp(desc, smem, mbar, coords, pred=None)` |
| block scales | `CopyToTmemOp(source, address, lanes=32, bits=128, broadcast="x4", num_cta=1) UmmaBlockScaledOp(d, a, b, sf_a, sf_b, accumulate, shape=, kind=, scale_vec=, a_type=, b_type=, sf_type=, a_scale_id=0, b_scale_id=0, num_cta=1)` |
| sm_120 | `MmaSm120BlockScaledOp(a, b, c, sf_a, sf_b, shape=, a_type=, b_type=, sf_type=, vec_size=, thread_id_a=0, thread_id_b=0)` |
| atomics | `AtomicRmwOp(kind, value, ptr, pred=None, order=None, scope=None) AtomicCasOp(compare, value, ptr, pred=None, order=None, scope=None)` |
| operands by layout | `GmmaDescriptorOfOp(ptr, layout, major="k") UmmaDescriptorOfOp(ptr, layout, major="k")` |
| partitions by TMA | `MakeNonExecTiledTma{Load,Store,Reduce}Op(gmem, smem_layout, cta_v_map, types, num_multicast=None) MakeExecTmaOp(source, type)`; `cute_nvgpu.atom.tma_partition(atom, block, blocks, smem, gmem)` |
| values of atoms | `AtomGetValueOp(atom, field, type) AtomSetValueOp(atom, field, value) PrefetchAtomDescOp(atom)`; `cute_nvgpu.atom.make_tmem_copy(atom, view)` |
| sparse products | `UmmaSparseOp(d, a, b, metadata, descriptor, accumulate, kind, num_cta=1) UmmaBlockScaledSparseOp(..., scales, ...)` |
| addresses | `MakeTmaDescTiledOp(gmem, smem_layout, cta_v_map, num_multicast=None) GetTmaDescAddrOp(desc) GetGridConstantPointerOp(desc) CastTmaDescToIntegerOp(desc) GetDynSmemSizeOp()` |
| sm_80 | `CpAsyncOp(smem, gmem, bytes, cache="always", pred=None) CpAsyncCommitOp() CpAsyncWaitOp(count) CpAsyncMbarrierArriveOp(ptr) MmaSm80Op(a, b, c, shape=, a_type=, b_type=) MmaSm89Op(...) MmaSm80SparseOp(a, b, c, metadata, shape=, a_type=, b_type=, selector=0, ordered=False)` |
| warps | `StsmOp(ptr, value, num_matrices=4, transpose=False) LdsmOp(ptr, result_type, num_matrices=4, transpose=False) ShuffleOp(value, lane, mode="bfly") ReduxOp(value, kind="add") VoteOp(value, kind="all") PrmtOp(a, b, selector)` |
"""  # noqa: E501

from typing import TYPE_CHECKING

from tileas_xdsl.dialects.registry import dialect_of, names_of

if TYPE_CHECKING:
    from tileas_xdsl.dialects.cute_nvgpu.allocations import *
    from tileas_xdsl.dialects.cute_nvgpu.atom_fields import *
    from tileas_xdsl.dialects.cute_nvgpu.mma.canonical_descriptors import *
    from tileas_xdsl.dialects.cute_nvgpu.mma.mma_sync import *
    from tileas_xdsl.dialects.cute_nvgpu.mma.mma_sync_scaled import *
    from tileas_xdsl.dialects.cute_nvgpu.mma.mma_sync_sparse import *
    from tileas_xdsl.dialects.cute_nvgpu.mma.tcgen05 import *
    from tileas_xdsl.dialects.cute_nvgpu.mma.tcgen05_scaled import *
    from tileas_xdsl.dialects.cute_nvgpu.mma.tcgen05_sparse import *
    from tileas_xdsl.dialects.cute_nvgpu.mma.tmem_copies import *
    from tileas_xdsl.dialects.cute_nvgpu.mma.wgmma import *
    from tileas_xdsl.dialects.cute_nvgpu.threads.atomics import *
    from tileas_xdsl.dialects.cute_nvgpu.threads.barriers import *
    from tileas_xdsl.dialects.cute_nvgpu.threads.indices import *
    from tileas_xdsl.dialects.cute_nvgpu.threads.launch_control import *
    from tileas_xdsl.dialects.cute_nvgpu.threads.warp_collectives import *
    from tileas_xdsl.dialects.cute_nvgpu.tma.copies import *
    from tileas_xdsl.dialects.cute_nvgpu.tma.descriptor_addresses import *
    from tileas_xdsl.dialects.cute_nvgpu.tma.descriptor_updates import *
    from tileas_xdsl.dialects.cute_nvgpu.tma.partition_atoms import *
    from tileas_xdsl.dialects.cute_nvgpu.tma.tensor_partition import *
    from tileas_xdsl.dialects.cute_nvgpu.types import *
else:
    __getattr__ = names_of(
        __name__,
        {
            "allocations": "AllocRmemOp AllocSmemOp",
            "atom_fields": "AtomGetValueOp AtomSetValueOp PrefetchAtomDescOp",
            "mma.canonical_descriptors": "GmmaDescriptorOfOp UmmaDescriptorOfOp",
            "mma.mma_sync": (
                "CpAsyncCommitOp CpAsyncMbarrierArriveOp CpAsyncOp CpAsyncWaitOp MmaSm80Op "
                "MmaSm89Op"
            ),
            "mma.mma_sync_scaled": "MmaSm120BlockScaledOp",
            "mma.mma_sync_sparse": "MmaSm80SparseOp",
            "mma.tcgen05": (
                "AllocTmemOp DeallocTmemOp MakeUmmaSmemDescOp PairTmaLoadOp RelinquishTmemOp "
                "RetrieveTmemPtrOp TmemFenceOp TmemLoadOp TmemStoreOp TmemWaitOp UmmaCommitOp "
                "UmmaOp"
            ),
            "mma.tcgen05_scaled": "CopyToTmemOp UmmaBlockScaledOp",
            "mma.tcgen05_sparse": "UmmaBlockScaledSparseOp UmmaSparseOp",
            "mma.tmem_copies": "MakeTmemCopyOp",
            "mma.wgmma": (
                "MakeGmmaSmemDescOp MmaSm90Op SmemDescAddOp WgmmaCommitOp WgmmaFenceOp WgmmaWaitOp"
            ),
            "threads.atomics": "AtomicCasOp AtomicRmwOp",
            "threads.barriers": (
                "BarrierArriveOp BarrierOp ClusterArriveOp ClusterWaitOp FenceMbarrierInitOp "
                "FenceProxyAsyncOp MbarrierArriveExpectTxOp MbarrierArriveOp MbarrierInitOp "
                "MbarrierInvalOp MbarrierTryWaitOp MbarrierWaitOp SyncWarpOp"
            ),
            "threads.indices": (
                "BlockIdxOp ClusterRankOp ElectOneOp GetDynSmemOp GetDynSmemSizeOp GridDimOp "
                "LaneIdxOp MakeWarpUniformOp SetMaxRegisterOp ThreadIdxOp WarpIdxOp"
            ),
            "threads.launch_control": (
                "CLC_RESPONSE_BYTES ClcResponseOp IssueClcQueryOp check_clc_response"
            ),
            "threads.warp_collectives": "LdsmOp PrmtOp ReduxOp ShuffleOp StsmOp VoteOp",
            "tma.copies": (
                "BulkCommitOp BulkWaitOp PrefetchTmaDescOp TmaLoadOp TmaReduceOp TmaStoreOp"
            ),
            "tma.descriptor_addresses": (
                "CastTmaDescToIntegerOp GetGridConstantPointerOp GetTmaDescAddrOp"
            ),
            "tma.descriptor_updates": (
                "AcquireTmaDescOp CopyTmaDescOp PublishTmaDescOp UpdateTmaDescOp"
            ),
            "tma.partition_atoms": (
                "MakeExecTmaOp MakeNonExecTiledTmaLoadOp MakeNonExecTiledTmaReduceOp "
                "MakeNonExecTiledTmaStoreOp MakeTmaDescTiledOp"
            ),
            "tma.tensor_partition": "TmaPartitionOp",
            "types": (
                "SmemDescType SmemDescViewType TmaDescriptorIm2colType TmaDescriptorTiledType "
                "tma_descriptor"
            ),
        },
    )

CuteNvgpu = dialect_of(__name__, "cute_nvgpu")
