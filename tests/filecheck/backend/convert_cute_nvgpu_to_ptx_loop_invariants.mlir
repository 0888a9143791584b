// An address that an innermost loop does not change is computed in front of it as far as
// `registers_left` goes: more than that ptxas would spill.

// RUN: tileas-opt %s -p convert-cute-nvgpu-to-ptx | filecheck %s

func.func @left(%n: i32, %i: i32, %f: f32) attributes {cute.kernel, nvvm.reqntid = array<i32: 128, 1, 1>, tileas.smem_bytes = 1024 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %s = cute_nvgpu.arch.get_dyn_smem 0 -> !cute.ptr<f32, smem, align<16>>
  scf.for %k = %c0 to %n step %c1 : i32 {
    %0 = cute.add_offset %s, %i : !cute.ptr<f32, smem, align<16>>, i32 -> !cute.ptr<f32, smem>
    cute.ptr.store %f, %0 : f32, !cute.ptr<f32, smem>
  } {cute_nvgpu.registers_left = 0 : i32}
  scf.for %k = %c0 to %n step %c1 : i32 {
    %0 = cute.add_offset %s, %n : !cute.ptr<f32, smem, align<16>>, i32 -> !cute.ptr<f32, smem>
    cute.ptr.store %f, %0 : f32, !cute.ptr<f32, smem>
  } {cute_nvgpu.registers_left = 1 : i32}
  func.return
}

// CHECK-LABEL: ptx.entry @left
// CHECK:         ptx.cond_bra
// CHECK-NEXT:  ^bb2:
// CHECK-NEXT:    [[A:%[0-9]+]] = ptx.add
// CHECK-NEXT:    ptx.st [[A]]
// CHECK:       ^bb3:
// CHECK-NEXT:    [[B:%[0-9]+]] = ptx.add
// CHECK-NEXT:    ptx.bra ^bb4
// CHECK:       ^bb5:
// CHECK-NEXT:    ptx.st [[B]]
