// Tiles and agents become the threads of a block.

// RUN: tileas-opt %s -p convert-tileas-to-cute-nvgpu,canonicalize,cse | filecheck %s

!m = memref<?x?xf16>
!a = tensor<64x64xf16>
!slots = !nv_tileas.tiled_view<2x8192xf16, smem>
!prod = !nv_tileas.async.pipeline.producer_token
!cons = !nv_tileas.async.pipeline.consumer_token
!iter = !nv_tileas.async.pipeline.iterator<tuple<!a, !a>, 2, smem>
!sum = !nv_tileas.token<tensor<64x64xf32>>
#load = #nv_tileas<atom tma_load_2d<box = [64, 64]>>

// Agents become ranges of warps, with their own budgets of registers.

func.func @agents() attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 8>} {
  nv_tileas.async.pipeline.agent_switch {num_agents_per_group = 1 : i32, max_regs = array<i32: 40, 232>, isolated = false} agent 0 {
  }, agent 1 {
  }
  func.return
}

// CHECK-LABEL:   func.func @agents() attributes {cute.kernel, nvvm.reqntid = array<i32: 256, 1, 1>, nvvm.minctasm = 1 : i32, tileas.smem_bytes = 0 : i32, tileas.parameters = [], tileas.tensor_maps = [], tileas.smem_map = "       0 bytes in all"} {
// CHECK-NEXT:     %0 = cute_nvgpu.arch.warp_idx
// CHECK-NEXT:     %1 = arith.constant 4 : i32
// CHECK-NEXT:     %2 = arith.cmpi slt, %0, %1 : i32
// CHECK-NEXT:     scf.if %2 {
// CHECK-NEXT:       cute_nvgpu.arch.setmaxregister 40 increase = false
// CHECK-NEXT:     }
// CHECK-NEXT:     %3 = arith.constant 8 : i32
// CHECK-NEXT:     %4 = arith.cmpi slt, %0, %3 : i32
// CHECK-NEXT:     %5 = arith.constant 3 : i32
// CHECK-NEXT:     %6 = arith.cmpi slt, %5, %0 : i32
// CHECK-NEXT:     %7 = arith.andi %6, %4 : i1
// CHECK-NEXT:     scf.if %7 {
// CHECK-NEXT:       cute_nvgpu.arch.setmaxregister 232 increase = false
// CHECK-NEXT:     }
// CHECK-NEXT:     func.return
// CHECK-NEXT:   }

// A stage: two arrays of mbarriers, elected bulk copies that announce their bytes, a group of wgmma
// whose descriptors walk through swizzled panels, one arrival of each warp.

func.func @one_tile(%a: !m, %b: !m) attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 8>} {
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0 : index
  %nothing = arith.constant dense<0.0> : tensor<64x64xf32>
  %of_a = nv_tileas.make_tiled_tma_desc %a box[%c64, %c64] {atom = #load} : !m -> !nv_tileas.tma_desc
  %of_b = nv_tileas.make_tiled_tma_desc %b box[%c64, %c64] {atom = #load} : !m -> !nv_tileas.tma_desc
  %none = nv_tileas.create_none : !nv_tileas.mem_token
  %buffer = nv_tileas.alloc_tensor : tensor<2x8192xf16, #nv_tileas<space smem>>
  %slots = nv_tileas.view %buffer : tensor<2x8192xf16, #nv_tileas<space smem>> -> !slots
  %p0, %c0 = nv_tileas.async.pipeline.create_pipeline %slots {numStages = 2 : i32, producerGroupId = 0 : i8, consumerGroupId = 1 : i8} : !slots -> !prod, !cons
  nv_tileas.async.pipeline.agent_switch {num_agents_per_group = 1 : i32, max_regs = array<i32: 0, 0>, isolated = false} agent 0 {
    %i = nv_tileas.async.pipeline.create_iterator %p0 : !prod -> !iter
    %p1 = nv_tileas.async.pipeline.produce_one %p0, %i {producer_types = [!a, !a]} : (!prod, !iter) -> !prod {
    ^bb0(%sa: !a, %sb: !a):
      %la = nv_tileas.async.tiled_tma_load %of_a, %sa[%zero, %zero] barrier %none {atom = #load, tx_count = 8192 : i32} : !nv_tileas.tma_desc, !a, index, index, !nv_tileas.mem_token -> !nv_tileas.token
      %lb = nv_tileas.async.tiled_tma_load %of_b, %sb[%zero, %zero] barrier %none {atom = #load, tx_count = 8192 : i32} : !nv_tileas.tma_desc, !a, index, index, !nv_tileas.mem_token -> !nv_tileas.token
      nv_tileas.async.pipeline.yield %sa, %sb : !a, !a
    }
  }, agent 1 {
    %j = nv_tileas.async.pipeline.create_iterator %c0 : !cons -> !iter
    %c1, %sum = nv_tileas.async.pipeline.consume_one %c0, %j {consumer_idx = 0 : i32, consumer_types = [!a, !a]} : (!cons, !iter) -> (!cons, tensor<64x64xf32>) {
    ^bb0(%sa: !a, %sb: !a):
      %dot = nv_tileas.async.dot %sa, %sb, %nothing {atom = #nv_tileas<atom wgmma_f16_f16_f32>} : !a, !a, tensor<64x64xf32> -> !sum
      %done = nv_tileas.async.wait %dot : !sum -> tensor<64x64xf32>
      nv_tileas.async.pipeline.yield %done : tensor<64x64xf32>
    }
  }
  func.return
}

// CHECK-LABEL:   func.func @one_tile(%ptr: !cute.ptr<f16, gmem, align<16>>, %size: index, %size_1: index, %ptr_1: !cute.ptr<f16, gmem, align<16>>, %size_2: index, %size_3: index, %0: !cute_nvgpu.tma_descriptor_tiled, %1: !cute_nvgpu.tma_descriptor_tiled) attributes {cute.kernel, nvvm.reqntid = array<i32: 256, 1, 1>, nvvm.minctasm = 1 : i32, tileas.smem_bytes = 32800 : i32, tileas.parameters = ["ptr 0", "size 0 0", "size 0 1", "ptr 1", "size 1 0", "size 1 1", "tensor map 0", "tensor map 1"], tileas.tensor_maps = [{argument = 0 : i64, box = array<i64: 64, 64>, element = f16, swizzle = "128B", nan_fill = false}, {argument = 1 : i64, box = array<i64: 64, 64>, element = f16, swizzle = "128B", nan_fill = false}], tileas.smem_map = "       0 .. 32768    %p0              2 stages of 16384 bytes\0A   32768 .. 32784    full of %p0      mbarriers\0A   32784 .. 32800    empty of %p0     mbarriers\0A   32800 bytes in all"} {
// CHECK-NEXT:     %2 = cute_nvgpu.arch.thread_idx "x"
// CHECK-NEXT:     %3 = cute_nvgpu.arch.warp_idx
// CHECK-NEXT:     %4 = arith.constant 0 : i32
// CHECK-NEXT:     %5 = arith.cmpi eq, %2, %4 : i32
// CHECK-NEXT:     cute_nvgpu.arch.prefetch_tma_desc %0 if %5
// CHECK-NEXT:     cute_nvgpu.arch.prefetch_tma_desc %1 if %5
// CHECK-NEXT:     %6 = cute_nvgpu.arch.get_dyn_smem 32768 -> !cute.ptr<i64, smem>
// CHECK-NEXT:     %7 = cute_nvgpu.arch.get_dyn_smem 32784 -> !cute.ptr<i64, smem>
// CHECK-NEXT:     %8 = cute_nvgpu.arch.get_dyn_smem 0 -> !cute.ptr<i8, smem, align<1024>>
// CHECK-NEXT:     scf.if %5 {
// CHECK-NEXT:       cute_nvgpu.arch.mbarrier_init %6, 1 : !cute.ptr<i64, smem>
// CHECK-NEXT:       cute_nvgpu.arch.mbarrier_init %7, 4 : !cute.ptr<i64, smem>
// CHECK-NEXT:       %9 = arith.constant 1 : i32
// CHECK-NEXT:       %10 = cute.add_offset %6, %9 : !cute.ptr<i64, smem>, i32 -> !cute.ptr<i64, smem>
// CHECK-NEXT:       cute_nvgpu.arch.mbarrier_init %10, 1 : !cute.ptr<i64, smem>
// CHECK-NEXT:       %11 = cute.add_offset %7, %9 : !cute.ptr<i64, smem>, i32 -> !cute.ptr<i64, smem>
// CHECK-NEXT:       cute_nvgpu.arch.mbarrier_init %11, 4 : !cute.ptr<i64, smem>
// CHECK-NEXT:       cute_nvgpu.arch.fence_mbarrier_init
// CHECK-NEXT:     }
// CHECK-NEXT:     cute_nvgpu.arch.barrier id 0
// CHECK-NEXT:     %12 = arith.constant 4 : i32
// CHECK-NEXT:     %13 = arith.cmpi slt, %3, %12 : i32
// CHECK-NEXT:     scf.if %13 {
// CHECK-NEXT:       %14 = arith.cmpi eq, %3, %4 : i32
// CHECK-NEXT:       scf.if %14 {
// CHECK-NEXT:         %15 = cute_nvgpu.arch.elect_one
// CHECK-NEXT:         scf.if %15 {
// CHECK-NEXT:           %16 = arith.constant 1 : i32
// CHECK-NEXT:           %17 = cute.add_offset %7, %4 : !cute.ptr<i64, smem>, i32 -> !cute.ptr<i64, smem>
// CHECK-NEXT:           cute_nvgpu.arch.mbarrier_wait %17, %16 : !cute.ptr<i64, smem>
// CHECK-NEXT:           %18 = cute.add_offset %6, %4 : !cute.ptr<i64, smem>, i32 -> !cute.ptr<i64, smem>
// CHECK-NEXT:           cute_nvgpu.arch.mbarrier_arrive_expect_tx %18, 16384 : !cute.ptr<i64, smem>
// CHECK-NEXT:           %19 = cute.add_offset %8, %4 : !cute.ptr<i8, smem, align<1024>>, i32 -> !cute.ptr<i8, smem, align<1024>>
// CHECK-NEXT:           %20 = arith.constant 8192 : i32
// CHECK-NEXT:           %21 = cute.add_offset %19, %20 : !cute.ptr<i8, smem, align<1024>>, i32 -> !cute.ptr<i8, smem, align<1024>>
// CHECK-NEXT:           %22 = arith.constant 0 : index
// CHECK-NEXT:           %23 = arith.index_cast %22 : index to i32
// CHECK-NEXT:           cute_nvgpu.arch.copy.SM90.tma_load %0[%23, %23] to %19, %18 : !cute.ptr<i8, smem, align<1024>>, !cute.ptr<i64, smem>
// CHECK-NEXT:           cute_nvgpu.arch.copy.SM90.tma_load %1[%23, %23] to %21, %18 : !cute.ptr<i8, smem, align<1024>>, !cute.ptr<i64, smem>
// CHECK-NEXT:         }
// CHECK-NEXT:       }
// CHECK-NEXT:     }
// CHECK-NEXT:     %24 = arith.constant 8 : i32
// CHECK-NEXT:     %25 = arith.cmpi slt, %3, %24 : i32
// CHECK-NEXT:     %26 = arith.constant 3 : i32
// CHECK-NEXT:     %27 = arith.cmpi slt, %26, %3 : i32
// CHECK-NEXT:     %28 = arith.andi %27, %25 : i1
// CHECK-NEXT:     scf.if %28 {
// CHECK-NEXT:       %29 = cute.add_offset %6, %4 : !cute.ptr<i64, smem>, i32 -> !cute.ptr<i64, smem>
// CHECK-NEXT:       cute_nvgpu.arch.mbarrier_wait %29, %4 : !cute.ptr<i64, smem>
// CHECK-NEXT:       %30 = cute.add_offset %8, %4 : !cute.ptr<i8, smem, align<1024>>, i32 -> !cute.ptr<i8, smem, align<1024>>
// CHECK-NEXT:       %31 = arith.constant 8192 : i32
// CHECK-NEXT:       %32 = cute.add_offset %30, %31 : !cute.ptr<i8, smem, align<1024>>, i32 -> !cute.ptr<i8, smem, align<1024>>
// CHECK-NEXT:       %33 = cute.fragment.undef : vector<32xf32>
// CHECK-NEXT:       %34 = cute_nvgpu.make_gmma_smem_desc %30 swizzle "128B" leading 16 stride 1024 : !cute.ptr<i8, smem, align<1024>>
// CHECK-NEXT:       %35 = cute_nvgpu.make_gmma_smem_desc %32 swizzle "128B" leading 0 stride 1024 : !cute.ptr<i8, smem, align<1024>>
// CHECK-NEXT:       cute_nvgpu.arch.wgmma_fence
// CHECK-NEXT:       %36 = cute_nvgpu.smem_desc_add %35 bytes 0
// CHECK-NEXT:       %37 = cute_nvgpu.smem_desc_add %34 bytes 0
// CHECK-NEXT:       %38 = arith.constant false
// CHECK-NEXT:       %39 = cute_nvgpu.arch.mma.SM90 %37, %36, %33 scale_d %38 shape [64, 64, 16] elements "f16", "f16" major "k", "mn" : !cute_nvgpu.smem_desc, vector<32xf32> -> vector<32xf32>
// CHECK-NEXT:       %40 = cute_nvgpu.smem_desc_add %35 bytes 2048
// CHECK-NEXT:       %41 = cute_nvgpu.smem_desc_add %34 bytes 32
// CHECK-NEXT:       %42 = cute_nvgpu.arch.mma.SM90 %41, %40, %39 shape [64, 64, 16] elements "f16", "f16" major "k", "mn" : !cute_nvgpu.smem_desc, vector<32xf32> -> vector<32xf32>
// CHECK-NEXT:       %43 = cute_nvgpu.smem_desc_add %35 bytes 4096
// CHECK-NEXT:       %44 = cute_nvgpu.smem_desc_add %34 bytes 64
// CHECK-NEXT:       %45 = cute_nvgpu.arch.mma.SM90 %44, %43, %42 shape [64, 64, 16] elements "f16", "f16" major "k", "mn" : !cute_nvgpu.smem_desc, vector<32xf32> -> vector<32xf32>
// CHECK-NEXT:       %46 = cute_nvgpu.smem_desc_add %35 bytes 6144
// CHECK-NEXT:       %47 = cute_nvgpu.smem_desc_add %34 bytes 96
// CHECK-NEXT:       %48 = cute_nvgpu.arch.mma.SM90 %47, %46, %45 shape [64, 64, 16] elements "f16", "f16" major "k", "mn" : !cute_nvgpu.smem_desc, vector<32xf32> -> vector<32xf32>
// CHECK-NEXT:       cute_nvgpu.arch.wgmma_commit_group
// CHECK-NEXT:       %49 = cute_nvgpu.arch.wgmma_wait_group 0, %48 : vector<32xf32> -> vector<32xf32>
// CHECK-NEXT:       %50 = cute.add_offset %7, %4 : !cute.ptr<i64, smem>, i32 -> !cute.ptr<i64, smem>
// CHECK-NEXT:       %51 = cute_nvgpu.arch.elect_one
// CHECK-NEXT:       cute_nvgpu.arch.mbarrier_arrive %50 if %51 : !cute.ptr<i64, smem>
// CHECK-NEXT:     }
// CHECK-NEXT:     func.return
// CHECK-NEXT:   }
