// Plain tiles: the registers of all threads, their own loads and stores, shuffles.

// RUN: tileas-opt %s -p convert-tileas-to-cute-nvgpu,canonicalize,cse | filecheck %s

#ldg = #nv_tileas<atom ldg>
#stg = #nv_tileas<atom stg>
#copy = #nv_tileas<atom unknown_copy>
#smem = #nv_tileas<space smem>
!v256 = !nv_tileas.tiled_view<256xf32, gmem>
!v2x64 = !nv_tileas.tiled_view<2x64xf16, gmem>
!v8x64 = !nv_tileas.tiled_view<8x64xf16, gmem>
!a8x64 = memref<8x64xf16>

// A line over all threads: each has adjacent elements, which it loads and stores in one access where
// alignment and bounds are known.

func.func @line(%x: memref<1024xf32>, %y: memref<1024xf32>) attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 2>} {
  %i = "gpu.block_id"() <{dimension = #gpu<dim x>}> : () -> index
  %c = arith.constant dense<2.0> : tensor<256xf32>
  %vx = nv_tileas.view %x : memref<1024xf32> -> !v256
  %vy = nv_tileas.view %y : memref<1024xf32> -> !v256
  %t = nv_tileas.tiled_load %vx[%i] {atom = #ldg, in_bounds = array<i1: true>} : !v256 -> tensor<256xf32>
  %s = arith.mulf %t, %c : tensor<256xf32>
  nv_tileas.tiled_store %s, %vy[%i] {atom = #stg, in_bounds = array<i1: true>} : tensor<256xf32>, !v256
  func.return
}

// CHECK-LABEL:   func.func @line(%ptr: !cute.ptr<f32, gmem, align<16>>, %ptr_1: !cute.ptr<f32, gmem, align<16>>) attributes {cute.kernel, nvvm.reqntid = array<i32: 64, 1, 1>, nvvm.minctasm = 32 : i32, tileas.smem_bytes = 0 : i32, tileas.parameters = ["ptr 0", "ptr 1"], tileas.tensor_maps = [], tileas.smem_map = "       0 bytes in all"} {
// CHECK-NEXT:      %0 = cute_nvgpu.arch.lane_idx
// CHECK-NEXT:      %1 = cute_nvgpu.arch.warp_idx
// CHECK-NEXT:      %2 = cute_nvgpu.arch.block_idx "x"
// CHECK-NEXT:      %3 = arith.index_cast %2 : i32 to index
// CHECK-NEXT:      %4 = arith.constant 256 : index
// CHECK-NEXT:      %5 = arith.muli %3, %4 : index
// CHECK-NEXT:      %6 = arith.index_cast %5 : index to i32
// CHECK-NEXT:      %7 = arith.constant 32 : i32
// CHECK-NEXT:      %8 = arith.muli %1, %7 : i32
// CHECK-NEXT:      %9 = arith.addi %8, %0 : i32
// CHECK-NEXT:      %10 = arith.constant 4 : i32
// CHECK-NEXT:      %11 = arith.muli %9, %10 : i32
// CHECK-NEXT:      %12 = arith.addi %6, %11 : i32
// CHECK-NEXT:      %13 = arith.extsi %12 : i32 to i64
// CHECK-NEXT:      %14 = cute.add_offset %ptr, %13 : !cute.ptr<f32, gmem, align<16>>, i64 -> !cute.ptr<f32, gmem, align<16>>
// CHECK-NEXT:      %15 = cute.ptr.load %14 : !cute.ptr<f32, gmem, align<16>> -> vector<4xf32>
// CHECK-NEXT:      %16 = arith.constant dense<2.000000e+00> : vector<4xf32>
// CHECK-NEXT:      %17 = arith.mulf %15, %16 : vector<4xf32>
// CHECK-NEXT:      %18 = arith.extsi %12 : i32 to i64
// CHECK-NEXT:      %19 = cute.add_offset %ptr_1, %18 : !cute.ptr<f32, gmem, align<16>>, i64 -> !cute.ptr<f32, gmem, align<16>>
// CHECK-NEXT:      cute.ptr.store %17, %19 : vector<4xf32>, !cute.ptr<f32, gmem, align<16>>
// CHECK-NEXT:      func.return
// CHECK-NEXT:    }

// Where they are known when the kernel runs, a branch that all threads take alike decides; elements
// out of bounds are padded.

func.func @ragged(%x: memref<?x?xf16>, %y: memref<8x64xf16>) attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 2>} {
  %i = "gpu.block_id"() <{dimension = #gpu<dim x>}> : () -> index
  %zero = arith.constant 0 : index
  %vx = nv_tileas.view %x : memref<?x?xf16> -> !v2x64
  %vy = nv_tileas.view %y : memref<8x64xf16> -> !v2x64
  %t = nv_tileas.tiled_load %vx[%i, %zero] {atom = #ldg, in_bounds = array<i1: false, false>, padding_value = #nv_tileas<padding neg_inf>} : !v2x64 -> tensor<2x64xf16>
  nv_tileas.tiled_store %t, %vy[%i, %zero] {atom = #stg, in_bounds = array<i1: true, true>} : tensor<2x64xf16>, !v2x64
  func.return
}

// CHECK-LABEL:   func.func @ragged(%ptr: !cute.ptr<f16, gmem, align<16>>, %size: index, %size_1: index, %ptr_1: !cute.ptr<f16, gmem, align<16>>) attributes {cute.kernel, nvvm.reqntid = array<i32: 64, 1, 1>, nvvm.minctasm = 32 : i32, tileas.smem_bytes = 0 : i32, tileas.parameters = ["ptr 0", "size 0 0", "size 0 1", "ptr 1"], tileas.tensor_maps = [], tileas.smem_map = "       0 bytes in all"} {
// CHECK-NEXT:      %0 = cute_nvgpu.arch.lane_idx
// CHECK-NEXT:      %1 = cute_nvgpu.arch.warp_idx
// CHECK-NEXT:      %2 = cute_nvgpu.arch.block_idx "x"
// CHECK-NEXT:      %3 = arith.index_cast %2 : i32 to index
// CHECK-NEXT:      %4 = arith.constant 2 : index
// CHECK-NEXT:      %5 = arith.muli %3, %4 : index
// CHECK-NEXT:      %6 = arith.constant 0 : index
// CHECK-NEXT:      %7 = arith.index_cast %size_1 : index to i32
// CHECK-NEXT:      %8 = arith.extsi %7 : i32 to i64
// CHECK-NEXT:      %9 = arith.index_cast %5 : index to i32
// CHECK-NEXT:      %10 = arith.index_cast %6 : index to i32
// CHECK-NEXT:      %11 = arith.index_cast %size : index to i32
// CHECK-NEXT:      %12 = arith.constant 2 : i32
// CHECK-NEXT:      %13 = arith.muli %0, %12 : i32
// CHECK-NEXT:      %14 = arith.addi %10, %13 : i32
// CHECK-NEXT:      %15 = arith.extsi %14 : i32 to i64
// CHECK-NEXT:      %16 = arith.addi %9, %1 : i32
// CHECK-NEXT:      %17 = arith.cmpi ult, %16, %11 : i32
// CHECK-NEXT:      %18 = arith.extsi %16 : i32 to i64
// CHECK-NEXT:      %19 = arith.muli %18, %8 : i64
// CHECK-NEXT:      %20 = arith.addi %15, %19 : i64
// CHECK-NEXT:      %21 = arith.constant 1 : i32
// CHECK-NEXT:      %22 = arith.andi %7, %21 : i32
// CHECK-NEXT:      %23 = arith.constant 0 : i32
// CHECK-NEXT:      %24 = arith.cmpi eq, %22, %23 : i32
// CHECK-NEXT:      %25 = scf.if %24 -> (vector<2xf16>) {
// CHECK-NEXT:        %26 = cute.add_offset %ptr, %20 : !cute.ptr<f16, gmem, align<16>>, i64 -> !cute.ptr<f16, gmem, align<4>>
// CHECK-NEXT:        %27 = arith.cmpi ult, %14, %7 : i32
// CHECK-NEXT:        %28 = arith.andi %17, %27 : i1
// CHECK-NEXT:        %29 = cute.ptr.load %26 if %28 fill 0xFC00 : f16 : !cute.ptr<f16, gmem, align<4>> -> vector<2xf16>
// CHECK-NEXT:        scf.yield %29 : vector<2xf16>
// CHECK-NEXT:      } else {
// CHECK-NEXT:        %30 = cute.add_offset %ptr, %20 : !cute.ptr<f16, gmem, align<16>>, i64 -> !cute.ptr<f16, gmem>
// CHECK-NEXT:        %31 = arith.cmpi ult, %14, %7 : i32
// CHECK-NEXT:        %32 = arith.andi %17, %31 : i1
// CHECK-NEXT:        %33 = cute.ptr.load %30 if %32 fill 0xFC00 : f16 : !cute.ptr<f16, gmem> -> f16
// CHECK-NEXT:        %34 = cute.add_offset %30, %21 : !cute.ptr<f16, gmem>, i32 -> !cute.ptr<f16, gmem>
// CHECK-NEXT:        %35 = arith.subi %14, %7 : i32
// CHECK-NEXT:        %36 = arith.constant -1 : i32
// CHECK-NEXT:        %37 = arith.cmpi slt, %35, %36 : i32
// CHECK-NEXT:        %38 = arith.andi %17, %37 : i1
// CHECK-NEXT:        %39 = cute.ptr.load %34 if %38 fill 0xFC00 : f16 : !cute.ptr<f16, gmem> -> f16
// CHECK-NEXT:        %40 = cute.fragment.make %33, %39 : f16, f16 -> vector<2xf16>
// CHECK-NEXT:        scf.yield %40 : vector<2xf16>
// CHECK-NEXT:      }
// CHECK-NEXT:      %41 = arith.extsi %14 : i32 to i64
// CHECK-NEXT:      %42 = arith.extsi %16 : i32 to i64
// CHECK-NEXT:      %43 = arith.constant 64 : i64
// CHECK-NEXT:      %44 = arith.muli %42, %43 : i64
// CHECK-NEXT:      %45 = arith.addi %41, %44 : i64
// CHECK-NEXT:      %46 = cute.add_offset %ptr_1, %45 : !cute.ptr<f16, gmem, align<16>>, i64 -> !cute.ptr<f16, gmem, align<4>>
// CHECK-NEXT:      cute.ptr.store %25, %46 : vector<2xf16>, !cute.ptr<f16, gmem, align<4>>
// CHECK-NEXT:      func.return
// CHECK-NEXT:    }

// A reduction along rows is work of a thread and shuffles of its warp; `generate` reads what is left
// of a row from registers.

func.func @rows(%x: memref<4x64xf32>) attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 2>} {
  %zero = arith.constant 0 : index
  %t = nv_tileas.tiled_load %x[%zero, %zero] {atom = #ldg, in_bounds = array<i1: true, true>} : memref<4x64xf32> -> tensor<4x64xf32>
  %s = nv_tileas.reduce %t {axis = 1 : i32} : tensor<4x64xf32> -> tensor<4xf32> {
  ^bb0(%a: f32, %b: f32):
    %m = arith.maximumf %a, %b : f32
    nv_tileas.yield %m : f32
  }
  %g = nv_tileas.generate : tensor<4x64xf32> {
  ^bb0(%i: index, %j: index):
    %e = tensor.extract %s[%i] : tensor<4xf32>
    nv_tileas.yield %e : f32
  }
  %d = arith.subf %t, %g : tensor<4x64xf32>
  nv_tileas.tiled_store %d, %x[%zero, %zero] {atom = #stg, in_bounds = array<i1: true, true>} : tensor<4x64xf32>, memref<4x64xf32>
  func.return
}

// CHECK-LABEL:   func.func @rows(%ptr: !cute.ptr<f32, gmem, align<16>>) attributes {cute.kernel, nvvm.reqntid = array<i32: 64, 1, 1>, nvvm.minctasm = 16 : i32, tileas.smem_bytes = 0 : i32, tileas.parameters = ["ptr 0"], tileas.tensor_maps = [], tileas.smem_map = "       0 bytes in all"} {
// CHECK-NEXT:      %0 = cute_nvgpu.arch.lane_idx
// CHECK-NEXT:      %1 = cute_nvgpu.arch.warp_idx
// CHECK-NEXT:      %2 = arith.constant 0 : index
// CHECK-NEXT:      %3 = arith.index_cast %2 : index to i32
// CHECK-NEXT:      %4 = arith.constant 2 : i32
// CHECK-NEXT:      %5 = arith.muli %0, %4 : i32
// CHECK-NEXT:      %6 = arith.addi %3, %5 : i32
// CHECK-NEXT:      %7 = arith.extsi %6 : i32 to i64
// CHECK-NEXT:      %8 = arith.addi %3, %1 : i32
// CHECK-NEXT:      %9 = arith.extsi %8 : i32 to i64
// CHECK-NEXT:      %10 = arith.constant 64 : i64
// CHECK-NEXT:      %11 = arith.muli %9, %10 : i64
// CHECK-NEXT:      %12 = arith.addi %7, %11 : i64
// CHECK-NEXT:      %13 = arith.addi %1, %4 : i32
// CHECK-NEXT:      %14 = arith.addi %3, %13 : i32
// CHECK-NEXT:      %15 = arith.extsi %14 : i32 to i64
// CHECK-NEXT:      %16 = arith.muli %15, %10 : i64
// CHECK-NEXT:      %17 = arith.addi %7, %16 : i64
// CHECK-NEXT:      %18 = cute.add_offset %ptr, %12 : !cute.ptr<f32, gmem, align<16>>, i64 -> !cute.ptr<f32, gmem, align<8>>
// CHECK-NEXT:      %19 = cute.ptr.load %18 : !cute.ptr<f32, gmem, align<8>> -> vector<2xf32>
// CHECK-NEXT:      %20 = cute.add_offset %ptr, %17 : !cute.ptr<f32, gmem, align<16>>, i64 -> !cute.ptr<f32, gmem, align<8>>
// CHECK-NEXT:      %21 = cute.ptr.load %20 : !cute.ptr<f32, gmem, align<8>> -> vector<2xf32>
// CHECK-NEXT:      %22 = cute.fragment.slice %19[0] : vector<2xf32> -> vector<1xf32>
// CHECK-NEXT:      %23 = cute.fragment.slice %19[1] : vector<2xf32> -> vector<1xf32>
// CHECK-NEXT:      %24 = arith.maximumf %22, %23 : vector<1xf32>
// CHECK-NEXT:      %25 = vector.extract %24[0] : f32 from vector<1xf32>
// CHECK-NEXT:      %26 = cute.fragment.slice %21[0] : vector<2xf32> -> vector<1xf32>
// CHECK-NEXT:      %27 = cute.fragment.slice %21[1] : vector<2xf32> -> vector<1xf32>
// CHECK-NEXT:      %28 = arith.maximumf %26, %27 : vector<1xf32>
// CHECK-NEXT:      %29 = vector.extract %28[0] : f32 from vector<1xf32>
// CHECK-NEXT:      %30 = arith.constant 4 : i32
// CHECK-NEXT:      %31 = arith.shrui %0, %30 : i32
// CHECK-NEXT:      %32 = arith.constant 1 : i32
// CHECK-NEXT:      %33 = arith.andi %31, %32 : i32
// CHECK-NEXT:      %34 = arith.constant 0 : i32
// CHECK-NEXT:      %35 = arith.cmpi eq, %33, %34 : i32
// CHECK-NEXT:      %36 = arith.select %35, %25, %29 : f32
// CHECK-NEXT:      %37 = arith.select %35, %29, %25 : f32
// CHECK-NEXT:      %38 = cute_nvgpu.arch.shuffle "bfly" %37 by 16 : f32 -> f32
// CHECK-NEXT:      %39 = arith.maximumf %36, %38 : f32
// CHECK-NEXT:      %40 = cute_nvgpu.arch.shuffle "bfly" %39 by 8 : f32 -> f32
// CHECK-NEXT:      %41 = arith.maximumf %39, %40 : f32
// CHECK-NEXT:      %42 = cute_nvgpu.arch.shuffle "bfly" %41 by 4 : f32 -> f32
// CHECK-NEXT:      %43 = arith.maximumf %41, %42 : f32
// CHECK-NEXT:      %44 = cute_nvgpu.arch.shuffle "bfly" %43 by 2 : f32 -> f32
// CHECK-NEXT:      %45 = arith.maximumf %43, %44 : f32
// CHECK-NEXT:      %46 = cute_nvgpu.arch.shuffle "bfly" %45 by 1 : f32 -> f32
// CHECK-NEXT:      %47 = arith.maximumf %45, %46 : f32
// CHECK-NEXT:      %48 = arith.constant 15 : i32
// CHECK-NEXT:      %49 = arith.andi %0, %48 : i32
// CHECK-NEXT:      %50 = cute_nvgpu.arch.shuffle "idx" %47 lane %49 : f32 -> f32
// CHECK-NEXT:      %51 = arith.constant 16 : i32
// CHECK-NEXT:      %52 = arith.ori %49, %51 : i32
// CHECK-NEXT:      %53 = cute_nvgpu.arch.shuffle "idx" %47 lane %52 : f32 -> f32
// CHECK-NEXT:      %54 = cute.fragment.make %50, %53 : f32, f32 -> vector<2xf32>
// CHECK-NEXT:      %55 = vector.extract %54[0] : f32 from vector<2xf32>
// CHECK-NEXT:      %56 = vector.broadcast %55 : f32 to vector<2xf32>
// CHECK-NEXT:      %57 = vector.extract %54[1] : f32 from vector<2xf32>
// CHECK-NEXT:      %58 = vector.broadcast %57 : f32 to vector<2xf32>
// CHECK-NEXT:      %59 = arith.subf %19, %56 : vector<2xf32>
// CHECK-NEXT:      %60 = arith.subf %21, %58 : vector<2xf32>
// CHECK-NEXT:      cute_nvgpu.arch.barrier id 0
// CHECK-NEXT:      %61 = arith.extsi %6 : i32 to i64
// CHECK-NEXT:      %62 = arith.extsi %8 : i32 to i64
// CHECK-NEXT:      %63 = arith.muli %62, %10 : i64
// CHECK-NEXT:      %64 = arith.addi %61, %63 : i64
// CHECK-NEXT:      %65 = arith.extsi %14 : i32 to i64
// CHECK-NEXT:      %66 = arith.muli %65, %10 : i64
// CHECK-NEXT:      %67 = arith.addi %61, %66 : i64
// CHECK-NEXT:      %68 = cute.add_offset %ptr, %64 : !cute.ptr<f32, gmem, align<16>>, i64 -> !cute.ptr<f32, gmem, align<8>>
// CHECK-NEXT:      cute.ptr.store %59, %68 : vector<2xf32>, !cute.ptr<f32, gmem, align<8>>
// CHECK-NEXT:      %69 = cute.add_offset %ptr, %67 : !cute.ptr<f32, gmem, align<16>>, i64 -> !cute.ptr<f32, gmem, align<8>>
// CHECK-NEXT:      cute.ptr.store %60, %69 : vector<2xf32>, !cute.ptr<f32, gmem, align<8>>
// CHECK-NEXT:      func.return
// CHECK-NEXT:    }

// A line is reduced by all warps, which meet; integers of whole warps by one instruction.

func.func @sum(%x: memref<256xi32>, %y: memref<1xi32>) attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 2>} {
  %zero = arith.constant 0 : index
  %t = nv_tileas.tiled_load %x[%zero] {atom = #ldg, in_bounds = array<i1: true>} : memref<256xi32> -> tensor<256xi32>
  %s = nv_tileas.reduce %t {axis = 0 : i32} : tensor<256xi32> -> tensor<i32> {
  ^bb0(%a: i32, %b: i32):
    %m = arith.addi %a, %b : i32
    nv_tileas.yield %m : i32
  }
  %e = tensor.extract %s[] : tensor<i32>
  %o = tensor.splat %e : tensor<1xi32>
  nv_tileas.tiled_store %o, %y[%zero] {atom = #stg, in_bounds = array<i1: true>} : tensor<1xi32>, memref<1xi32>
  func.return
}

// CHECK-LABEL:   func.func @sum(%ptr: !cute.ptr<i32, gmem, align<16>>, %ptr_1: !cute.ptr<i32, gmem, align<16>>) attributes {cute.kernel, nvvm.reqntid = array<i32: 64, 1, 1>, nvvm.minctasm = 16 : i32, tileas.smem_bytes = 8 : i32, tileas.parameters = ["ptr 0", "ptr 1"], tileas.tensor_maps = [], tileas.smem_map = "       0 .. 8        exchange         of nv_tileas.reduce\0A       8 bytes in all"} {
// CHECK-NEXT:      %0 = cute_nvgpu.arch.lane_idx
// CHECK-NEXT:      %1 = cute_nvgpu.arch.warp_idx
// CHECK-NEXT:      %2 = arith.constant 0 : index
// CHECK-NEXT:      %3 = arith.index_cast %2 : index to i32
// CHECK-NEXT:      %4 = arith.constant 32 : i32
// CHECK-NEXT:      %5 = arith.muli %1, %4 : i32
// CHECK-NEXT:      %6 = arith.addi %5, %0 : i32
// CHECK-NEXT:      %7 = arith.constant 4 : i32
// CHECK-NEXT:      %8 = arith.muli %6, %7 : i32
// CHECK-NEXT:      %9 = arith.addi %3, %8 : i32
// CHECK-NEXT:      %10 = arith.extsi %9 : i32 to i64
// CHECK-NEXT:      %11 = cute.add_offset %ptr, %10 : !cute.ptr<i32, gmem, align<16>>, i64 -> !cute.ptr<i32, gmem, align<16>>
// CHECK-NEXT:      %12 = cute.ptr.load %11 : !cute.ptr<i32, gmem, align<16>> -> vector<4xi32>
// CHECK-NEXT:      %13 = cute.fragment.slice %12[0] : vector<4xi32> -> vector<2xi32>
// CHECK-NEXT:      %14 = cute.fragment.slice %12[2] : vector<4xi32> -> vector<2xi32>
// CHECK-NEXT:      %15 = arith.addi %13, %14 : vector<2xi32>
// CHECK-NEXT:      %16 = cute.fragment.slice %15[0] : vector<2xi32> -> vector<1xi32>
// CHECK-NEXT:      %17 = cute.fragment.slice %15[1] : vector<2xi32> -> vector<1xi32>
// CHECK-NEXT:      %18 = arith.addi %16, %17 : vector<1xi32>
// CHECK-NEXT:      %19 = vector.extract %18[0] : i32 from vector<1xi32>
// CHECK-NEXT:      %20 = cute_nvgpu.arch.redux "add" %19
// CHECK-NEXT:      %21 = cute_nvgpu.arch.get_dyn_smem 0 -> !cute.ptr<i32, smem, align<16>>
// CHECK-NEXT:      %22 = arith.constant 0 : i32
// CHECK-NEXT:      %23 = arith.cmpi eq, %0, %22 : i32
// CHECK-NEXT:      %24 = cute.add_offset %21, %1 : !cute.ptr<i32, smem, align<16>>, i32 -> !cute.ptr<i32, smem>
// CHECK-NEXT:      cute.ptr.store %20, %24 if %23 : i32, !cute.ptr<i32, smem>
// CHECK-NEXT:      cute_nvgpu.arch.barrier id 0
// CHECK-NEXT:      %25 = cute.ptr.load %21 : !cute.ptr<i32, smem, align<16>> -> vector<2xi32>
// CHECK-NEXT:      %26 = vector.extract %25[0] : i32 from vector<2xi32>
// CHECK-NEXT:      %27 = vector.extract %25[1] : i32 from vector<2xi32>
// CHECK-NEXT:      %28 = arith.addi %26, %27 : i32
// CHECK-NEXT:      %29 = cute.fragment.make %28 : i32 -> vector<1xi32>
// CHECK-NEXT:      %30 = vector.extract %29[0] : i32 from vector<1xi32>
// CHECK-NEXT:      %31 = vector.broadcast %30 : i32 to vector<1xi32>
// CHECK-NEXT:      %32 = arith.constant 1 : i32
// CHECK-NEXT:      %33 = arith.cmpi slt, %0, %32 : i32
// CHECK-NEXT:      %34 = arith.cmpi slt, %1, %32 : i32
// CHECK-NEXT:      %35 = arith.andi %33, %34 : i1
// CHECK-NEXT:      %36 = arith.extsi %3 : i32 to i64
// CHECK-NEXT:      %37 = cute.add_offset %ptr_1, %36 : !cute.ptr<i32, gmem, align<16>>, i64 -> !cute.ptr<i32, gmem>
// CHECK-NEXT:      cute.ptr.store %31, %37 if %35 : vector<1xi32>, !cute.ptr<i32, gmem>
// CHECK-NEXT:      func.return
// CHECK-NEXT:    }

// Columns are reduced through shared memory; what runs again waits for its readers first.

func.func @columns(%x: memref<2x64xf16>, %y: memref<64xf16>, %n: index) attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 2>} {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %begin = arith.constant dense<0.0> : tensor<64xf16>
  %end = scf.for %k = %zero to %n step %one iter_args(%sum = %begin) -> (tensor<64xf16>) {
    %t = nv_tileas.tiled_load %x[%zero, %zero] {atom = #ldg, in_bounds = array<i1: true, true>} : memref<2x64xf16> -> tensor<2x64xf16>
    %s = nv_tileas.reduce %t {axis = 0 : i32} : tensor<2x64xf16> -> tensor<64xf16> {
    ^bb0(%a: f16, %b: f16):
      %m = arith.addf %a, %b : f16
      nv_tileas.yield %m : f16
    }
    %next = arith.addf %sum, %s : tensor<64xf16>
    scf.yield %next : tensor<64xf16>
  }
  nv_tileas.tiled_store %end, %y[%zero] {atom = #stg, in_bounds = array<i1: true>} : tensor<64xf16>, memref<64xf16>
  func.return
}

// CHECK-LABEL:   func.func @columns(%ptr: !cute.ptr<f16, gmem, align<16>>, %ptr_1: !cute.ptr<f16, gmem, align<16>>, %scalar: index) attributes {cute.kernel, nvvm.reqntid = array<i32: 64, 1, 1>, nvvm.minctasm = 16 : i32, tileas.smem_bytes = 512 : i32, tileas.parameters = ["ptr 0", "ptr 1", "scalar 2"], tileas.tensor_maps = [], tileas.smem_map = "       0 .. 512      exchange         of nv_tileas.reduce\0A     512 bytes in all"} {
// CHECK-NEXT:      %0 = cute_nvgpu.arch.lane_idx
// CHECK-NEXT:      %1 = cute_nvgpu.arch.warp_idx
// CHECK-NEXT:      %2 = arith.constant 0 : index
// CHECK-NEXT:      %3 = arith.constant 1 : index
// CHECK-NEXT:      %4 = arith.constant dense<0.000000e+00> : vector<1xf16>
// CHECK-NEXT:      %5 = arith.constant 2 : i32
// CHECK-NEXT:      %6 = arith.constant 64 : i64
// CHECK-NEXT:      %7 = arith.constant 64 : i32
// CHECK-NEXT:      %8 = arith.constant 32 : i32
// CHECK-NEXT:      %9 = scf.for %10 = %2 to %scalar step %3 iter_args(%11 = %4) -> (vector<1xf16>) {
// CHECK-NEXT:        %12 = arith.index_cast %2 : index to i32
// CHECK-NEXT:        %13 = arith.muli %0, %5 : i32
// CHECK-NEXT:        %14 = arith.addi %12, %13 : i32
// CHECK-NEXT:        %15 = arith.extsi %14 : i32 to i64
// CHECK-NEXT:        %16 = arith.addi %12, %1 : i32
// CHECK-NEXT:        %17 = arith.extsi %16 : i32 to i64
// CHECK-NEXT:        %18 = arith.muli %17, %6 : i64
// CHECK-NEXT:        %19 = arith.addi %15, %18 : i64
// CHECK-NEXT:        %20 = cute.add_offset %ptr, %19 : !cute.ptr<f16, gmem, align<16>>, i64 -> !cute.ptr<f16, gmem, align<4>>
// CHECK-NEXT:        %21 = cute.ptr.load %20 : !cute.ptr<f16, gmem, align<4>> -> vector<2xf16>
// CHECK-NEXT:        %22 = arith.extf %21 : vector<2xf16> to vector<2xf32>
// CHECK-NEXT:        cute_nvgpu.arch.barrier id 0
// CHECK-NEXT:        %23 = cute_nvgpu.arch.get_dyn_smem 0 -> !cute.ptr<f32, smem, align<16>>
// CHECK-NEXT:        %24 = arith.muli %1, %7 : i32
// CHECK-NEXT:        %25 = arith.addi %24, %13 : i32
// CHECK-NEXT:        %26 = cute.add_offset %23, %25 : !cute.ptr<f32, smem, align<16>>, i32 -> !cute.ptr<f32, smem, align<8>>
// CHECK-NEXT:        cute.ptr.store %22, %26 : vector<2xf32>, !cute.ptr<f32, smem, align<8>>
// CHECK-NEXT:        cute_nvgpu.arch.barrier id 0
// CHECK-NEXT:        %27 = arith.muli %1, %8 : i32
// CHECK-NEXT:        %28 = arith.addi %27, %0 : i32
// CHECK-NEXT:        %29 = cute.add_offset %23, %28 : !cute.ptr<f32, smem, align<16>>, i32 -> !cute.ptr<f32, smem>
// CHECK-NEXT:        %30 = cute.ptr.load %29 : !cute.ptr<f32, smem> -> vector<1xf32>
// CHECK-NEXT:        %31 = cute.ptr.load %29 offset 64 : !cute.ptr<f32, smem> -> vector<1xf32>
// CHECK-NEXT:        %32 = arith.addf %30, %31 : vector<1xf32>
// CHECK-NEXT:        %33 = arith.truncf %32 : vector<1xf32> to vector<1xf16>
// CHECK-NEXT:        %34 = arith.addf %11, %33 : vector<1xf16>
// CHECK-NEXT:        scf.yield %34 : vector<1xf16>
// CHECK-NEXT:      }
// CHECK-NEXT:      %35 = arith.index_cast %2 : index to i32
// CHECK-NEXT:      %36 = arith.muli %1, %8 : i32
// CHECK-NEXT:      %37 = arith.addi %36, %0 : i32
// CHECK-NEXT:      %38 = arith.addi %35, %37 : i32
// CHECK-NEXT:      %39 = arith.extsi %38 : i32 to i64
// CHECK-NEXT:      %40 = cute.add_offset %ptr_1, %39 : !cute.ptr<f16, gmem, align<16>>, i64 -> !cute.ptr<f16, gmem>
// CHECK-NEXT:      cute.ptr.store %9, %40 : vector<1xf16>, !cute.ptr<f16, gmem>
// CHECK-NEXT:      func.return
// CHECK-NEXT:    }

// Elements of other threads are exchanged: all write the tile, synchronise, and read.

func.func @transpose(%x: memref<4x2xf32>, %y: memref<2x4xf32>) attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 2>} {
  %zero = arith.constant 0 : index
  %t = nv_tileas.tiled_load %x[%zero, %zero] {atom = #ldg, in_bounds = array<i1: true, true>} : memref<4x2xf32> -> tensor<4x2xf32>
  %g = nv_tileas.generate : tensor<2x4xf32> {
  ^bb0(%i: index, %j: index):
    %e = tensor.extract %t[%j, %i] : tensor<4x2xf32>
    nv_tileas.yield %e : f32
  }
  nv_tileas.tiled_store %g, %y[%zero, %zero] {atom = #stg, in_bounds = array<i1: true, true>} : tensor<2x4xf32>, memref<2x4xf32>
  func.return
}

// CHECK-LABEL:   func.func @transpose(%ptr: !cute.ptr<f32, gmem, align<16>>, %ptr_1: !cute.ptr<f32, gmem, align<16>>) attributes {cute.kernel, nvvm.reqntid = array<i32: 64, 1, 1>, nvvm.minctasm = 16 : i32, tileas.smem_bytes = 32 : i32, tileas.parameters = ["ptr 0", "ptr 1"], tileas.tensor_maps = [], tileas.smem_map = "       0 .. 32       exchange         of tensor.extract\0A      32 bytes in all"} {
// CHECK-NEXT:      %0 = cute_nvgpu.arch.lane_idx
// CHECK-NEXT:      %1 = cute_nvgpu.arch.warp_idx
// CHECK-NEXT:      %2 = arith.constant 0 : index
// CHECK-NEXT:      %3 = arith.index_cast %2 : index to i32
// CHECK-NEXT:      %4 = arith.constant 1 : i32
// CHECK-NEXT:      %5 = arith.andi %0, %4 : i32
// CHECK-NEXT:      %6 = arith.addi %3, %5 : i32
// CHECK-NEXT:      %7 = arith.extsi %6 : i32 to i64
// CHECK-NEXT:      %8 = arith.addi %3, %1 : i32
// CHECK-NEXT:      %9 = arith.extsi %8 : i32 to i64
// CHECK-NEXT:      %10 = arith.constant 2 : i64
// CHECK-NEXT:      %11 = arith.muli %9, %10 : i64
// CHECK-NEXT:      %12 = arith.addi %7, %11 : i64
// CHECK-NEXT:      %13 = arith.constant 2 : i32
// CHECK-NEXT:      %14 = arith.addi %1, %13 : i32
// CHECK-NEXT:      %15 = arith.addi %3, %14 : i32
// CHECK-NEXT:      %16 = arith.extsi %15 : i32 to i64
// CHECK-NEXT:      %17 = arith.muli %16, %10 : i64
// CHECK-NEXT:      %18 = arith.addi %7, %17 : i64
// CHECK-NEXT:      %19 = cute.add_offset %ptr, %12 : !cute.ptr<f32, gmem, align<16>>, i64 -> !cute.ptr<f32, gmem>
// CHECK-NEXT:      %20 = cute.ptr.load %19 : !cute.ptr<f32, gmem> -> vector<1xf32>
// CHECK-NEXT:      %21 = cute.add_offset %ptr, %18 : !cute.ptr<f32, gmem, align<16>>, i64 -> !cute.ptr<f32, gmem>
// CHECK-NEXT:      %22 = cute.ptr.load %21 : !cute.ptr<f32, gmem> -> vector<1xf32>
// CHECK-NEXT:      %23 = cute_nvgpu.arch.get_dyn_smem 0 -> !cute.ptr<i8, smem, align<128>>
// CHECK-NEXT:      %24 = cute.fragment.make %20, %22 : vector<1xf32>, vector<1xf32> -> vector<2xf32>
// CHECK-NEXT:      %25 = arith.constant 8 : i32
// CHECK-NEXT:      %26 = arith.muli %5, %25 : i32
// CHECK-NEXT:      %27 = arith.constant 16 : i32
// CHECK-NEXT:      %28 = arith.muli %1, %27 : i32
// CHECK-NEXT:      %29 = arith.addi %26, %28 : i32
// CHECK-NEXT:      %30 = cute.add_offset %23, %29 : !cute.ptr<i8, smem, align<128>>, i32 -> !cute.ptr<i8, smem, align<8>>
// CHECK-NEXT:      %31 = cute.recast_iter %30 : !cute.ptr<i8, smem, align<8>> -> !cute.ptr<f32, smem, align<8>>
// CHECK-NEXT:      %32 = arith.constant 30 : i32
// CHECK-NEXT:      %33 = arith.andi %0, %32 : i32
// CHECK-NEXT:      %34 = arith.constant 0 : i32
// CHECK-NEXT:      %35 = arith.cmpi eq, %33, %34 : i32
// CHECK-NEXT:      cute.ptr.store %24, %31 if %35 : vector<2xf32>, !cute.ptr<f32, smem, align<8>>
// CHECK-NEXT:      cute_nvgpu.arch.barrier id 0
// CHECK-NEXT:      %36 = arith.muli %5, %27 : i32
// CHECK-NEXT:      %37 = arith.shrui %0, %4 : i32
// CHECK-NEXT:      %38 = arith.andi %37, %4 : i32
// CHECK-NEXT:      %39 = arith.constant 4 : i32
// CHECK-NEXT:      %40 = arith.muli %38, %39 : i32
// CHECK-NEXT:      %41 = arith.addi %36, %40 : i32
// CHECK-NEXT:      %42 = arith.muli %1, %25 : i32
// CHECK-NEXT:      %43 = arith.addi %41, %42 : i32
// CHECK-NEXT:      %44 = cute.add_offset %23, %43 : !cute.ptr<i8, smem, align<128>>, i32 -> !cute.ptr<i8, smem, align<4>>
// CHECK-NEXT:      %45 = cute.recast_iter %44 : !cute.ptr<i8, smem, align<4>> -> !cute.ptr<f32, smem>
// CHECK-NEXT:      %46 = cute.ptr.load %45 : !cute.ptr<f32, smem> -> vector<1xf32>
// CHECK-NEXT:      %47 = vector.extract %46[0] : f32 from vector<1xf32>
// CHECK-NEXT:      %48 = vector.broadcast %47 : f32 to vector<1xf32>
// CHECK-NEXT:      %49 = arith.cmpi slt, %0, %39 : i32
// CHECK-NEXT:      %50 = arith.constant 3 : i32
// CHECK-NEXT:      %51 = arith.andi %0, %50 : i32
// CHECK-NEXT:      %52 = arith.addi %3, %51 : i32
// CHECK-NEXT:      %53 = arith.extsi %52 : i32 to i64
// CHECK-NEXT:      %54 = arith.extsi %8 : i32 to i64
// CHECK-NEXT:      %55 = arith.constant 4 : i64
// CHECK-NEXT:      %56 = arith.muli %54, %55 : i64
// CHECK-NEXT:      %57 = arith.addi %53, %56 : i64
// CHECK-NEXT:      %58 = cute.add_offset %ptr_1, %57 : !cute.ptr<f32, gmem, align<16>>, i64 -> !cute.ptr<f32, gmem>
// CHECK-NEXT:      cute.ptr.store %48, %58 if %49 : vector<1xf32>, !cute.ptr<f32, gmem>
// CHECK-NEXT:      func.return
// CHECK-NEXT:    }

// A tile in shared memory is written and read through its swizzle.

func.func @shared(%x: !a8x64) attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 8>} {
  %zero = arith.constant 0 : index
  %t = nv_tileas.tiled_load %x[%zero, %zero] {atom = #ldg, in_bounds = array<i1: true, true>} : !a8x64 -> tensor<8x64xf16>
  %s = nv_tileas.alloc_tensor : tensor<8x64xf16, #smem>
  nv_tileas.tiled_store %t, %s[%zero, %zero] {atom = #copy} : tensor<8x64xf16>, tensor<8x64xf16, #smem>
  %u = nv_tileas.tiled_load %s[%zero, %zero] {atom = #copy} : tensor<8x64xf16, #smem> -> tensor<8x64xf16>
  nv_tileas.tiled_store %u, %x[%zero, %zero] {atom = #stg, in_bounds = array<i1: true, true>} : tensor<8x64xf16>, !a8x64
  func.return
}

// CHECK-LABEL:   func.func @shared(%ptr: !cute.ptr<f16, gmem, align<16>>) attributes {cute.kernel, nvvm.reqntid = array<i32: 256, 1, 1>, nvvm.minctasm = 4 : i32, tileas.smem_bytes = 1024 : i32, tileas.parameters = ["ptr 0"], tileas.tensor_maps = [], tileas.smem_map = "       0 .. 1024     %s               8x64, 16 bits, 1 panels of 64, 128B\0A    1024 bytes in all"} {
// CHECK-NEXT:      %0 = cute_nvgpu.arch.lane_idx
// CHECK-NEXT:      %1 = cute_nvgpu.arch.warp_idx
// CHECK-NEXT:      %2 = arith.constant 0 : index
// CHECK-NEXT:      %3 = arith.index_cast %2 : index to i32
// CHECK-NEXT:      %4 = arith.constant 2 : i32
// CHECK-NEXT:      %5 = arith.muli %0, %4 : i32
// CHECK-NEXT:      %6 = arith.addi %3, %5 : i32
// CHECK-NEXT:      %7 = arith.extsi %6 : i32 to i64
// CHECK-NEXT:      %8 = arith.addi %3, %1 : i32
// CHECK-NEXT:      %9 = arith.extsi %8 : i32 to i64
// CHECK-NEXT:      %10 = arith.constant 64 : i64
// CHECK-NEXT:      %11 = arith.muli %9, %10 : i64
// CHECK-NEXT:      %12 = arith.addi %7, %11 : i64
// CHECK-NEXT:      %13 = cute.add_offset %ptr, %12 : !cute.ptr<f16, gmem, align<16>>, i64 -> !cute.ptr<f16, gmem, align<4>>
// CHECK-NEXT:      %14 = cute.ptr.load %13 : !cute.ptr<f16, gmem, align<4>> -> vector<2xf16>
// CHECK-NEXT:      %15 = cute_nvgpu.arch.get_dyn_smem 0 -> !cute.ptr<i8, smem, align<1024>>
// CHECK-NEXT:      %16 = arith.muli %5, %4 : i32
// CHECK-NEXT:      %17 = arith.constant 7 : i32
// CHECK-NEXT:      %18 = arith.andi %1, %17 : i32
// CHECK-NEXT:      %19 = arith.constant 16 : i32
// CHECK-NEXT:      %20 = arith.muli %18, %19 : i32
// CHECK-NEXT:      %21 = arith.xori %16, %20 : i32
// CHECK-NEXT:      %22 = arith.constant 128 : i32
// CHECK-NEXT:      %23 = arith.muli %1, %22 : i32
// CHECK-NEXT:      %24 = arith.addi %23, %21 : i32
// CHECK-NEXT:      %25 = cute.add_offset %15, %24 : !cute.ptr<i8, smem, align<1024>>, i32 -> !cute.ptr<i8, smem, align<4>>
// CHECK-NEXT:      %26 = cute.recast_iter %25 : !cute.ptr<i8, smem, align<4>> -> !cute.ptr<f16, smem, align<4>>
// CHECK-NEXT:      cute.ptr.store %14, %26 : vector<2xf16>, !cute.ptr<f16, smem, align<4>>
// CHECK-NEXT:      cute_nvgpu.arch.barrier id 0
// CHECK-NEXT:      %27 = cute.ptr.load %26 : !cute.ptr<f16, smem, align<4>> -> vector<2xf16>
// CHECK-NEXT:      cute_nvgpu.arch.barrier id 0
// CHECK-NEXT:      %28 = arith.extsi %6 : i32 to i64
// CHECK-NEXT:      %29 = arith.extsi %8 : i32 to i64
// CHECK-NEXT:      %30 = arith.muli %29, %10 : i64
// CHECK-NEXT:      %31 = arith.addi %28, %30 : i64
// CHECK-NEXT:      %32 = cute.add_offset %ptr, %31 : !cute.ptr<f16, gmem, align<16>>, i64 -> !cute.ptr<f16, gmem, align<4>>
// CHECK-NEXT:      cute.ptr.store %27, %32 : vector<2xf16>, !cute.ptr<f16, gmem, align<4>>
// CHECK-NEXT:      func.return
// CHECK-NEXT:    }

// Conditions choose between tiles in the same registers; floats of 8 bits are computed with as f32.

func.func @either(%x: memref<64xf8E4M3FN>, %y: memref<64xf8E4M3FN>, %p: i1) attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 2>} {
  %zero = arith.constant 0 : index
  %t = scf.if %p -> (tensor<64xf8E4M3FN>) {
    %l = nv_tileas.tiled_load %x[%zero] {atom = #ldg, in_bounds = array<i1: true>} : memref<64xf8E4M3FN> -> tensor<64xf8E4M3FN>
    %d = arith.addf %l, %l : tensor<64xf8E4M3FN>
    scf.yield %d : tensor<64xf8E4M3FN>
  } else {
    %c = arith.constant dense<1.0> : tensor<64xf8E4M3FN>
    scf.yield %c : tensor<64xf8E4M3FN>
  }
  nv_tileas.tiled_store %t, %y[%zero] {atom = #stg, in_bounds = array<i1: true>} : tensor<64xf8E4M3FN>, memref<64xf8E4M3FN>
  func.return
}

// CHECK-LABEL:   func.func @either(%ptr: !cute.ptr<f8E4M3FN, gmem, align<16>>, %ptr_1: !cute.ptr<f8E4M3FN, gmem, align<16>>, %scalar: i1) attributes {cute.kernel, nvvm.reqntid = array<i32: 64, 1, 1>, nvvm.minctasm = 16 : i32, tileas.smem_bytes = 0 : i32, tileas.parameters = ["ptr 0", "ptr 1", "scalar 2"], tileas.tensor_maps = [], tileas.smem_map = "       0 bytes in all"} {
// CHECK-NEXT:      %0 = cute_nvgpu.arch.lane_idx
// CHECK-NEXT:      %1 = cute_nvgpu.arch.warp_idx
// CHECK-NEXT:      %2 = scf.if %scalar -> (vector<1xf8E4M3FN>) {
// CHECK-NEXT:        %3 = arith.constant 0 : index
// CHECK-NEXT:        %4 = arith.index_cast %3 : index to i32
// CHECK-NEXT:        %5 = arith.constant 32 : i32
// CHECK-NEXT:        %6 = arith.muli %1, %5 : i32
// CHECK-NEXT:        %7 = arith.addi %6, %0 : i32
// CHECK-NEXT:        %8 = arith.addi %4, %7 : i32
// CHECK-NEXT:        %9 = arith.extsi %8 : i32 to i64
// CHECK-NEXT:        %10 = cute.add_offset %ptr, %9 : !cute.ptr<f8E4M3FN, gmem, align<16>>, i64 -> !cute.ptr<f8E4M3FN, gmem>
// CHECK-NEXT:        %11 = cute.ptr.load %10 : !cute.ptr<f8E4M3FN, gmem> -> vector<1xf8E4M3FN>
// CHECK-NEXT:        %12 = arith.extf %11 : vector<1xf8E4M3FN> to vector<1xf32>
// CHECK-NEXT:        %13 = arith.addf %12, %12 : vector<1xf32>
// CHECK-NEXT:        %14 = arith.truncf %13 : vector<1xf32> to vector<1xf8E4M3FN>
// CHECK-NEXT:        scf.yield %14 : vector<1xf8E4M3FN>
// CHECK-NEXT:      } else {
// CHECK-NEXT:        %15 = arith.constant dense<1.000000e+00> : vector<1xf8E4M3FN>
// CHECK-NEXT:        scf.yield %15 : vector<1xf8E4M3FN>
// CHECK-NEXT:      }
// CHECK-NEXT:      %16 = arith.constant 0 : index
// CHECK-NEXT:      %17 = arith.index_cast %16 : index to i32
// CHECK-NEXT:      %18 = arith.constant 32 : i32
// CHECK-NEXT:      %19 = arith.muli %1, %18 : i32
// CHECK-NEXT:      %20 = arith.addi %19, %0 : i32
// CHECK-NEXT:      %21 = arith.addi %17, %20 : i32
// CHECK-NEXT:      %22 = arith.extsi %21 : i32 to i64
// CHECK-NEXT:      %23 = cute.add_offset %ptr_1, %22 : !cute.ptr<f8E4M3FN, gmem, align<16>>, i64 -> !cute.ptr<f8E4M3FN, gmem>
// CHECK-NEXT:      cute.ptr.store %2, %23 : vector<1xf8E4M3FN>, !cute.ptr<f8E4M3FN, gmem>
// CHECK-NEXT:      func.return
// CHECK-NEXT:    }
