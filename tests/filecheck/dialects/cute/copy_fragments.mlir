// Registers for one side of a copy; a type that is not written is inferred.

// RUN: tileas-opt %s | filecheck %s
// RUN: tileas-opt %s | tileas-opt | filecheck %s

// They are compact, in the order of a thread's part of the view.

!load = !cute_nvgpu.atom.universal_copy<f16, 128 b>
func.func @copied(%a: !cute.memref<f16, gmem, align<16>, "(8,2):(1,64)">) {
  %atom = cute.make_atom() : () -> !load
  %r = cute.copy.make_fragment(%atom, %a) <{operand_id = "D"}> : !cute.view
  func.return
}

// CHECK-LABEL: func.func @copied
// CHECK:         %r = cute.copy.make_fragment(%atom, %a) <{operand_id = "D"}> : (!load, !cute.memref<f16, gmem, align<16>, "(8,2):(1,64)">) -> !cute.memref<f16, rmem, "(8,2):(1,8)">

// A swizzle stays in memory.

!tiled = !cute.tiled_copy<!load, layout_copy_tv = <"(4,8):(8,1)">, tiler_mn = <"[32:1]">>
func.func @swizzled(%atom: !load, %s: !cute.memref<f16, smem, align<128>, S<3,4,3>, "((8),4):((1),32)">) {
  %tiled = cute.make_tiled_copy(%atom) : (!load) -> !tiled
  %r = cute.copy.make_fragment(%tiled, %s) <{operand_id = "S"}> : !cute.view
  func.return
}

// CHECK-LABEL: func.func @swizzled
// CHECK:         -> !cute.memref<f16, rmem, "((8),4):((1),8)">
