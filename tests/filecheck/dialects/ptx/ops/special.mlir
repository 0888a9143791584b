// Special registers, parameters and addresses.

// RUN: tileas-opt %s -t 'ptx{arch=sm_90a}' | filecheck %s --check-prefix PTX

ptx.shared @smem {size = 0 : i64, align = 1024 : i64, extern}
ptx.entry @k(%0: !ptx.param<u64>, %1: !ptx.param<b8, 128, align 64>) attributes {maxntid = array<i32: 128, 1, 1>} {
  %2 = ptx.sreg {register = "tid.x"} -> !ptx.reg<b32>
  %3 = ptx.sreg {register = "ctaid.z"} -> !ptx.reg<b32>
  %4 = ptx.sreg {register = "nctaid.y"} -> !ptx.reg<b32>
  %5 = ptx.sreg {register = "laneid"} -> !ptx.reg<b32>
  %6 = ptx.sreg {register = "warpid"} -> !ptx.reg<b32>
  %7 = ptx.sreg {register = "clusterid.x"} -> !ptx.reg<b32>
  %8 = ptx.sreg {register = "cluster_ctaid.y"} -> !ptx.reg<b32>
  %9 = ptx.sreg {register = "cluster_ctarank"} -> !ptx.reg<b32>
  %10 = ptx.sreg {register = "cluster_nctarank"} -> !ptx.reg<b32>
  %11 = ptx.sreg {register = "clock64"} -> !ptx.reg<b64>
  %12 = ptx.sreg {register = "globaltimer"} -> !ptx.reg<b64>
  %13 = ptx.sreg {register = "dynamic_smem_size"} -> !ptx.reg<b32>
  %14 = ptx.sreg {register = "lanemask_lt"} -> !ptx.reg<b32>
  %15 = ptx.sreg {register = "smid"} -> !ptx.reg<b32>
  %16 = ptx.sreg {register = "is_explicit_cluster"} -> !ptx.reg<pred>
  %17 = ptx.ld_param %0 {type = "u64"} : !ptx.param<u64> -> !ptx.reg<b64>
  %18 = ptx.ld_param %1 {type = "b32", offset = 8 : i64} : !ptx.param<b8, 128, align 64> -> !ptx.reg<b32, 2>
  %19 = ptx.param_address %1 : !ptx.param<b8, 128, align 64> -> !ptx.reg<b64>
  %20 = ptx.cvta %17 {space = "global", direction = "to", type = "u64"} : !ptx.reg<b64> -> !ptx.reg<b64>
  %21 = ptx.cvta %20 {space = "global", type = "u64"} : !ptx.reg<b64> -> !ptx.reg<b64>
  %22 = ptx.address {variable = @smem} -> !ptx.reg<b32>
  %23 = ptx.address {variable = @smem} -> !ptx.reg<b64>
  %24 = ptx.cvt %22 {to = "u64", source = "u32"} : !ptx.reg<b32> -> !ptx.reg<b64>
  %25 = ptx.cvta %24 {space = "shared", type = "u64"} : !ptx.reg<b64> -> !ptx.reg<b64>
  ptx.ret
}

// PTX: .version 8.0
// PTX:      mov.u32 %r0, %tid.x;
// PTX-NEXT: mov.u32 %r1, %ctaid.z;
// PTX-NEXT: mov.u32 %r2, %nctaid.y;
// PTX-NEXT: mov.u32 %r3, %laneid;
// PTX-NEXT: mov.u32 %r4, %warpid;
// PTX-NEXT: mov.u32 %r5, %clusterid.x;
// PTX-NEXT: mov.u32 %r6, %cluster_ctaid.y;
// PTX-NEXT: mov.u32 %r7, %cluster_ctarank;
// PTX-NEXT: mov.u32 %r8, %cluster_nctarank;
// PTX-NEXT: mov.u64 %rd0, %clock64;
// PTX-NEXT: mov.u64 %rd1, %globaltimer;
// PTX-NEXT: mov.u32 %r9, %dynamic_smem_size;
// PTX-NEXT: mov.u32 %r10, %lanemask_lt;
// PTX-NEXT: mov.u32 %r11, %smid;
// PTX-NEXT: mov.pred %p0, %is_explicit_cluster;
// PTX-NEXT: ld.param.u64 %rd2, [k_param_0];
// PTX-NEXT: ld.param.v2.b32 {%r12, %r13}, [k_param_1+8];
// PTX-NEXT: mov.b64 %rd3, k_param_1;
// PTX-NEXT: cvta.param.u64 %rd3, %rd3;
// PTX-NEXT: cvta.to.global.u64 %rd4, %rd2;
// PTX-NEXT: cvta.global.u64 %rd5, %rd4;
// PTX-NEXT: mov.b32 %r14, smem;
// PTX-NEXT: mov.b64 %rd6, smem;
// PTX-NEXT: cvt.u64.u32 %rd7, %r14;
// PTX-NEXT: cvta.shared.u64 %rd8, %rd7;
// PTX-NEXT: ret;
