// Matrices between registers and shared memory.

// RUN: tileas-opt %s -t 'ptx{arch=sm_90a}' | filecheck %s --check-prefix PTX

ptx.shared @smem {size = 0 : i64, align = 1024 : i64, extern}
ptx.entry @k(%0: !ptx.param<u64>, %1: !ptx.param<b8, 128, align 64>) attributes {maxntid = array<i32: 128, 1, 1>} {
  %2 = ptx.undef -> !ptx.reg<b32>
  %3 = ptx.ldmatrix %2 {shape = "m8n8", type = "b16", matrices = 4 : i64} : !ptx.reg<b32> -> !ptx.reg<b32, 4>
  %4 = ptx.ldmatrix %2 {shape = "m8n8", type = "b16", matrices = 2 : i64, trans, offset = 64 : i64} : !ptx.reg<b32> -> !ptx.reg<b32, 2>
  %5 = ptx.ldmatrix %2 {shape = "m8n8", type = "b16", matrices = 1 : i64} : !ptx.reg<b32> -> !ptx.reg<b32>
  ptx.stmatrix %2, %3 {shape = "m8n8", type = "b16", offset = 16 : i64} : !ptx.reg<b32>, !ptx.reg<b32, 4>
  %6 = ptx.extract %3 {start = 0 : i64} : !ptx.reg<b32, 4> -> !ptx.reg<b32, 2>
  ptx.stmatrix %2, %6 {shape = "m8n8", type = "b16", trans} : !ptx.reg<b32>, !ptx.reg<b32, 2>
  %7 = ptx.extract %3 {start = 1 : i64} : !ptx.reg<b32, 4> -> !ptx.reg<b32>
  ptx.stmatrix %2, %7 {shape = "m8n8", type = "b16"} : !ptx.reg<b32>, !ptx.reg<b32>
  ptx.ret
}

// PTX: .version 8.0
// PTX:      ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r1, %r2, %r3, %r4}, [%r0];
// PTX-NEXT: ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%r5, %r6}, [%r0+64];
// PTX-NEXT: ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r7}, [%r0];
// PTX-NEXT: stmatrix.sync.aligned.m8n8.x4.shared::cta.b16 [%r0+16], {%r1, %r2, %r3, %r4};
// PTX-NEXT: stmatrix.sync.aligned.m8n8.x2.trans.shared::cta.b16 [%r0], {%r1, %r2};
// PTX-NEXT: stmatrix.sync.aligned.m8n8.x1.shared::cta.b16 [%r0], {%r2};
// PTX-NEXT: ret;
