// Tensor maps that a kernel changes, with PTX 8.3.

// RUN: tileas-opt %s -t 'ptx{arch=sm_90a}' | filecheck %s --check-prefix PTX

ptx.shared @smem {size = 0 : i64, align = 1024 : i64, extern}
ptx.entry @k(%0: !ptx.param<u64>, %1: !ptx.param<b8, 128, align 64>) attributes {maxntid = array<i32: 128, 1, 1>} {
  %2 = ptx.undef -> !ptx.reg<b32>
  %3 = ptx.undef -> !ptx.reg<b64>
  %4 = ptx.undef -> !ptx.reg<b32>
  ptx.tensormap_replace %2, %3 {field = "global_address", space = "shared::cta"} : !ptx.reg<b32>, !ptx.reg<b64>
  ptx.tensormap_replace %2, %4 {field = "rank", space = "shared::cta"} : !ptx.reg<b32>, !ptx.reg<b32>
  ptx.tensormap_replace %2, %4 {field = "global_dim", space = "shared::cta", ordinal = 1 : i64} : !ptx.reg<b32>, !ptx.reg<b32>
  ptx.tensormap_replace %3, %3 {field = "global_stride", space = "global", ordinal = 0 : i64} : !ptx.reg<b64>, !ptx.reg<b64>
  %5 = ptx.const {value = 64 : i64} -> !ptx.reg<b32>
  ptx.tensormap_replace %2, %5 {field = "box_dim", space = "shared::cta", ordinal = 0 : i64} : !ptx.reg<b32>, !ptx.reg<b32>
  %6 = ptx.const {value = 1 : i64} -> !ptx.reg<b32>
  ptx.tensormap_replace %2, %6 {field = "element_stride", space = "shared::cta", ordinal = 0 : i64} : !ptx.reg<b32>, !ptx.reg<b32>
  %7 = ptx.const {value = 3 : i64} -> !ptx.reg<b32>
  ptx.tensormap_replace %2, %7 {field = "swizzle_mode", space = "shared::cta"} : !ptx.reg<b32>, !ptx.reg<b32>
  %8 = ptx.const {value = 10 : i64} -> !ptx.reg<b32>
  ptx.tensormap_replace %2, %8 {field = "elemtype", space = "shared::cta"} : !ptx.reg<b32>, !ptx.reg<b32>
  %9 = ptx.const {value = 0 : i64} -> !ptx.reg<b32>
  ptx.tensormap_replace %2, %9 {field = "interleave_layout", space = "shared::cta"} : !ptx.reg<b32>, !ptx.reg<b32>
  %10 = ptx.const {value = 0 : i64} -> !ptx.reg<b32>
  ptx.tensormap_replace %2, %10 {field = "fill_mode", space = "shared::cta"} : !ptx.reg<b32>, !ptx.reg<b32>
  ptx.tensormap_cp_fenceproxy %3, %2 {scope = "gpu"} : !ptx.reg<b64>, !ptx.reg<b32>
  ptx.fence.proxy.tensormap {semantics = "release", scope = "gpu"}
  ptx.fence.proxy.tensormap address(%3) {semantics = "acquire", scope = "gpu"} : !ptx.reg<b64>
  ptx.ret
}

// PTX: .version 8.3
// PTX:      tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%r0], %rd0;
// PTX-NEXT: tensormap.replace.tile.rank.shared::cta.b1024.b32 [%r0], %r1;
// PTX-NEXT: tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%r0], 1, %r1;
// PTX-NEXT: tensormap.replace.tile.global_stride.global.b1024.b64 [%rd0], 0, %rd0;
// PTX-NEXT: tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%r0], 0, 64;
// PTX-NEXT: tensormap.replace.tile.element_stride.shared::cta.b1024.b32 [%r0], 0, 1;
// PTX-NEXT: tensormap.replace.tile.swizzle_mode.shared::cta.b1024.b32 [%r0], 3;
// PTX-NEXT: tensormap.replace.tile.elemtype.shared::cta.b1024.b32 [%r0], 10;
// PTX-NEXT: tensormap.replace.tile.interleave_layout.shared::cta.b1024.b32 [%r0], 0;
// PTX-NEXT: tensormap.replace.tile.fill_mode.shared::cta.b1024.b32 [%r0], 0;
// PTX-NEXT: tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%rd0], [%r0], 128;
// PTX-NEXT: fence.proxy.tensormap::generic.release.gpu;
// PTX-NEXT: fence.proxy.tensormap::generic.acquire.gpu [%rd0], 128;
// PTX-NEXT: ret;
