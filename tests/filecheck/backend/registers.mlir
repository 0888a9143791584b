// How values get registers: what flows into one another shares them, the rest is moved.

// RUN: tileas-opt %s -t ptx | filecheck %s

// An accumulator in a loop, 8 registers: no move between its products, and none on the way round.

// CHECK-LABEL: .entry accumulate
ptx.entry @accumulate(%n: !ptx.param<u32>) attributes {maxntid = array<i32: 128>} {
  %count = ptx.ld_param %n {type = "u32"} : !ptx.param<u32> -> !ptx.reg<b32>
  %d = ptx.undef -> !ptx.reg<b64>
  %s = ptx.address {variable = @smem} -> !ptx.reg<b32>
  %zero = ptx.const {value = 0} -> !ptx.reg<b32>
  %one = ptx.const {value = 1} -> !ptx.reg<b32>
  %acc = ptx.undef -> !ptx.reg<f32, 8>
  ptx.bra ^loop(%zero, %acc : !ptx.reg<b32>, !ptx.reg<f32, 8>)
// CHECK:      mov.b32 [[I:%r[0-9]+]], 0;
// CHECK-NEXT: $L1:
// CHECK-NEXT: setp.ne.u32 [[P:%p[0-9]+]], [[I]], 0;
// CHECK-NEXT: wgmma.mma_async{{.*}}.m64n16k16.f32.bf16.bf16 [[ACC:{.*}]], [[A:%rd[0-9]+]], [[A]], [[P]], 1, 1, 0, 0;
// CHECK-NEXT: mov.pred [[T:%p[0-9]+]], 1;
// CHECK-NEXT: wgmma.mma_async{{.*}} [[ACC]], [[A]], [[A]], [[T]], 1, 1, 0, 0;
// CHECK-NEXT: wgmma.wait_group.sync.aligned 1;
// CHECK-NEXT: add.u32 [[I]], [[I]], 1;
// CHECK-NEXT: setp.lt.u32 [[Q:%p[0-9]+]], [[I]], %r0;
// CHECK-NEXT: @[[Q]] bra.uni $L1;
// CHECK-NEXT: wgmma.wait_group.sync.aligned 0;
// CHECK-NEXT: st.shared.v4.f32
^loop(%i: !ptx.reg<b32>, %carried: !ptx.reg<f32, 8>):
  %more = ptx.setp %i, %zero {comparison = "ne", type = "u32"} : !ptx.reg<b32>, !ptx.reg<b32> -> !ptx.reg<pred>
  %true = ptx.const {value = 1} -> !ptx.reg<pred>
  %first = ptx.wgmma %carried, %d, %d, %more {type = "f32", a_type = "bf16", b_type = "bf16"} : !ptx.reg<f32, 8>, !ptx.reg<b64>, !ptx.reg<b64>, !ptx.reg<pred> -> !ptx.reg<f32, 8>
  %second = ptx.wgmma %first, %d, %d, %true {type = "f32", a_type = "bf16", b_type = "bf16"} : !ptx.reg<f32, 8>, !ptx.reg<b64>, !ptx.reg<b64>, !ptx.reg<pred> -> !ptx.reg<f32, 8>
  ptx.wgmma.wait_group {pending = 1}
  %next = ptx.add %i, %one {type = "u32"} : !ptx.reg<b32>, !ptx.reg<b32> -> !ptx.reg<b32>
  %again = ptx.setp %next, %count {comparison = "lt", type = "u32"} : !ptx.reg<b32>, !ptx.reg<b32> -> !ptx.reg<pred>
  ptx.cond_bra %again, ^loop(%next, %second : !ptx.reg<b32>, !ptx.reg<f32, 8>), ^end {uniform}
^end:
  %done = ptx.wgmma.wait_group values(%second) {pending = 0} : !ptx.reg<f32, 8> -> !ptx.reg<f32, 8>
  ptx.st %s, %done {type = "f32", space = "shared"} : !ptx.reg<b32>, !ptx.reg<f32, 8>
  ptx.ret
}

ptx.shared @smem {size = 1024, align = 1024}

// Two values swapped in a loop go through a third register, on the back edge.

// CHECK-LABEL: .entry exchange
ptx.entry @exchange(%out: !ptx.param<u64>) {
  %address = ptx.ld_param %out {type = "u64"} : !ptx.param<u64> -> !ptx.reg<b64>
  %x = ptx.sreg {register = "tid.x"} -> !ptx.reg<b32>
  %y = ptx.sreg {register = "tid.y"} -> !ptx.reg<b32>
  ptx.bra ^loop(%x, %y : !ptx.reg<b32>, !ptx.reg<b32>)
// CHECK:      $L1:
// CHECK-NEXT: setp.lt.u32 [[P:%p[0-9]+]], [[X:%r[0-9]+]], [[Y:%r[0-9]+]];
// CHECK-NEXT: @![[P]] bra $L2;
// CHECK-NEXT: mov.b32 [[T:%r[0-9]+]], [[X]];
// CHECK-NEXT: mov.b32 [[X]], [[Y]];
// CHECK-NEXT: mov.b32 [[Y]], [[T]];
// CHECK-NEXT: bra $L1;
// CHECK-NEXT: $L2:
^loop(%a: !ptx.reg<b32>, %b: !ptx.reg<b32>):
  %p = ptx.setp %a, %b {comparison = "lt", type = "u32"} : !ptx.reg<b32>, !ptx.reg<b32> -> !ptx.reg<pred>
  ptx.cond_bra %p, ^loop(%b, %a : !ptx.reg<b32>, !ptx.reg<b32>), ^end
^end:
  ptx.st %address, %a {type = "b32", space = "global"} : !ptx.reg<b64>, !ptx.reg<b32>
  ptx.ret
}

// An accumulator that is read later as well is copied: the product must not destroy it.

// CHECK-LABEL: .entry kept
ptx.entry @kept() {
  %d = ptx.undef -> !ptx.reg<b64>
  %p = ptx.undef -> !ptx.reg<pred>
  %s = ptx.address {variable = @smem} -> !ptx.reg<b32>
  %acc = ptx.ld %s {type = "f32", space = "shared"} : !ptx.reg<b32> -> !ptx.reg<f32, 4>
// CHECK:      ld.shared.v4.f32 {%f0, %f1, %f2, %f3}, [%r0];
// CHECK-NEXT: mov.f32 %f4, %f0;
// CHECK-NEXT: mov.f32 %f5, %f1;
// CHECK-NEXT: mov.f32 %f6, %f2;
// CHECK-NEXT: mov.f32 %f7, %f3;
// CHECK-NEXT: wgmma.mma_async{{.*}} {%f4, %f5, %f6, %f7},
  %sum = ptx.wgmma %acc, %d, %d, %p {type = "f32", a_type = "bf16", b_type = "bf16"} : !ptx.reg<f32, 4>, !ptx.reg<b64>, !ptx.reg<b64>, !ptx.reg<pred> -> !ptx.reg<f32, 4>
  %done = ptx.wgmma.wait_group values(%sum) {pending = 0} : !ptx.reg<f32, 4> -> !ptx.reg<f32, 4>
// CHECK:      st.shared.v4.f32 [%r0], {%f0, %f1, %f2, %f3};
// CHECK-NEXT: st.shared.v4.f32 [%r0+16], {%f4, %f5, %f6, %f7};
  ptx.st %s, %acc {type = "f32", space = "shared"} : !ptx.reg<b32>, !ptx.reg<f32, 4>
  ptx.st %s, %done {type = "f32", space = "shared", offset = 16} : !ptx.reg<b32>, !ptx.reg<f32, 4>
  ptx.ret
}

// A of the next product must not be loaded into registers that the running one still reads.

// CHECK-LABEL: .entry fragments
ptx.entry @fragments() {
  %d = ptx.undef -> !ptx.reg<b64>
  %p = ptx.undef -> !ptx.reg<pred>
  %s = ptx.address {variable = @smem} -> !ptx.reg<b32>
  %acc = ptx.undef -> !ptx.reg<f32, 4>
  %a = ptx.ldmatrix %s {shape = "m8n8", type = "b16", matrices = 4} : !ptx.reg<b32> -> !ptx.reg<b32, 4>
  ptx.bra ^loop(%a, %acc : !ptx.reg<b32, 4>, !ptx.reg<f32, 4>)
// CHECK:      $L1:
// CHECK-NEXT: wgmma.mma_async{{.*}} {{{.*}}}, [[A:{.*}]], %rd0, %p0, 1, 1, 0;
// CHECK-NEXT: ldmatrix.sync.aligned.m8n8.x4.shared.b16 {[[N:%r[0-9]+]],
// CHECK-NEXT: wgmma.wait_group.sync.aligned 0;
// CHECK-NEXT: @!%p0 bra $L2;
// CHECK-NEXT: mov.b32 {{.*}}, [[N]];
^loop(%x: !ptx.reg<b32, 4>, %carried: !ptx.reg<f32, 4>):
  %sum = ptx.wgmma %carried, %x, %d, %p {type = "f32", a_type = "bf16", b_type = "bf16"} : !ptx.reg<f32, 4>, !ptx.reg<b32, 4>, !ptx.reg<b64>, !ptx.reg<pred> -> !ptx.reg<f32, 4>
  %y = ptx.ldmatrix %s {shape = "m8n8", type = "b16", matrices = 4} : !ptx.reg<b32> -> !ptx.reg<b32, 4>
  %done = ptx.wgmma.wait_group values(%sum) {pending = 0} : !ptx.reg<f32, 4> -> !ptx.reg<f32, 4>
  ptx.cond_bra %p, ^loop(%y, %done : !ptx.reg<b32, 4>, !ptx.reg<f32, 4>), ^end
^end:
  ptx.ret
}
