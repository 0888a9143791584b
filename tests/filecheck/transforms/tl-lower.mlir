// Laid-out tl programs lowered to the threads of a block, smallest first.

// RUN: tileas-opt %s -p tl-lower,canonicalize,cse --split-input-file | filecheck %s

// Each thread has four neighbours of a line: one access of 16 bytes loads them, one stores them.

func.func @line(%A: memref<256xf32>, %B: memref<256xf32>) {
  tl.kernel threads(64) {
    %f = tl.alloc_fragment {layout = #tl.fragment<affine_map<(d0) -> (d0 floordiv 4, d0 mod 4)>>}
        : memref<256xf32, #tl<space fragment>>
    tl.copy %A to %f : memref<256xf32> to memref<256xf32, #tl<space fragment>>
    tl.copy %f to %B : memref<256xf32, #tl<space fragment>> to memref<256xf32>
  }
  func.return
}

// CHECK-LABEL: func.func @line(%ptr: !cute.ptr<f32, gmem, align<16>>, %ptr_1: !cute.ptr<f32, gmem, align<16>>) attributes {cute.kernel, nvvm.reqntid = array<i32: 64, 1, 1>, nvvm.minctasm = 1 : i32, tileas.smem_bytes = 0 : i32, tileas.parameters = ["ptr 0", "ptr 1"], tileas.tensor_maps = [], tileas.smem_map = "       0 bytes in all"} {
// CHECK-NEXT:    %0 = cute_nvgpu.arch.lane_idx
// CHECK-NEXT:    %1 = cute_nvgpu.arch.warp_idx
// CHECK-NEXT:    %2 = arith.constant 4 : i32
// CHECK-NEXT:    %3 = arith.muli %0, %2 : i32
// CHECK-NEXT:    %4 = arith.constant 128 : i32
// CHECK-NEXT:    %5 = arith.muli %1, %4 : i32
// CHECK-NEXT:    %6 = arith.addi %3, %5 : i32
// CHECK-NEXT:    %7 = arith.index_cast %6 : i32 to index
// CHECK-NEXT:    %8 = cute.add_offset %ptr, %7 : !cute.ptr<f32, gmem, align<16>>, index -> !cute.ptr<f32, gmem, align<16>>
// CHECK-NEXT:    %9 = cute.ptr.load %8 : !cute.ptr<f32, gmem, align<16>> -> vector<4xf32>
// CHECK-NEXT:    %10 = cute.add_offset %ptr_1, %7 : !cute.ptr<f32, gmem, align<16>>, index -> !cute.ptr<f32, gmem, align<16>>
// CHECK-NEXT:    cute.ptr.store %9, %10 : vector<4xf32>, !cute.ptr<f32, gmem, align<16>>
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }

// -----

// A loop that four of 64 threads run: `thread % 16 == 0` guards what they store, since the owners
// of its iterations are threads 0, 16, 32 and 48.

func.func @article(%A: memref<4x16xf32>, %B: memref<4xf32>) {
  tl.kernel threads(64) {
    %zero = arith.constant 0 : index
    %f = tl.alloc_fragment {layout = #tl.fragment<affine_map<(d0, d1) -> (d0 * 16 + d1, 0)>>}
        : memref<4x16xf32, #tl<space fragment>>
    tl.copy %A to %f : memref<4x16xf32> to memref<4x16xf32, #tl<space fragment>>
    tl.parallel (%g, %r) in (2, 2)
        attributes {layout = #tl.fragment<affine_map<(d0, d1) -> (d0 * 32 + d1 * 16, 0)>>} {
      %row = affine.apply affine_map<(d0, d1) -> (d0 * 2 + d1)> (%g, %r)
      %x = memref.load %f[%row, %zero] : memref<4x16xf32, #tl<space fragment>>
      memref.store %x, %B[%row] : memref<4xf32>
    }
  }
  func.return
}

// CHECK-LABEL: func.func @article(%ptr: !cute.ptr<f32, gmem, align<16>>, %ptr_1: !cute.ptr<f32, gmem, align<16>>) attributes {cute.kernel, nvvm.reqntid = array<i32: 64, 1, 1>, nvvm.minctasm = 1 : i32, tileas.smem_bytes = 0 : i32, tileas.parameters = ["ptr 0", "ptr 1"], tileas.tensor_maps = [], tileas.smem_map = "       0 bytes in all"} {
// CHECK-NEXT:    %0 = cute_nvgpu.arch.lane_idx
// CHECK-NEXT:    %1 = cute_nvgpu.arch.warp_idx
// CHECK-NEXT:    %2 = arith.constant 32 : i32
// CHECK-NEXT:    %3 = arith.muli %1, %2 : i32
// CHECK-NEXT:    %4 = arith.addi %0, %3 : i32
// CHECK-NEXT:    %5 = arith.index_cast %4 : i32 to index
// CHECK-NEXT:    %6 = cute.add_offset %ptr, %5 : !cute.ptr<f32, gmem, align<16>>, index -> !cute.ptr<f32, gmem>
// CHECK-NEXT:    %7 = cute.ptr.load %6 : !cute.ptr<f32, gmem> -> f32
// CHECK-NEXT:    %8 = cute.fragment.make %7 : f32 -> vector<1xf32>
// CHECK-NEXT:    %9 = vector.extract %8[0] : f32 from vector<1xf32>
// CHECK-NEXT:    %10 = arith.constant 4 : i32
// CHECK-NEXT:    %11 = arith.shrui %0, %10 : i32
// CHECK-NEXT:    %12 = arith.constant 2 : i32
// CHECK-NEXT:    %13 = arith.muli %1, %12 : i32
// CHECK-NEXT:    %14 = arith.addi %11, %13 : i32
// CHECK-NEXT:    %15 = arith.index_cast %14 : i32 to index
// CHECK-NEXT:    %16 = cute.add_offset %ptr_1, %15 : !cute.ptr<f32, gmem, align<16>>, index -> !cute.ptr<f32, gmem>
// CHECK-NEXT:    %17 = arith.constant 15 : i32
// CHECK-NEXT:    %18 = arith.andi %0, %17 : i32
// CHECK-NEXT:    %19 = arith.constant 0 : i32
// CHECK-NEXT:    %20 = arith.cmpi eq, %18, %19 : i32
// CHECK-NEXT:    cute.ptr.store %9, %16 if %20 : f32, !cute.ptr<f32, gmem>
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }

// -----

// Swizzled shared memory; threads synchronise between writes and reads.

func.func @shared(%A: memref<8x32xf32>, %B: memref<8x32xf32>) {
  tl.kernel threads(32) {
    %s = tl.alloc_shared {layout = #tl.shared<"S<3,4,3> o 0 o (8,32):(128,4)">}
        : memref<8x32xf32, #tl<space shared>>
    tl.copy %A to %s : memref<8x32xf32> to memref<8x32xf32, #tl<space shared>>
    tl.parallel (%i, %j) in (8, 4) attributes {layout = #tl.fragment<
        affine_map<(d0, d1) -> (d0 * 4 + d1, 0)>>} {
      %v = memref.load %s[%i, %j] : memref<8x32xf32, #tl<space shared>>
      memref.store %v, %B[%i, %j] : memref<8x32xf32>
    }
  }
  func.return
}

// CHECK-LABEL: func.func @shared(%ptr: !cute.ptr<f32, gmem, align<16>>, %ptr_1: !cute.ptr<f32, gmem, align<16>>) attributes {cute.kernel, nvvm.reqntid = array<i32: 32, 1, 1>, nvvm.minctasm = 1 : i32, tileas.smem_bytes = 1024 : i32, tileas.parameters = ["ptr 0", "ptr 1"], tileas.tensor_maps = [], tileas.smem_map = "       0 .. 1024     s                8x32 f32, S<3,4,3> o 0 o (8,32):(128,4)\0A    1024 bytes in all"} {
// CHECK-NEXT:    %0 = cute_nvgpu.arch.lane_idx
// CHECK-NEXT:    %1 = arith.constant 4 : i32
// CHECK-NEXT:    %2 = arith.muli %0, %1 : i32
// CHECK-NEXT:    %3 = arith.index_cast %2 : i32 to index
// CHECK-NEXT:    %4 = cute.add_offset %ptr, %3 : !cute.ptr<f32, gmem, align<16>>, index -> !cute.ptr<f32, gmem, align<16>>
// CHECK-NEXT:    %5 = cute.ptr.load %4 : !cute.ptr<f32, gmem, align<16>> -> vector<4xf32>
// CHECK-NEXT:    %6 = cute.ptr.load %4 offset 128 : !cute.ptr<f32, gmem, align<16>> -> vector<4xf32>
// CHECK-NEXT:    %7 = cute.fragment.make %5, %6 : vector<4xf32>, vector<4xf32> -> vector<8xf32>
// CHECK-NEXT:    %8 = cute_nvgpu.arch.get_dyn_smem 0 -> !cute.ptr<i8, smem, align<1024>>
// CHECK-NEXT:    %9 = cute.recast_iter %8 : !cute.ptr<i8, smem, align<1024>> -> !cute.ptr<f32, smem, align<1024>>
// CHECK-NEXT:    %10 = cute.fragment.slice %7[0] : vector<8xf32> -> vector<4xf32>
// CHECK-NEXT:    %11 = arith.constant 3 : i32
// CHECK-NEXT:    %12 = arith.shrui %0, %11 : i32
// CHECK-NEXT:    %13 = arith.muli %12, %1 : i32
// CHECK-NEXT:    %14 = arith.xori %13, %2 : i32
// CHECK-NEXT:    %15 = arith.index_cast %14 : i32 to index
// CHECK-NEXT:    %16 = cute.add_offset %9, %15 : !cute.ptr<f32, smem, align<1024>>, index -> !cute.ptr<f32, smem, align<16>>
// CHECK-NEXT:    cute.ptr.store %10, %16 : vector<4xf32>, !cute.ptr<f32, smem, align<16>>
// CHECK-NEXT:    %17 = cute.fragment.slice %7[4] : vector<8xf32> -> vector<4xf32>
// CHECK-NEXT:    %18 = arith.constant 16 : i32
// CHECK-NEXT:    %19 = arith.xori %14, %18 : i32
// CHECK-NEXT:    %20 = arith.index_cast %19 : i32 to index
// CHECK-NEXT:    %21 = cute.add_offset %9, %20 : !cute.ptr<f32, smem, align<1024>>, index -> !cute.ptr<f32, smem, align<16>>
// CHECK-NEXT:    cute.ptr.store %17, %21 offset 128 : vector<4xf32>, !cute.ptr<f32, smem, align<16>>
// CHECK-NEXT:    cute_nvgpu.arch.barrier id 0
// CHECK-NEXT:    %22 = arith.andi %0, %11 : i32
// CHECK-NEXT:    %23 = arith.constant 2 : i32
// CHECK-NEXT:    %24 = arith.shrui %0, %23 : i32
// CHECK-NEXT:    %25 = arith.constant 36 : i32
// CHECK-NEXT:    %26 = arith.muli %24, %25 : i32
// CHECK-NEXT:    %27 = arith.addi %22, %26 : i32
// CHECK-NEXT:    %28 = arith.index_cast %27 : i32 to index
// CHECK-NEXT:    %29 = cute.add_offset %9, %28 : !cute.ptr<f32, smem, align<1024>>, index -> !cute.ptr<f32, smem>
// CHECK-NEXT:    %30 = cute.ptr.load %29 : !cute.ptr<f32, smem> -> f32
// CHECK-NEXT:    %31 = arith.constant 32 : i32
// CHECK-NEXT:    %32 = arith.muli %24, %31 : i32
// CHECK-NEXT:    %33 = arith.addi %22, %32 : i32
// CHECK-NEXT:    %34 = arith.index_cast %33 : i32 to index
// CHECK-NEXT:    %35 = cute.add_offset %ptr_1, %34 : !cute.ptr<f32, gmem, align<16>>, index -> !cute.ptr<f32, gmem>
// CHECK-NEXT:    cute.ptr.store %30, %35 : f32, !cute.ptr<f32, gmem>
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }

// -----

// Rows that lanes share: in the thread first, then by shuffles; all lanes of a row get its sum.

func.func @rows(%A: memref<16x4xf32>, %B: memref<16xf32>) {
  tl.kernel threads(32) {
    %f = tl.alloc_fragment {layout = #tl.fragment<
        affine_map<(d0, d1) -> (d0 * 2 + d1 floordiv 2, d1 mod 2)>>}
        : memref<16x4xf32, #tl<space fragment>>
    %s = tl.alloc_fragment {layout = #tl.fragment<
        affine_map<(d0)[s0] -> (d0 * 2 + s0, 0)>, replicas = 2>}
        : memref<16xf32, #tl<space fragment>>
    tl.copy %A to %f : memref<16x4xf32> to memref<16x4xf32, #tl<space fragment>>
    tl.reduce sum %f to %s axis 1
        : memref<16x4xf32, #tl<space fragment>> to memref<16xf32, #tl<space fragment>>
    tl.copy %s to %B : memref<16xf32, #tl<space fragment>> to memref<16xf32>
  }
  func.return
}

// CHECK-LABEL: func.func @rows(%ptr: !cute.ptr<f32, gmem, align<16>>, %ptr_1: !cute.ptr<f32, gmem, align<16>>) attributes {cute.kernel, nvvm.reqntid = array<i32: 32, 1, 1>, nvvm.minctasm = 1 : i32, tileas.smem_bytes = 0 : i32, tileas.parameters = ["ptr 0", "ptr 1"], tileas.tensor_maps = [], tileas.smem_map = "       0 bytes in all"} {
// CHECK-NEXT:    %0 = cute_nvgpu.arch.lane_idx
// CHECK-NEXT:    %1 = arith.constant 2 : i32
// CHECK-NEXT:    %2 = arith.muli %0, %1 : i32
// CHECK-NEXT:    %3 = arith.index_cast %2 : i32 to index
// CHECK-NEXT:    %4 = cute.add_offset %ptr, %3 : !cute.ptr<f32, gmem, align<16>>, index -> !cute.ptr<f32, gmem, align<8>>
// CHECK-NEXT:    %5 = cute.ptr.load %4 : !cute.ptr<f32, gmem, align<8>> -> vector<2xf32>
// CHECK-NEXT:    %6 = vector.extract %5[0] : f32 from vector<2xf32>
// CHECK-NEXT:    %7 = vector.extract %5[1] : f32 from vector<2xf32>
// CHECK-NEXT:    %8 = arith.addf %6, %7 : f32
// CHECK-NEXT:    %9 = cute_nvgpu.arch.shuffle "bfly" %8 by 1 : f32 -> f32
// CHECK-NEXT:    %10 = arith.addf %8, %9 : f32
// CHECK-NEXT:    %11 = cute.fragment.make %10 : f32 -> vector<1xf32>
// CHECK-NEXT:    %12 = vector.extract %11[0] : f32 from vector<1xf32>
// CHECK-NEXT:    %13 = arith.constant 1 : i32
// CHECK-NEXT:    %14 = arith.shrui %0, %13 : i32
// CHECK-NEXT:    %15 = arith.index_cast %14 : i32 to index
// CHECK-NEXT:    %16 = cute.add_offset %ptr_1, %15 : !cute.ptr<f32, gmem, align<16>>, index -> !cute.ptr<f32, gmem>
// CHECK-NEXT:    %17 = arith.andi %0, %13 : i32
// CHECK-NEXT:    %18 = arith.constant 0 : i32
// CHECK-NEXT:    %19 = arith.cmpi eq, %17, %18 : i32
// CHECK-NEXT:    cute.ptr.store %12, %16 if %19 : f32, !cute.ptr<f32, gmem>
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }

// -----

// A loop of the block carries the registers that its body writes; what is out of bounds reads as 0.

func.func @sums(%A: memref<100xf32>, %B: memref<32xf32>) {
  tl.kernel threads(32) {
    %c0 = arith.constant 0 : index
    %c4 = arith.constant 4 : index
    %zero = arith.constant 0.0 : f32
    %f = tl.alloc_fragment {layout = #tl.fragment<affine_map<(d0) -> (d0, 0)>>}
        : memref<32xf32, #tl<space fragment>>
    tl.fill %f, %zero : memref<32xf32, #tl<space fragment>>
    tl.serial %k = %c0 to %c4 {
      tl.parallel (%i) in (32)
          attributes {layout = #tl.fragment<affine_map<(d0) -> (d0, 0)>>} {
        %at = affine.apply affine_map<(d0)[s0] -> (s0 * 32 + d0)> (%i)[%k]
        %v = memref.load %A[%at] : memref<100xf32>
        %old = memref.load %f[%i] : memref<32xf32, #tl<space fragment>>
        %new = arith.addf %old, %v : f32
        memref.store %new, %f[%i] : memref<32xf32, #tl<space fragment>>
      }
    }
    tl.copy %f to %B : memref<32xf32, #tl<space fragment>> to memref<32xf32>
  }
  func.return
}

// CHECK-LABEL: func.func @sums(%ptr: !cute.ptr<f32, gmem, align<16>>, %ptr_1: !cute.ptr<f32, gmem, align<16>>) attributes {cute.kernel, nvvm.reqntid = array<i32: 32, 1, 1>, nvvm.minctasm = 1 : i32, tileas.smem_bytes = 0 : i32, tileas.parameters = ["ptr 0", "ptr 1"], tileas.tensor_maps = [], tileas.smem_map = "       0 bytes in all"} {
// CHECK-NEXT:    %0 = cute_nvgpu.arch.lane_idx
// CHECK-NEXT:    %1 = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:    %2 = cute.fragment.make %1 : f32 -> vector<1xf32>
// CHECK-NEXT:    %3 = arith.constant 1 : index
// CHECK-NEXT:    %4 = arith.constant 0 : index
// CHECK-NEXT:    %5 = arith.constant 4 : index
// CHECK-NEXT:    %6 = arith.constant 32 : index
// CHECK-NEXT:    %7 = arith.constant 100 : index
// CHECK-NEXT:    %8 = scf.for %9 = %4 to %5 step %3 iter_args(%10 = %2) -> (vector<1xf32>) {
// CHECK-NEXT:      %11 = arith.muli %9, %6 : index
// CHECK-NEXT:      %12 = arith.index_cast %0 : i32 to index
// CHECK-NEXT:      %13 = arith.addi %12, %11 : index
// CHECK-NEXT:      %14 = cute.add_offset %ptr, %13 : !cute.ptr<f32, gmem, align<16>>, index -> !cute.ptr<f32, gmem>
// CHECK-NEXT:      %15 = arith.cmpi ult, %13, %7 : index
// CHECK-NEXT:      %16 = cute.ptr.load %14 if %15 : !cute.ptr<f32, gmem> -> f32
// CHECK-NEXT:      %17 = vector.extract %10[0] : f32 from vector<1xf32>
// CHECK-NEXT:      %18 = arith.addf %17, %16 : f32
// CHECK-NEXT:      %19 = cute.fragment.make %18 : f32 -> vector<1xf32>
// CHECK-NEXT:      scf.yield %19 : vector<1xf32>
// CHECK-NEXT:    }
// CHECK-NEXT:    %20 = vector.extract %8[0] : f32 from vector<1xf32>
// CHECK-NEXT:    %21 = arith.index_cast %0 : i32 to index
// CHECK-NEXT:    %22 = cute.add_offset %ptr_1, %21 : !cute.ptr<f32, gmem, align<16>>, index -> !cute.ptr<f32, gmem>
// CHECK-NEXT:    cute.ptr.store %20, %22 : f32, !cute.ptr<f32, gmem>
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }

// -----

// Many iterations of a thread are a loop of accesses, here of four elements.

func.func @many(%A: memref<128x128xf32>, %B: memref<128x128xf32>) {
  tl.kernel threads(32) {
    tl.copy %A to %B : memref<128x128xf32> to memref<128x128xf32>
  }
  func.return
}

// CHECK-LABEL: func.func @many(%ptr: !cute.ptr<f32, gmem, align<16>>, %ptr_1: !cute.ptr<f32, gmem, align<16>>) attributes {cute.kernel, nvvm.reqntid = array<i32: 32, 1, 1>, nvvm.minctasm = 1 : i32, tileas.smem_bytes = 0 : i32, tileas.parameters = ["ptr 0", "ptr 1"], tileas.tensor_maps = [], tileas.smem_map = "       0 bytes in all"} {
// CHECK-NEXT:    %0 = cute_nvgpu.arch.lane_idx
// CHECK-NEXT:    %1 = arith.constant 0 : index
// CHECK-NEXT:    %2 = arith.constant 128 : index
// CHECK-NEXT:    %3 = arith.constant 1 : index
// CHECK-NEXT:    %4 = arith.constant 4 : i32
// CHECK-NEXT:    scf.for %5 = %1 to %2 step %3 {
// CHECK-NEXT:      %6 = arith.muli %5, %2 : index
// CHECK-NEXT:      %7 = arith.muli %0, %4 : i32
// CHECK-NEXT:      %8 = arith.index_cast %7 : i32 to index
// CHECK-NEXT:      %9 = arith.addi %8, %6 : index
// CHECK-NEXT:      %10 = cute.add_offset %ptr, %9 : !cute.ptr<f32, gmem, align<16>>, index -> !cute.ptr<f32, gmem, align<16>>
// CHECK-NEXT:      %11 = cute.ptr.load %10 : !cute.ptr<f32, gmem, align<16>> -> vector<4xf32>
// CHECK-NEXT:      %12 = cute.add_offset %ptr_1, %9 : !cute.ptr<f32, gmem, align<16>>, index -> !cute.ptr<f32, gmem, align<16>>
// CHECK-NEXT:      cute.ptr.store %11, %12 : vector<4xf32>, !cute.ptr<f32, gmem, align<16>>
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }

// -----

// A fragment in another layout: registers of one thread are renamed.

func.func @renamed(%A: memref<64xf32>, %B: memref<64xf32>) {
  tl.kernel threads(32) {
    %f = tl.alloc_fragment {layout = #tl.fragment<affine_map<(d0) -> (d0 floordiv 2, d0 mod 2)>>}
        : memref<64xf32, #tl<space fragment>>
    %g = tl.alloc_fragment {
        layout = #tl.fragment<affine_map<(d0) -> (d0 floordiv 2, 1 - d0 mod 2)>>}
        : memref<64xf32, #tl<space fragment>>
    tl.copy %A to %f : memref<64xf32> to memref<64xf32, #tl<space fragment>>
    tl.convert_layout %f to %g
        : memref<64xf32, #tl<space fragment>> to memref<64xf32, #tl<space fragment>>
    tl.copy %g to %B : memref<64xf32, #tl<space fragment>> to memref<64xf32>
  }
  func.return
}

// CHECK-LABEL: func.func @renamed(%ptr: !cute.ptr<f32, gmem, align<16>>, %ptr_1: !cute.ptr<f32, gmem, align<16>>) attributes {cute.kernel, nvvm.reqntid = array<i32: 32, 1, 1>, nvvm.minctasm = 1 : i32, tileas.smem_bytes = 0 : i32, tileas.parameters = ["ptr 0", "ptr 1"], tileas.tensor_maps = [], tileas.smem_map = "       0 bytes in all"} {
// CHECK-NEXT:    %0 = cute_nvgpu.arch.lane_idx
// CHECK-NEXT:    %1 = arith.constant 2 : i32
// CHECK-NEXT:    %2 = arith.muli %0, %1 : i32
// CHECK-NEXT:    %3 = arith.index_cast %2 : i32 to index
// CHECK-NEXT:    %4 = cute.add_offset %ptr, %3 : !cute.ptr<f32, gmem, align<16>>, index -> !cute.ptr<f32, gmem, align<8>>
// CHECK-NEXT:    %5 = cute.ptr.load %4 : !cute.ptr<f32, gmem, align<8>> -> vector<2xf32>
// CHECK-NEXT:    %6 = vector.extract %5[1] : f32 from vector<2xf32>
// CHECK-NEXT:    %7 = vector.extract %5[0] : f32 from vector<2xf32>
// CHECK-NEXT:    %8 = cute.fragment.make %6, %7 : f32, f32 -> vector<2xf32>
// CHECK-NEXT:    %9 = vector.extract %8[0] : f32 from vector<2xf32>
// CHECK-NEXT:    %10 = cute.add_offset %ptr_1, %3 : !cute.ptr<f32, gmem, align<16>>, index -> !cute.ptr<f32, gmem>
// CHECK-NEXT:    cute.ptr.store %9, %10 offset 1 : f32, !cute.ptr<f32, gmem>
// CHECK-NEXT:    %11 = vector.extract %8[1] : f32 from vector<2xf32>
// CHECK-NEXT:    cute.ptr.store %11, %10 : f32, !cute.ptr<f32, gmem>
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }
