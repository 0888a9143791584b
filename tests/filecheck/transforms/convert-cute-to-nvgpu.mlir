// Views, copies and products by atoms become pointers, fragments and instructions.

// RUN: tileas-opt %s -p convert-cute-to-nvgpu,canonicalize,cse | filecheck %s

// A view is a pointer; what a thread has of it is one access as wide as the atom.

func.func @copy(%a: !cute.memref<f16, gmem, align<16>, "(128,8):(8,1)">, %b: !cute.memref<f16, gmem, align<16>, "(128,8):(8,1)">) {
  %t = cute_nvgpu.arch.thread_idx "x"
  %atom = cute.make_atom() : () -> !cute_nvgpu.atom.universal_copy<f16, 128 b>
  %coord = cute.make_coord(%t) : (i32) -> !cute.coord<"(?,_)">
  %mine = cute.slice(%a, %coord) : !cute.view
  %yours = cute.slice(%b, %coord) : !cute.view
  %r = cute.make_fragment_like(%mine) : !cute.view
  cute.copy_atom_call(%atom, %mine, %r) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}>
  cute.copy_atom_call(%atom, %r, %yours) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}>
  func.return
}

// CHECK-LABEL:  func.func @copy(%a: !cute.ptr<f16, gmem, align<16>>, %b: !cute.ptr<f16, gmem, align<16>>) {
// CHECK-NEXT:    %t = cute_nvgpu.arch.thread_idx "x"
// CHECK-NEXT:    %0 = arith.constant 8 : i32
// CHECK-NEXT:    %1 = arith.muli %t, %0 : i32
// CHECK-NEXT:    %2 = cute.add_offset %a, %1 : !cute.ptr<f16, gmem, align<16>>, i32 -> !cute.ptr<f16, gmem, align<16>>
// CHECK-NEXT:    %3 = cute.add_offset %b, %1 : !cute.ptr<f16, gmem, align<16>>, i32 -> !cute.ptr<f16, gmem, align<16>>
// CHECK-NEXT:    %4 = cute.ptr.load %2 : !cute.ptr<f16, gmem, align<16>> -> vector<8xf16>
// CHECK-NEXT:    cute.ptr.store %4, %3 : vector<8xf16>, !cute.ptr<f16, gmem, align<16>>
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }

// What run time knows of a layout are arguments behind the pointer; kernels say so to a launch.

func.func @open(%a: !cute.memref<f32, gmem, "(?,?):(?,1)">, %x: f32) attributes {cute.kernel} {
  %t = cute_nvgpu.arch.thread_idx "x"
  %coord = cute.make_coord(%t, %t) : (i32, i32) -> !cute.coord<"(?,?)">
  cute.memref.store(%a, %coord, %x)
  func.return
}

// CHECK-LABEL:  func.func @open(%a: !cute.ptr<f32, gmem>, %a_1: i32, %a_2: i32, %a_3: i32, %x: f32) attributes {cute.kernel, tileas.smem_bytes = 0 : i32, tileas.parameters = ["ptr 0", "size 0 0", "size 0 1", "stride 0 0", "scalar 1"], tileas.tensor_maps = [], tileas.smem_map = ""} {
// CHECK-NEXT:    %t = cute_nvgpu.arch.thread_idx "x"
// CHECK-NEXT:    %0 = arith.muli %t, %a_3 : i32
// CHECK-NEXT:    %1 = arith.addi %0, %t : i32
// CHECK-NEXT:    %2 = cute.add_offset %a, %1 : !cute.ptr<f32, gmem>, i32 -> !cute.ptr<f32, gmem>
// CHECK-NEXT:    cute.ptr.store %x, %2 : f32, !cute.ptr<f32, gmem>
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }

// A swizzle exchanges bits of the address.

func.func @swizzled(%x: vector<8xf16>) {
  %s = cute.memref.alloc_smem() : () -> !cute.memref<f16, smem, align<128>, S<3,4,3>, "(8):(1)">
  cute.memref.store_vec(%x, %s)
  func.return
}

// CHECK-LABEL:  func.func @swizzled(%x: vector<8xf16>) {
// CHECK-NEXT:    %0 = cute_nvgpu.arch.get_dyn_smem 0 -> !cute.ptr<f16, smem, align<128>, S<3,4,3>>
// CHECK-NEXT:    %1 = cute.ptrtoint %0 : !cute.ptr<f16, smem, align<128>, S<3,4,3>> -> i32
// CHECK-NEXT:    %2 = arith.constant 896 : i32
// CHECK-NEXT:    %3 = arith.constant 3 : i32
// CHECK-NEXT:    %4 = arith.andi %1, %2 : i32
// CHECK-NEXT:    %5 = arith.shrui %4, %3 : i32
// CHECK-NEXT:    %6 = arith.xori %1, %5 : i32
// CHECK-NEXT:    %7 = cute.inttoptr %6 : i32 -> !cute.ptr<f16, smem, align<16>>
// CHECK-NEXT:    cute.ptr.store %x, %7 : vector<8xf16>, !cute.ptr<f16, smem, align<16>>
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }

// Loops carry the registers that they write, branches give them.

func.func @carried(%n: index, %p: i1, %x: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = cute.memref.alloca() : () -> !cute.memref<f32, rmem, "(2):(1)">
  %first = cute.static : !cute.coord<"0">
  %second = cute.static : !cute.coord<"1">
  cute.memref.store(%r, %first, %x)
  scf.for %i = %c0 to %n step %c1 {
    scf.if %p {
      cute.memref.store(%r, %second, %x)
    }
  }
  %y = cute.memref.load(%r, %second) : f32
  func.return %y : f32
}

// CHECK-LABEL:  func.func @carried(%n: index, %p: i1, %x: f32) -> f32 {
// CHECK-NEXT:    %c0 = arith.constant 0 : index
// CHECK-NEXT:    %c1 = arith.constant 1 : index
// CHECK-NEXT:    %0 = cute.fragment.undef : vector<2xf32>
// CHECK-NEXT:    %1 = cute.fragment.make %x : f32 -> vector<1xf32>
// CHECK-NEXT:    %2 = cute.fragment.slice %0[1] : vector<2xf32> -> vector<1xf32>
// CHECK-NEXT:    %3 = cute.fragment.make %1, %2 : vector<1xf32>, vector<1xf32> -> vector<2xf32>
// CHECK-NEXT:    %4 = scf.for %i = %c0 to %n step %c1 iter_args(%5 = %3) -> (vector<2xf32>) {
// CHECK-NEXT:      %6 = scf.if %p -> (vector<2xf32>) {
// CHECK-NEXT:        %7 = cute.fragment.slice %5[0] : vector<2xf32> -> vector<1xf32>
// CHECK-NEXT:        %8 = cute.fragment.make %7, %1 : vector<1xf32>, vector<1xf32> -> vector<2xf32>
// CHECK-NEXT:        scf.yield %8 : vector<2xf32>
// CHECK-NEXT:      } else {
// CHECK-NEXT:        scf.yield %5 : vector<2xf32>
// CHECK-NEXT:      }
// CHECK-NEXT:      scf.yield %6 : vector<2xf32>
// CHECK-NEXT:    }
// CHECK-NEXT:    %9 = cute.fragment.slice %4[1] : vector<2xf32> -> vector<1xf32>
// CHECK-NEXT:    %y = vector.extract %9[0] : f32 from vector<1xf32>
// CHECK-NEXT:    func.return %y : f32
// CHECK-NEXT:  }

// Matrices of 8x8, a lane giving a row.

func.func @matrices(%s: !cute.ptr<f16, smem, align<16>>) -> vector<8xf16> {
  %atom = cute.make_atom() : () -> !cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, t>
  %row = cute.static : !cute.layout<"(8):(1)">
  %rows = cute.make_view(%s, %row) : !cute.view
  %r = cute.memref.alloca() : () -> !cute.memref<f16, rmem, "(8):(1)">
  cute.copy_atom_call(%atom, %rows, %r) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}>
  %v = cute.memref.load_vec(%r) : vector<8xf16>
  func.return %v : vector<8xf16>
}

// CHECK-LABEL:  func.func @matrices(%s: !cute.ptr<f16, smem, align<16>>) -> vector<8xf16> {
// CHECK-NEXT:    %v = cute_nvgpu.arch.copy.ldsm %s matrices 4 transpose : !cute.ptr<f16, smem, align<16>> -> vector<8xf16>
// CHECK-NEXT:    func.return %v : vector<8xf16>
// CHECK-NEXT:  }

// A product of a warp, in place.

func.func @product(%x: vector<8xf16>, %y: vector<4xf16>, %z: vector<4xf32>) -> vector<4xf32> {
  %atom = cute.make_atom() : () -> !cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >
  %a = cute.memref.alloca() : () -> !cute.memref<f16, rmem, "(8):(1)">
  %b = cute.memref.alloca() : () -> !cute.memref<f16, rmem, "(4):(1)">
  %c = cute.memref.alloca() : () -> !cute.memref<f32, rmem, "(4):(1)">
  cute.memref.store_vec(%x, %a)
  cute.memref.store_vec(%y, %b)
  cute.memref.store_vec(%z, %c)
  cute.mma_atom_call(%atom, %c, %a, %b, %c) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1>}>
  %d = cute.memref.load_vec(%c) : vector<4xf32>
  func.return %d : vector<4xf32>
}

// CHECK-LABEL:  func.func @product(%x: vector<8xf16>, %y: vector<4xf16>, %z: vector<4xf32>) -> vector<4xf32> {
// CHECK-NEXT:    %d = cute_nvgpu.arch.mma.SM80 %x, %y, %z shape [16, 8, 16] elements "f16", "f16" : vector<8xf16>, vector<4xf16>, vector<4xf32> -> vector<4xf32>
// CHECK-NEXT:    func.return %d : vector<4xf32>
// CHECK-NEXT:  }

// Floats of 8 bits have an instruction of their own.

func.func @bytes(%x: vector<16xf8E4M3FN>, %y: vector<8xf8E5M2>, %z: vector<4xf32>) -> vector<4xf32> {
  %atom = cute.make_atom() : () -> !cute_nvgpu.sm89.mma<16x8x32, elem_type = (f8E4M3FN, f8E5M2, f32) >
  %a = cute.memref.alloca() : () -> !cute.memref<f8E4M3FN, rmem, "(16):(1)">
  %b = cute.memref.alloca() : () -> !cute.memref<f8E5M2, rmem, "(8):(1)">
  %c = cute.memref.alloca() : () -> !cute.memref<f32, rmem, "(4):(1)">
  cute.memref.store_vec(%x, %a)
  cute.memref.store_vec(%y, %b)
  cute.memref.store_vec(%z, %c)
  cute.mma_atom_call(%atom, %c, %a, %b, %c) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1>}>
  %d = cute.memref.load_vec(%c) : vector<4xf32>
  func.return %d : vector<4xf32>
}

// CHECK-LABEL:  func.func @bytes(
// CHECK-NEXT:    %d = cute_nvgpu.arch.mma.SM89 %x, %y, %z shape [16, 8, 32] elements "e4m3", "e5m2" : vector<16xf8E4M3FN>, vector<8xf8E5M2>, vector<4xf32> -> vector<4xf32>
// CHECK-NEXT:    func.return %d : vector<4xf32>
