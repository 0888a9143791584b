// `lower-tma-load-store-to-async`: tiled memory operations that TMA may do become descriptors, bulk
// copies and waits.

// RUN: tileas-opt %s -p lower-tma-load-store-to-async | filecheck %s
// RUN: tileas-opt %s -p lower-tma-load-store-to-async,lower-tma-load-store-to-async | filecheck %s
// RUN: xdsl-opt %s -p lower-tma-load-store-to-async,verify-dominance | xdsl-opt -o /dev/null
// RUN: tileas-opt %s -p 'lower-tma-load-store-to-async{prefer_tma=true}' | filecheck %s --check-prefix=PREFER
// RUN: env TILEIR_PREFER_TMA_FOR_LOAD_STORE=1 tileas-opt %s -p lower-tma-load-store-to-async | filecheck %s --check-prefix=PREFER
// RUN: tileas-opt %s -p 'lower-tma-load-store-to-async{delay_store_wait=true}' | filecheck %s --check-prefix=DELAY
// RUN: env TILEIR_DELAY_TMA_STORE_WAIT=1 tileas-opt %s -p lower-tma-load-store-to-async | filecheck %s --check-prefix=DELAY

#load = #nv_tileas<atom tma_load_2d>
#store = #nv_tileas<atom tma_store_2d>
#reduce = #nv_tileas<atom tma_redg_2d<op = add>>
#gather = #nv_tileas<atom tma_load_2d<mode = gather4>>
#scatter = #nv_tileas<atom tma_store_2d<mode = scatter4>>
#ldg = #nv_tileas<atom ldg>
#any = #nv_tileas<atom unknown_copy>
#smem = #nv_tileas<space smem>
#mma = #nv_tileas<atom wgmma_f16_f16_f32>
#lies = #nv_tileas.shared<(64,64),(64,1),swizzle<3,4,3>>
!array = memref<?x?xf16>
!view = !nv_tileas.tiled_view<64x64xf16, gmem>
!tile = tensor<64x64xf16>
!stored = tensor<64x64xf16, #smem>
!sums = tensor<64x64xf32>
!mem = !nv_tileas.mem_token
!desc = !nv_tileas.tma_desc
!token = !nv_tileas.token
!prod = !nv_tileas.async.pipeline.producer_token
!cons = !nv_tileas.async.pipeline.consumer_token
!iter = !nv_tileas.async.pipeline.iterator<!tile, 2, smem>

// 1. TileAS TMA and Memops Family, "LowerTMALoadStoreToAsync": one load, the four operations that it
// becomes: the descriptor, the new tile in shared memory, the bulk copy with a barrier and the bytes
// that it waits for, the wait.  Completed: the function, the product, which reads the tile where it is.

func.func @load(%x: !array, %i: index, %k: index, %b: !stored, %c: !sums) -> !sums attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
  %v = nv_tileas.view %x : !array -> !view
  %t = nv_tileas.tiled_load %v[%i, %k] {atom = #load, allow_tma = true} : !view -> !tile
  %d = nv_tileas.dot %t, %b, %c {atom = #mma} : !tile, !stored, !sums -> !sums
  func.return %d : !sums
}

// CHECK-LABEL: func.func @load(%x: !array, %i: index, %k: index, %b: !stored, %c: !sums) -> !sums attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
// CHECK-NEXT:      %v = nv_tileas.view %x : !array -> !view
// CHECK-NEXT:      %c64 = arith.constant 64 : index
// CHECK-NEXT:      %of_x = nv_tileas.make_tiled_tma_desc %x box[%c64, %c64] {atom = #load, mode = "tiled", oob_mode = #nv_tileas<oob_mode zero>, tmaIdx = 0 : i32} : !array -> !desc
// CHECK-NEXT:      %t_tile = nv_tileas.alloc_tensor : !stored
// CHECK-NEXT:      %t_barrier = nv_tileas.create_none : !mem
// CHECK-NEXT:      %t_loading = nv_tileas.async.tiled_tma_load %of_x, %t_tile[%i, %k] barrier %t_barrier {atom = #load, tmaIdx = 0 : i32, tx_count = 8192 : i32} : !desc, !stored, index, index, !mem -> !token
// CHECK-NEXT:      nv_tileas.async.wait %t_loading : !token
// CHECK-NEXT:      %d = nv_tileas.dot %t_tile, %b, %c {atom = #mma} : !stored, !stored, !sums -> !sums
// CHECK-NEXT:      func.return %d : !sums
// CHECK-NEXT:    }

// Offsets of a load that are no whole tiles stay elements; those known to be whole tiles are counted.

func.func @behind(%x: !array, %i: index, %k: index, %b: !stored, %c: !sums) -> !sums attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
  %v = nv_tileas.view %x : !array -> !view
  %two = arith.constant 128 : index
  %t = nv_tileas.tiled_load %v[%i, %k] offset[%k, %two] {atom = #load, allow_tma = true} : !view -> !tile
  %d = nv_tileas.dot %t, %b, %c {atom = #mma} : !tile, !stored, !sums -> !sums
  func.return %d : !sums
}

// CHECK-LABEL: func.func @behind(
// CHECK:           %0 = arith.constant 2 : index
// CHECK-NEXT:      %1 = arith.addi %k, %0 : index
// CHECK-NEXT:      %2 = arith.constant 0 : index
// CHECK-NEXT:      %t_loading = nv_tileas.async.tiled_tma_load %{{.*}}, %t_tile[%i, %1] offset[%k, %2] barrier %t_barrier

// 2. What works on values reads the tile in registers.  A store puts the tile into shared memory, and
// waits for the copy; nobody tells a barrier.  Each descriptor has an index, in pre-order.

func.func @store(%x: !array, %y: !array, %i: index) attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
  %v = nv_tileas.view %x : !array -> !view
  %w = nv_tileas.view %y : !array -> !view
  %t = nv_tileas.tiled_load %v[%i, %i] {atom = #load, allow_tma = true} : !view -> !tile
  %u = arith.addf %t, %t : !tile
  nv_tileas.tiled_store %u, %w[%i, %i] {atom = #store, allow_tma = true} : !tile, !view
  func.return
}

// CHECK-LABEL: func.func @store(%x: !array, %y: !array, %i: index) attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
// CHECK-NEXT:      %v = nv_tileas.view %x : !array -> !view
// CHECK-NEXT:      %w = nv_tileas.view %y : !array -> !view
// CHECK-NEXT:      %c64 = arith.constant 64 : index
// CHECK-NEXT:      %of_x = nv_tileas.make_tiled_tma_desc %x box[%c64, %c64] {atom = #load, mode = "tiled", oob_mode = #nv_tileas<oob_mode zero>, tmaIdx = 0 : i32} : !array -> !desc
// CHECK-NEXT:      %t_tile = nv_tileas.alloc_tensor : !stored
// CHECK-NEXT:      %t_barrier = nv_tileas.create_none : !mem
// CHECK-NEXT:      %t_loading = nv_tileas.async.tiled_tma_load %of_x, %t_tile[%i, %i] barrier %t_barrier {atom = #load, tmaIdx = 0 : i32, tx_count = 8192 : i32} : !desc, !stored, index, index, !mem -> !token
// CHECK-NEXT:      nv_tileas.async.wait %t_loading : !token
// CHECK-NEXT:      %t_registers = nv_tileas.convert_layout %t_tile : !stored -> !tile
// CHECK-NEXT:      %u = arith.addf %t_registers, %t_registers : !tile
// CHECK-NEXT:      %c64_1 = arith.constant 64 : index
// CHECK-NEXT:      %of_y = nv_tileas.make_tiled_tma_desc %y box[%c64_1, %c64_1] {atom = #store, mode = "tiled", tmaIdx = 1 : i32} : !array -> !desc
// CHECK-NEXT:      %u_tile = nv_tileas.alloc_tensor : !stored
// CHECK-NEXT:      nv_tileas.copy %u, %u_tile {atom = #any} : !tile, !stored
// CHECK-NEXT:      %0 = nv_tileas.async.tiled_tma_store %of_y, %u_tile[%i, %i] {atom = #store, tmaIdx = 1 : i32} : !desc, !stored, index, index -> !token
// CHECK-NEXT:      nv_tileas.async.wait %0 : !token
// CHECK-NEXT:      func.return
// CHECK-NEXT:    }

// 3. A tile that TMA has loaded is stored from where it is.  In a loop the descriptors are in front of
// it, and there is one for all tiles of an array that are moved alike: here for two loads.

func.func @copy(%x: !array, %y: !array, %n: index) attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %v = nv_tileas.view %x : !array -> !view
  %w = nv_tileas.view %y : !array -> !view
  scf.for %i = %zero to %n step %one {
    %t = nv_tileas.tiled_load %v[%zero, %i] {atom = #load, allow_tma = true} : !view -> !tile
    nv_tileas.tiled_store %t, %w[%zero, %i] {atom = #store, allow_tma = true} : !tile, !view
    %u = nv_tileas.tiled_load %v[%one, %i] {atom = #load, allow_tma = true} : !view -> !tile
    nv_tileas.tiled_store %u, %w[%one, %i] {atom = #store, allow_tma = true} : !tile, !view
  }
  func.return
}

// CHECK-LABEL: func.func @copy(%x: !array, %y: !array, %n: index) attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
// CHECK-NEXT:      %zero = arith.constant 0 : index
// CHECK-NEXT:      %one = arith.constant 1 : index
// CHECK-NEXT:      %v = nv_tileas.view %x : !array -> !view
// CHECK-NEXT:      %w = nv_tileas.view %y : !array -> !view
// CHECK-NEXT:      %c64 = arith.constant 64 : index
// CHECK-NEXT:      %of_x = nv_tileas.make_tiled_tma_desc %x box[%c64, %c64] {atom = #load, mode = "tiled", oob_mode = #nv_tileas<oob_mode zero>, tmaIdx = 0 : i32} : !array -> !desc
// CHECK-NEXT:      %c64_1 = arith.constant 64 : index
// CHECK-NEXT:      %of_y = nv_tileas.make_tiled_tma_desc %y box[%c64_1, %c64_1] {atom = #store, mode = "tiled", tmaIdx = 1 : i32} : !array -> !desc
// CHECK-NEXT:      scf.for %i = %zero to %n step %one {
// CHECK-NEXT:        %t_tile = nv_tileas.alloc_tensor : !stored
// CHECK-NEXT:        %t_barrier = nv_tileas.create_none : !mem
// CHECK-NEXT:        %t_loading = nv_tileas.async.tiled_tma_load %of_x, %t_tile[%zero, %i] barrier %t_barrier {atom = #load, tmaIdx = 0 : i32, tx_count = 8192 : i32} : !desc, !stored, index, index, !mem -> !token
// CHECK-NEXT:        nv_tileas.async.wait %t_loading : !token
// CHECK-NEXT:        %0 = nv_tileas.async.tiled_tma_store %of_y, %t_tile[%zero, %i] {atom = #store, tmaIdx = 1 : i32} : !desc, !stored, index, index -> !token
// CHECK-NEXT:        nv_tileas.async.wait %0 : !token
// CHECK-NEXT:        %u_tile = nv_tileas.alloc_tensor : !stored
// CHECK-NEXT:        %u_barrier = nv_tileas.create_none : !mem
// CHECK-NEXT:        %u_loading = nv_tileas.async.tiled_tma_load %of_x, %u_tile[%one, %i] barrier %u_barrier {atom = #load, tmaIdx = 0 : i32, tx_count = 8192 : i32} : !desc, !stored, index, index, !mem -> !token
// CHECK-NEXT:        nv_tileas.async.wait %u_loading : !token
// CHECK-NEXT:        %1 = nv_tileas.async.tiled_tma_store %of_y, %u_tile[%one, %i] {atom = #store, tmaIdx = 1 : i32} : !desc, !stored, index, index -> !token
// CHECK-NEXT:        nv_tileas.async.wait %1 : !token
// CHECK-NEXT:      }
// CHECK-NEXT:      func.return
// CHECK-NEXT:    }

// 4. A descriptor that is there already is reused, and gets its index.

func.func @reuse(%x: !array, %i: index) -> !tile attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
  %n = arith.constant 64 : index
  %d = nv_tileas.make_tiled_tma_desc %x box[%n, %n] {atom = #load} : !array -> !desc
  %t = nv_tileas.tiled_load %x[%i, %i] {atom = #nv_tileas<atom tma_load_2d<box = [64, 64]>>, allow_tma = true} : !array -> !tile
  func.return %t : !tile
}

// CHECK-LABEL: func.func @reuse(%x: !array, %i: index) -> !tile attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
// CHECK-NEXT:      %n = arith.constant 64 : index
// CHECK-NEXT:      %d = nv_tileas.make_tiled_tma_desc %x box[%n, %n] {atom = #load, tmaIdx = 0 : i32} : !array -> !desc
// CHECK-NEXT:      %t_tile = nv_tileas.alloc_tensor : !stored
// CHECK-NEXT:      %t_barrier = nv_tileas.create_none : !mem
// CHECK-NEXT:      %t_loading = nv_tileas.async.tiled_tma_load %d, %t_tile[%i, %i] barrier %t_barrier {atom = #nv_tileas<atom tma_load_2d<box = [64, 64]>>, tmaIdx = 0 : i32, tx_count = 8192 : i32} : !desc, !stored, index, index, !mem -> !token
// CHECK-NEXT:      nv_tileas.async.wait %t_loading : !token
// CHECK-NEXT:      %t_registers = nv_tileas.convert_layout %t_tile : !stored -> !tile
// CHECK-NEXT:      func.return %t_registers : !tile
// CHECK-NEXT:    }

// 5. A tile that is laid out: the descriptor swizzles as it lies.  Rows longer than the swizzle spans
// are moved in boxes.

func.func @laid_out(%x: !array, %i: index) -> tensor<64x128xf16, #nv_tileas.shared<(64,(64,2)),(64,(1,4096)),swizzle<3,4,3>>> attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
  %v = nv_tileas.view %x : !array -> !nv_tileas.tiled_view<64x128xf16, gmem>
  %t = nv_tileas.tiled_load %v[%i, %i] {atom = #load, allow_tma = true} : !nv_tileas.tiled_view<64x128xf16, gmem> -> tensor<64x128xf16, #nv_tileas.shared<(64,(64,2)),(64,(1,4096)),swizzle<3,4,3>>>
  func.return %t : tensor<64x128xf16, #nv_tileas.shared<(64,(64,2)),(64,(1,4096)),swizzle<3,4,3>>>
}

// CHECK-LABEL: func.func @laid_out(%x: !array, %i: index) -> tensor<64x128xf16, #nv_tileas.shared<(64,(64,2)),(64,(1,4096)),swizzle<3,4,3>>> attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
// CHECK-NEXT:      %v = nv_tileas.view %x : !array -> !nv_tileas.tiled_view<64x128xf16, gmem>
// CHECK-NEXT:      %c64 = arith.constant 64 : index
// CHECK-NEXT:      %of_x = nv_tileas.make_tiled_tma_desc %x box[%c64, %c64] {atom = #load, mode = "tiled", swizzle_mode = #nv_tileas<swizzle_mode "128B">, oob_mode = #nv_tileas<oob_mode zero>, tmaIdx = 0 : i32} : !array -> !desc
// CHECK-NEXT:      %t_tile = nv_tileas.alloc_tensor : tensor<64x128xf16, #nv_tileas.shared<(64,(64,2)),(64,(1,4096)),swizzle<3,4,3>>>
// CHECK-NEXT:      %t_barrier = nv_tileas.create_none : !mem
// CHECK-NEXT:      %t_loading = nv_tileas.async.tiled_tma_load %of_x, %t_tile[%i, %i] barrier %t_barrier {atom = #load, tmaIdx = 0 : i32, tx_count = 16384 : i32} : !desc, tensor<64x128xf16, #nv_tileas.shared<(64,(64,2)),(64,(1,4096)),swizzle<3,4,3>>>, index, index, !mem -> !token
// CHECK-NEXT:      nv_tileas.async.wait %t_loading : !token
// CHECK-NEXT:      func.return %t_tile : tensor<64x128xf16, #nv_tileas.shared<(64,(64,2)),(64,(1,4096)),swizzle<3,4,3>>>
// CHECK-NEXT:    }

// 6. A reduction: the tile before is not known, so that nobody may use it.

func.func @reduce(%y: !array, %i: index, %t: !tile) attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
  %w = nv_tileas.view %y : !array -> !view
  %old = nv_tileas.tiled_atomic_rmw add %t, %w[%i, %i] relaxed gpu {atom = #reduce, allow_tma = true} : !tile, !view -> !tile
  func.return
}

// CHECK-LABEL: func.func @reduce(%y: !array, %i: index, %t: !tile) attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
// CHECK-NEXT:      %w = nv_tileas.view %y : !array -> !view
// CHECK-NEXT:      %c64 = arith.constant 64 : index
// CHECK-NEXT:      %of_y = nv_tileas.make_tiled_tma_desc %y box[%c64, %c64] {atom = #reduce, mode = "tiled", tmaIdx = 0 : i32} : !array -> !desc
// CHECK-NEXT:      %tile = nv_tileas.alloc_tensor : !stored
// CHECK-NEXT:      nv_tileas.copy %t, %tile {atom = #any} : !tile, !stored
// CHECK-NEXT:      %0 = nv_tileas.async.tiled_atomic_rmw add %of_y, %tile[%i, %i] {atom = #reduce, tmaIdx = 0 : i32} : !desc, !stored, index, index -> !token
// CHECK-NEXT:      nv_tileas.async.wait %0 : !token
// CHECK-NEXT:      func.return
// CHECK-NEXT:    }

// 7. Rows by their numbers, which coordinates are generated from.

func.func @rows(%x: !array, %numbers: tensor<64xi32>, %i: index) attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
  %n = arith.constant 64 : index
  %v = nv_tileas.view %x : !array -> !view
  %first = arith.muli %i, %n : index
  %rows = nv_tileas.generate : tensor<64x64xindex> {
  ^bb0(%r: index, %c: index):
    %number = tensor.extract %numbers[%r] : tensor<64xi32>
    %row = arith.index_cast %number : i32 to index
    nv_tileas.yield %row : index
  }
  %columns = nv_tileas.generate : tensor<64x64xindex> {
  ^bb0(%r: index, %c: index):
    %column = arith.addi %first, %c : index
    nv_tileas.yield %column : index
  }
  %t = nv_tileas.gather_load %v[%rows : tensor<64x64xindex>, %columns : tensor<64x64xindex>] {atom = #gather, allow_tma = true} : !view -> !tile
  nv_tileas.scatter_store %t, %v[%rows : tensor<64x64xindex>, %columns : tensor<64x64xindex>] {atom = #scatter, allow_tma = true} : !tile, !view
  func.return
}

// CHECK-LABEL: func.func @rows(%x: !array, %numbers: tensor<64xi32>, %i: index) attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
// CHECK-NEXT:      %n = arith.constant 64 : index
// CHECK-NEXT:      %v = nv_tileas.view %x : !array -> !view
// CHECK-NEXT:      %first = arith.muli %i, %n : index
// CHECK-NEXT:      %rows = nv_tileas.generate : tensor<64x64xindex> {
// CHECK-NEXT:      ^bb0(%r: index, %c: index):
// CHECK-NEXT:        %number = tensor.extract %numbers[%r] : tensor<64xi32>
// CHECK-NEXT:        %row = arith.index_cast %number : i32 to index
// CHECK-NEXT:        nv_tileas.yield %row : index
// CHECK-NEXT:      }
// CHECK-NEXT:      %columns = nv_tileas.generate : tensor<64x64xindex> {
// CHECK-NEXT:      ^bb0(%r_1: index, %c_1: index):
// CHECK-NEXT:        %column = arith.addi %first, %c_1 : index
// CHECK-NEXT:        nv_tileas.yield %column : index
// CHECK-NEXT:      }
// CHECK-NEXT:      %c64 = arith.constant 64 : index
// CHECK-NEXT:      %c1 = arith.constant 1 : index
// CHECK-NEXT:      %of_x = nv_tileas.make_tiled_tma_desc %x box[%c64, %c1] {atom = #gather, mode = "gather4", oob_mode = #nv_tileas<oob_mode zero>, tmaIdx = 0 : i32} : !array -> !desc
// CHECK-NEXT:      %t_tile = nv_tileas.alloc_tensor : !stored
// CHECK-NEXT:      %t_barrier = nv_tileas.create_none : !mem
// CHECK-NEXT:      %t_loading = nv_tileas.async.gather_tma_load %of_x, %t_tile[%i] rows %numbers barrier %t_barrier {atom = #gather, tmaIdx = 0 : i32, tx_count = 8192 : i32} : !desc, !stored, index, tensor<64xi32>, !mem -> !token
// CHECK-NEXT:      nv_tileas.async.wait %t_loading : !token
// CHECK-NEXT:      %c64_1 = arith.constant 64 : index
// CHECK-NEXT:      %c1_1 = arith.constant 1 : index
// CHECK-NEXT:      %of_x_1 = nv_tileas.make_tiled_tma_desc %x box[%c64_1, %c1_1] {atom = #scatter, mode = "scatter4", tmaIdx = 1 : i32} : !array -> !desc
// CHECK-NEXT:      %0 = nv_tileas.async.scatter_tma_store %of_x_1, %t_tile[%i] rows %numbers {atom = #scatter, tmaIdx = 1 : i32} : !desc, !stored, index, tensor<64xi32> -> !token
// CHECK-NEXT:      nv_tileas.async.wait %0 : !token
// CHECK-NEXT:      func.return
// CHECK-NEXT:    }

// 8. A load that is yielded as the tile of a stage fills the stage; the barrier is that of the stage.

func.func @stage(%x: !array, %n: index) attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %v = nv_tileas.view %x : !array -> !view
  %memory = nv_tileas.alloc_tensor : tensor<2x64x64xf16, #smem>
  %slots = nv_tileas.view %memory : tensor<2x64x64xf16, #smem> -> !nv_tileas.tiled_view<2x64x64xf16, smem>
  %p0, %c0 = nv_tileas.async.pipeline.create_pipeline %slots {numStages = 2 : i32, producerGroupId = 0 : i8, consumerGroupId = 1 : i8} : !nv_tileas.tiled_view<2x64x64xf16, smem> -> !prod, !cons
  %i0 = nv_tileas.async.pipeline.create_iterator %p0 : !prod -> !iter
  %p1 = nv_tileas.async.pipeline.produce_one %p0, %i0 {producer_types = [!tile]} : (!prod, !iter) -> !prod {
  ^bb0(%stage: !tile):
    %t = nv_tileas.tiled_load %v[%zero, %n] {atom = #load, allow_tma = true} : !view -> !tile
    nv_tileas.async.pipeline.yield %t : !tile
  }
  func.return
}

// CHECK-LABEL: func.func @stage(%x: !array, %n: index) attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
// CHECK-NEXT:      %zero = arith.constant 0 : index
// CHECK-NEXT:      %one = arith.constant 1 : index
// CHECK-NEXT:      %v = nv_tileas.view %x : !array -> !view
// CHECK-NEXT:      %memory = nv_tileas.alloc_tensor : tensor<2x64x64xf16, #smem>
// CHECK-NEXT:      %slots = nv_tileas.view %memory : tensor<2x64x64xf16, #smem> -> !nv_tileas.tiled_view<2x64x64xf16, smem>
// CHECK-NEXT:      %p0, %c0 = nv_tileas.async.pipeline.create_pipeline %slots {numStages = 2 : i32, producerGroupId = 0 : i8, consumerGroupId = 1 : i8} : !nv_tileas.tiled_view<2x64x64xf16, smem> -> !prod, !cons
// CHECK-NEXT:      %i0 = nv_tileas.async.pipeline.create_iterator %p0 : !prod -> !iter
// CHECK-NEXT:      %c64 = arith.constant 64 : index
// CHECK-NEXT:      %of_x = nv_tileas.make_tiled_tma_desc %x box[%c64, %c64] {atom = #load, mode = "tiled", oob_mode = #nv_tileas<oob_mode zero>, tmaIdx = 0 : i32} : !array -> !desc
// CHECK-NEXT:      %p1 = nv_tileas.async.pipeline.produce_one %p0, %i0 {producer_types = [!tile]} : (!prod, !iter) -> !prod {
// CHECK-NEXT:      ^bb0(%stage: !tile):
// CHECK-NEXT:        %t_barrier = nv_tileas.create_none : !mem
// CHECK-NEXT:        %t_loading = nv_tileas.async.tiled_tma_load %of_x, %stage[%zero, %n] barrier %t_barrier {atom = #load, tmaIdx = 0 : i32, tx_count = 8192 : i32} : !desc, !tile, index, index, !mem -> !token
// CHECK-NEXT:        nv_tileas.async.pipeline.yield %stage : !tile
// CHECK-NEXT:      }
// CHECK-NEXT:      func.return
// CHECK-NEXT:    }

// 9. Offsets of whole tiles are counted with the coordinates; tokens of asynchronous work are waited
// for, those of memory are in order as they are written.

func.func @after(%x: !array, %i: index, %before: !token) -> (!token, !mem) attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
  %behind = arith.constant 128 : index
  %v = nv_tileas.view %x : !array -> !view
  %none = nv_tileas.create_none : !mem
  %t, %t1 = nv_tileas.tiled_load %v[%i, %i] offset[%behind, %behind] after %before : !token {atom = #load, allow_tma = true} : !view -> !tile, !token
  %t2 = nv_tileas.tiled_store %t, %v[%i, %i] after %none : !mem {atom = #store, allow_tma = true} : !tile, !view -> !mem
  func.return %t1, %t2 : !token, !mem
}

// CHECK-LABEL: func.func @after(%x: !array, %i: index, %before: !token) -> (!token, !mem) attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
// CHECK-NEXT:      %behind = arith.constant 128 : index
// CHECK-NEXT:      %v = nv_tileas.view %x : !array -> !view
// CHECK-NEXT:      %none = nv_tileas.create_none : !mem
// CHECK-NEXT:      nv_tileas.async.wait %before : !token
// CHECK-NEXT:      %c64 = arith.constant 64 : index
// CHECK-NEXT:      %of_x = nv_tileas.make_tiled_tma_desc %x box[%c64, %c64] {atom = #load, mode = "tiled", oob_mode = #nv_tileas<oob_mode zero>, tmaIdx = 0 : i32} : !array -> !desc
// CHECK-NEXT:      %t_tile = nv_tileas.alloc_tensor : !stored
// CHECK-NEXT:      %t_barrier = nv_tileas.create_none : !mem
// CHECK-NEXT:      %0 = arith.constant 2 : index
// CHECK-NEXT:      %1 = arith.addi %i, %0 : index
// CHECK-NEXT:      %2 = arith.constant 2 : index
// CHECK-NEXT:      %3 = arith.addi %i, %2 : index
// CHECK-NEXT:      %t_loading = nv_tileas.async.tiled_tma_load %of_x, %t_tile[%1, %3] barrier %t_barrier {atom = #load, tmaIdx = 0 : i32, tx_count = 8192 : i32} : !desc, !stored, index, index, !mem -> !token
// CHECK-NEXT:      nv_tileas.async.wait %t_loading : !token
// CHECK-NEXT:      %c64_1 = arith.constant 64 : index
// CHECK-NEXT:      %of_x_1 = nv_tileas.make_tiled_tma_desc %x box[%c64_1, %c64_1] {atom = #store, mode = "tiled", tmaIdx = 1 : i32} : !array -> !desc
// CHECK-NEXT:      %4 = nv_tileas.async.tiled_tma_store %of_x_1, %t_tile[%i, %i] {atom = #store, tmaIdx = 1 : i32} : !desc, !stored, index, index -> !token
// CHECK-NEXT:      nv_tileas.async.wait %4 : !token
// CHECK-NEXT:      func.return %before, %none : !token, !mem
// CHECK-NEXT:    }

// 10. TMA may move elements as those of another type.

func.func @internal(%x: memref<?x?xf32>, %i: index) -> tensor<32x32xf32> attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
  %v = nv_tileas.view %x : memref<?x?xf32> -> !nv_tileas.tiled_view<32x32xf32, gmem>
  %t = nv_tileas.tiled_load %v[%i, %i] {atom = #load, allow_tma = true, tma_internal_type = i32} : !nv_tileas.tiled_view<32x32xf32, gmem> -> tensor<32x32xf32>
  func.return %t : tensor<32x32xf32>
}

// CHECK-LABEL: func.func @internal(%x: memref<?x?xf32>, %i: index) -> tensor<32x32xf32> attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
// CHECK-NEXT:      %v = nv_tileas.view %x : memref<?x?xf32> -> !nv_tileas.tiled_view<32x32xf32, gmem>
// CHECK-NEXT:      %c32 = arith.constant 32 : index
// CHECK-NEXT:      %of_x = nv_tileas.make_tiled_tma_desc %x box[%c32, %c32] {atom = #load, mode = "tiled", oob_mode = #nv_tileas<oob_mode zero>, tma_internal_type = i32, tmaIdx = 0 : i32} : memref<?x?xf32> -> !desc
// CHECK-NEXT:      %t_tile = nv_tileas.alloc_tensor : tensor<32x32xi32, #smem>
// CHECK-NEXT:      %t_barrier = nv_tileas.create_none : !mem
// CHECK-NEXT:      %t_loading = nv_tileas.async.tiled_tma_load %of_x, %t_tile[%i, %i] barrier %t_barrier {atom = #load, tma_internal_type = i32, tmaIdx = 0 : i32, tx_count = 4096 : i32} : !desc, tensor<32x32xi32, #smem>, index, index, !mem -> !token
// CHECK-NEXT:      nv_tileas.async.wait %t_loading : !token
// CHECK-NEXT:      %0 = nv_tileas.reinterpret %t_tile : tensor<32x32xi32, #smem> -> tensor<32x32xf32, #smem>
// CHECK-NEXT:      %t_registers = nv_tileas.convert_layout %0 : tensor<32x32xf32, #smem> -> tensor<32x32xf32>
// CHECK-NEXT:      func.return %t_registers : tensor<32x32xf32>
// CHECK-NEXT:    }

// 11. Left alone: what nobody allows, unless TMA is preferred; what has no atom of TMA, whatever is
// allowed or preferred; what is asynchronous already.

func.func @alone(%x: !array, %i: index) -> (!tile, !tile, !tile, !nv_tileas.token<!tile>) attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
  %v = nv_tileas.view %x : !array -> !view
  %a = nv_tileas.tiled_load %v[%i, %i] {atom = #load} : !view -> !tile
  %b = nv_tileas.tiled_load %v[%i, %i] {atom = #ldg, allow_tma = true} : !view -> !tile
  %c = nv_tileas.tiled_load %v[%i, %i] {atom = #any, allow_tma = true} : !view -> !tile
  %d = nv_tileas.async.tiled_load %v[%i, %i] {atom = #load, allow_tma = true} : !view -> !nv_tileas.token<!tile>
  func.return %a, %b, %c, %d : !tile, !tile, !tile, !nv_tileas.token<!tile>
}

// CHECK-LABEL: func.func @alone(%x: !array, %i: index) -> (!tile, !tile, !tile, !nv_tileas.token<!tile>) attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
// CHECK-NEXT:      %v = nv_tileas.view %x : !array -> !view
// CHECK-NEXT:      %a = nv_tileas.tiled_load %v[%i, %i] {atom = #load} : !view -> !tile
// CHECK-NEXT:      %b = nv_tileas.tiled_load %v[%i, %i] {atom = #ldg, allow_tma = true} : !view -> !tile
// CHECK-NEXT:      %c = nv_tileas.tiled_load %v[%i, %i] {atom = #any, allow_tma = true} : !view -> !tile
// CHECK-NEXT:      %d = nv_tileas.async.tiled_load %v[%i, %i] {atom = #load, allow_tma = true} : !view -> !nv_tileas.token<!tile>
// CHECK-NEXT:      func.return %a, %b, %c, %d : !tile, !tile, !tile, !nv_tileas.token<!tile>
// CHECK-NEXT:    }

// PREFER-LABEL: func.func @alone(%x: !array, %i: index) -> (!tile, !tile, !tile, !nv_tileas.token<!tile>) attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
// PREFER-NEXT:      %v = nv_tileas.view %x : !array -> !view
// PREFER-NEXT:      %c64 = arith.constant 64 : index
// PREFER-NEXT:      %of_x = nv_tileas.make_tiled_tma_desc %x box[%c64, %c64] {atom = #load, mode = "tiled", oob_mode = #nv_tileas<oob_mode zero>, tmaIdx = 0 : i32} : !array -> !desc
// PREFER-NEXT:      %a_tile = nv_tileas.alloc_tensor : !stored
// PREFER-NEXT:      %a_barrier = nv_tileas.create_none : !mem
// PREFER-NEXT:      %a_loading = nv_tileas.async.tiled_tma_load %of_x, %a_tile[%i, %i] barrier %a_barrier {atom = #load, tmaIdx = 0 : i32, tx_count = 8192 : i32} : !desc, !stored, index, index, !mem -> !token
// PREFER-NEXT:      nv_tileas.async.wait %a_loading : !token
// PREFER-NEXT:      %a_registers = nv_tileas.convert_layout %a_tile : !stored -> !tile
// PREFER-NEXT:      %b = nv_tileas.tiled_load %v[%i, %i] {atom = #ldg, allow_tma = true} : !view -> !tile
// PREFER-NEXT:      %c = nv_tileas.tiled_load %v[%i, %i] {atom = #any, allow_tma = true} : !view -> !tile
// PREFER-NEXT:      %d = nv_tileas.async.tiled_load %v[%i, %i] {atom = #load, allow_tma = true} : !view -> !nv_tileas.token<!tile>
// PREFER-NEXT:      func.return %a_registers, %b, %c, %d : !tile, !tile, !tile, !nv_tileas.token<!tile>
// PREFER-NEXT:    }

// 12. A function without a word on how it is launched has no descriptors; this one needs none.

func.func @helper(%x: !array, %i: index) -> !tile {
  %v = nv_tileas.view %x : !array -> !view
  %a = nv_tileas.tiled_load %v[%i, %i] {atom = #ldg, allow_tma = true} : !view -> !tile
  func.return %a : !tile
}

// CHECK-LABEL: func.func @helper(%x: !array, %i: index) -> !tile {
// CHECK-NEXT:      %v = nv_tileas.view %x : !array -> !view
// CHECK-NEXT:      %a = nv_tileas.tiled_load %v[%i, %i] {atom = #ldg, allow_tma = true} : !view -> !tile
// CHECK-NEXT:      func.return %a : !tile
// CHECK-NEXT:    }

// 13. The wait of a store sinks past what cares neither for its tile nor for its array, the wait of
// the next load for one; not past a store to the same array, nor out of the loop.

func.func @late(%x: !array, %y: !array, %n: index) attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %v = nv_tileas.view %x : !array -> !view
  %w = nv_tileas.view %y : !array -> !view
  scf.for %i = %zero to %n step %one {
    %t = nv_tileas.tiled_load %v[%zero, %i] {atom = #load, allow_tma = true} : !view -> !tile
    nv_tileas.tiled_store %t, %w[%zero, %i] {atom = #store, allow_tma = true} : !tile, !view
    %u = nv_tileas.tiled_load %v[%one, %i] {atom = #load, allow_tma = true} : !view -> !tile
    %s = arith.addf %u, %u : !tile
    nv_tileas.tiled_store %s, %w[%one, %i] {atom = #store, allow_tma = true} : !tile, !view
  }
  func.return
}

// CHECK-LABEL: func.func @late(%x: !array, %y: !array, %n: index) attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
// CHECK-NEXT:      %zero = arith.constant 0 : index
// CHECK-NEXT:      %one = arith.constant 1 : index
// CHECK-NEXT:      %v = nv_tileas.view %x : !array -> !view
// CHECK-NEXT:      %w = nv_tileas.view %y : !array -> !view
// CHECK-NEXT:      %c64 = arith.constant 64 : index
// CHECK-NEXT:      %of_x = nv_tileas.make_tiled_tma_desc %x box[%c64, %c64] {atom = #load, mode = "tiled", oob_mode = #nv_tileas<oob_mode zero>, tmaIdx = 0 : i32} : !array -> !desc
// CHECK-NEXT:      %c64_1 = arith.constant 64 : index
// CHECK-NEXT:      %of_y = nv_tileas.make_tiled_tma_desc %y box[%c64_1, %c64_1] {atom = #store, mode = "tiled", tmaIdx = 1 : i32} : !array -> !desc
// CHECK-NEXT:      scf.for %i = %zero to %n step %one {
// CHECK-NEXT:        %t_tile = nv_tileas.alloc_tensor : !stored
// CHECK-NEXT:        %t_barrier = nv_tileas.create_none : !mem
// CHECK-NEXT:        %t_loading = nv_tileas.async.tiled_tma_load %of_x, %t_tile[%zero, %i] barrier %t_barrier {atom = #load, tmaIdx = 0 : i32, tx_count = 8192 : i32} : !desc, !stored, index, index, !mem -> !token
// CHECK-NEXT:        nv_tileas.async.wait %t_loading : !token
// CHECK-NEXT:        %0 = nv_tileas.async.tiled_tma_store %of_y, %t_tile[%zero, %i] {atom = #store, tmaIdx = 1 : i32} : !desc, !stored, index, index -> !token
// CHECK-NEXT:        nv_tileas.async.wait %0 : !token
// CHECK-NEXT:        %u_tile = nv_tileas.alloc_tensor : !stored
// CHECK-NEXT:        %u_barrier = nv_tileas.create_none : !mem
// CHECK-NEXT:        %u_loading = nv_tileas.async.tiled_tma_load %of_x, %u_tile[%one, %i] barrier %u_barrier {atom = #load, tmaIdx = 0 : i32, tx_count = 8192 : i32} : !desc, !stored, index, index, !mem -> !token
// CHECK-NEXT:        nv_tileas.async.wait %u_loading : !token
// CHECK-NEXT:        %u_registers = nv_tileas.convert_layout %u_tile : !stored -> !tile
// CHECK-NEXT:        %s = arith.addf %u_registers, %u_registers : !tile
// CHECK-NEXT:        %s_tile = nv_tileas.alloc_tensor : !stored
// CHECK-NEXT:        nv_tileas.copy %s, %s_tile {atom = #any} : !tile, !stored
// CHECK-NEXT:        %1 = nv_tileas.async.tiled_tma_store %of_y, %s_tile[%one, %i] {atom = #store, tmaIdx = 1 : i32} : !desc, !stored, index, index -> !token
// CHECK-NEXT:        nv_tileas.async.wait %1 : !token
// CHECK-NEXT:      }
// CHECK-NEXT:      func.return
// CHECK-NEXT:    }

// DELAY-LABEL: func.func @late(%x: !array, %y: !array, %n: index) attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
// DELAY-NEXT:      %zero = arith.constant 0 : index
// DELAY-NEXT:      %one = arith.constant 1 : index
// DELAY-NEXT:      %v = nv_tileas.view %x : !array -> !view
// DELAY-NEXT:      %w = nv_tileas.view %y : !array -> !view
// DELAY-NEXT:      %c64 = arith.constant 64 : index
// DELAY-NEXT:      %of_x = nv_tileas.make_tiled_tma_desc %x box[%c64, %c64] {atom = #load, mode = "tiled", oob_mode = #nv_tileas<oob_mode zero>, tmaIdx = 0 : i32} : !array -> !desc
// DELAY-NEXT:      %c64_1 = arith.constant 64 : index
// DELAY-NEXT:      %of_y = nv_tileas.make_tiled_tma_desc %y box[%c64_1, %c64_1] {atom = #store, mode = "tiled", tmaIdx = 1 : i32} : !array -> !desc
// DELAY-NEXT:      scf.for %i = %zero to %n step %one {
// DELAY-NEXT:        %t_tile = nv_tileas.alloc_tensor : !stored
// DELAY-NEXT:        %t_barrier = nv_tileas.create_none : !mem
// DELAY-NEXT:        %t_loading = nv_tileas.async.tiled_tma_load %of_x, %t_tile[%zero, %i] barrier %t_barrier {atom = #load, tmaIdx = 0 : i32, tx_count = 8192 : i32} : !desc, !stored, index, index, !mem -> !token
// DELAY-NEXT:        nv_tileas.async.wait %t_loading : !token
// DELAY-NEXT:        %0 = nv_tileas.async.tiled_tma_store %of_y, %t_tile[%zero, %i] {nv_tileas.delay_store_wait, atom = #store, tmaIdx = 1 : i32} : !desc, !stored, index, index -> !token
// DELAY-NEXT:        %u_tile = nv_tileas.alloc_tensor : !stored
// DELAY-NEXT:        %u_barrier = nv_tileas.create_none : !mem
// DELAY-NEXT:        %u_loading = nv_tileas.async.tiled_tma_load %of_x, %u_tile[%one, %i] barrier %u_barrier {atom = #load, tmaIdx = 0 : i32, tx_count = 8192 : i32} : !desc, !stored, index, index, !mem -> !token
// DELAY-NEXT:        nv_tileas.async.wait %u_loading : !token
// DELAY-NEXT:        %u_registers = nv_tileas.convert_layout %u_tile : !stored -> !tile
// DELAY-NEXT:        %s = arith.addf %u_registers, %u_registers : !tile
// DELAY-NEXT:        %s_tile = nv_tileas.alloc_tensor : !stored
// DELAY-NEXT:        nv_tileas.copy %s, %s_tile {atom = #any} : !tile, !stored
// DELAY-NEXT:        nv_tileas.async.wait %0 : !token
// DELAY-NEXT:        %1 = nv_tileas.async.tiled_tma_store %of_y, %s_tile[%one, %i] {nv_tileas.delay_store_wait, atom = #store, tmaIdx = 1 : i32} : !desc, !stored, index, index -> !token
// DELAY-NEXT:        nv_tileas.async.wait %1 : !token
// DELAY-NEXT:      }
// DELAY-NEXT:      func.return
// DELAY-NEXT:    }

// A store in a loop that is waited for until its tile is read runs into the next round, which waits
// where it fills the tile again.

// CHECK-LABEL: func.func @rounds
// CHECK: %[[tile:.*]] = nv_tileas.alloc_tensor
// CHECK: %[[none:.*]] = nv_tileas.create_none : !token
// CHECK: %[[last:.*]] = scf.for {{.*}} iter_args(%[[before:.*]] = %[[none]])
// CHECK-NEXT: nv_tileas.async.wait %[[before]]
// CHECK-NEXT: nv_tileas.copy %{{.*}}, %[[tile]]
// CHECK: %[[token:.*]] = nv_tileas.async.tiled_tma_store
// CHECK-NEXT: scf.yield %[[token]]
// CHECK: nv_tileas.async.wait %[[last]]
func.func @rounds(%c: memref<64x64xf32>, %sum: tensor<64x64xf32>, %n: index) attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %view = nv_tileas.view %c : memref<64x64xf32> -> !nv_tileas.tiled_view<64x64xf32, gmem>
  scf.for %i = %zero to %n step %one {
    %tile = nv_tileas.alloc_tensor : tensor<64x64xf32, #nv_tileas<space smem>>
    nv_tileas.copy %sum, %tile {atom = #nv_tileas<atom unknown_copy>} : tensor<64x64xf32>, tensor<64x64xf32, #nv_tileas<space smem>>
    nv_tileas.tiled_store %tile, %view[%zero, %zero] {nv_tileas.until_read, atom = #nv_tileas<atom tma_store_2d>, allow_tma = true} : tensor<64x64xf32, #nv_tileas<space smem>>, !nv_tileas.tiled_view<64x64xf32, gmem>
    scf.yield
  }
  func.return
}

// Where that loop is in another one, the next round of that one waits.

// CHECK-LABEL: func.func @rounds_of_rounds
// CHECK: %[[tile:.*]] = nv_tileas.alloc_tensor
// CHECK-NEXT: %[[none:.*]] = nv_tileas.create_none : !token
// CHECK: %[[last:.*]] = scf.for {{.*}} iter_args(%[[outer:.*]] = %[[none]])
// CHECK-NEXT: %[[of_round:.*]] = scf.for {{.*}} iter_args(%[[before:.*]] = %[[outer]])
// CHECK-NEXT: nv_tileas.async.wait %[[before]]
// CHECK-NEXT: nv_tileas.copy %{{.*}}, %[[tile]]
// CHECK: %[[token:.*]] = nv_tileas.async.tiled_tma_store
// CHECK-NEXT: scf.yield %[[token]]
// CHECK: scf.yield %[[of_round]]
// CHECK: nv_tileas.async.wait %[[last]]
func.func @rounds_of_rounds(%c: memref<64x64xf32>, %sum: tensor<64x64xf32>, %n: index) attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %view = nv_tileas.view %c : memref<64x64xf32> -> !nv_tileas.tiled_view<64x64xf32, gmem>
  scf.for %t = %zero to %n step %one {
    %tile = nv_tileas.alloc_tensor : tensor<64x64xf32, #nv_tileas<space smem>>
    scf.for %i = %zero to %n step %one {
      nv_tileas.copy %sum, %tile {atom = #nv_tileas<atom unknown_copy>} : tensor<64x64xf32>, tensor<64x64xf32, #nv_tileas<space smem>>
      nv_tileas.tiled_store %tile, %view[%t, %i] {nv_tileas.until_read, atom = #nv_tileas<atom tma_store_2d>, allow_tma = true} : tensor<64x64xf32, #nv_tileas<space smem>>, !nv_tileas.tiled_view<64x64xf32, gmem>
      scf.yield
    }
    scf.yield
  }
  func.return
}

// A tile that stands before the loops stays there, in front of a view of it.

// CHECK-LABEL: func.func @rounds_of_a_view
// CHECK: %[[tile:.*]] = nv_tileas.alloc_tensor
// CHECK-NEXT: nv_tileas.view %[[tile]]
// CHECK: scf.for {{.*}} iter_args
// CHECK-NEXT: nv_tileas.async.wait
// CHECK-NEXT: nv_tileas.copy %{{.*}}, %[[tile]]
func.func @rounds_of_a_view(%c: memref<1x64x64xf32>, %sum: tensor<64x64xf32>, %n: index) attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %view = nv_tileas.view %c : memref<1x64x64xf32> -> !nv_tileas.tiled_view<1x64x64xf32, gmem>
  %tile = nv_tileas.alloc_tensor : tensor<64x64xf32, #nv_tileas<space smem>>
  %of = nv_tileas.view %tile : tensor<64x64xf32, #nv_tileas<space smem>> -> tensor<1x64x64xf32, #nv_tileas<space smem>>
  scf.for %i = %zero to %n step %one {
    nv_tileas.copy %sum, %tile {atom = #nv_tileas<atom unknown_copy>} : tensor<64x64xf32>, tensor<64x64xf32, #nv_tileas<space smem>>
    nv_tileas.tiled_store %of, %view[%zero, %zero, %i] {nv_tileas.until_read, atom = #nv_tileas<atom tma_store_3d>, allow_tma = true} : tensor<1x64x64xf32, #nv_tileas<space smem>>, !nv_tileas.tiled_view<1x64x64xf32, gmem>
    scf.yield
  }
  func.return
}

// Slices of rows, whose beginning and extent are known when the kernel runs: a descriptor of the
// array, however many rows it has, and in each place one of a slice.

// CHECK-LABEL: func.func @slices
// CHECK:         %[[whole:.*]] = nv_tileaa.make_memref %p, sizes, strides : !nv_tileaa.ptr<f16, 1> -> memref<1x64xf16, strided<[64, 1]>>
// CHECK:         %[[all:.*]] = nv_tileas.make_tiled_tma_desc %[[whole]] box[%{{.*}}, %{{.*}}]
// CHECK:         scf.if %far
// CHECK:           %[[slice:.*]] = nv_tileas.slice_tma_desc %[[all]][%first, %rows] {axis = 0 : i32}
// CHECK:           nv_tileas.async.tiled_tma_load %[[slice]], %{{.*}}[%i, %i]
func.func @slices(%p: !nv_tileaa.ptr<f16, 1>, %first: i32, %rows: i32, %i: index, %far: i1) attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
  %columns = arith.constant 64 : i32
  scf.if %far {
    %offset = arith.muli %first, %columns : i32
    %wide = arith.extsi %offset : i32 to i64
    %at = nv_tileaa.addptr %p, %wide : !nv_tileaa.ptr<f16, 1>, i64
    %a = nv_tileaa.make_memref %at, sizes[%rows : i32], strides[] : !nv_tileaa.ptr<f16, 1> -> memref<?x64xf16, strided<[64, 1]>>
    %view = nv_tileas.view %a : memref<?x64xf16, strided<[64, 1]>> -> !nv_tileas.tiled_view<64x64xf16, gmem>
    %t = nv_tileas.tiled_load %view[%i, %i] {atom = #nv_tileas<atom tma_load_2d>, allow_tma = true} : !nv_tileas.tiled_view<64x64xf16, gmem> -> tensor<64x64xf16>
    "test.op"(%t) : (tensor<64x64xf16>) -> ()
  }
  func.return
}

// Loads of a block are issued before the first of them is waited for, but none over a loop or a
// store that nothing orders.

// CHECK-LABEL: func.func @together
// CHECK:         %[[A:.*]] = nv_tileas.async.tiled_tma_load
// CHECK:         %[[J:.*]] = arith.addi %i, %i : index
// CHECK:         %[[B:.*]] = nv_tileas.async.tiled_tma_load %{{.*}}, %{{.*}}[%[[J]], %i]
// CHECK-NEXT:    nv_tileas.async.wait %[[A]]
// CHECK:         "test.op"
// CHECK:         nv_tileas.async.wait %[[B]]
// CHECK:         "test.op"
// CHECK:         scf.for
// CHECK:         nv_tileas.async.tiled_tma_load
func.func @together(%x: memref<?x64xf16, strided<[64, 1]>>, %i: index, %n: index) attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
  %one = arith.constant 1 : index
  %view = nv_tileas.view %x : memref<?x64xf16, strided<[64, 1]>> -> !nv_tileas.tiled_view<64x64xf16, gmem>
  %a = nv_tileas.tiled_load %view[%i, %i] {atom = #nv_tileas<atom tma_load_2d>, allow_tma = true} : !nv_tileas.tiled_view<64x64xf16, gmem> -> tensor<64x64xf16>
  "test.op"(%a) : (tensor<64x64xf16>) -> ()
  %j = arith.addi %i, %i : index
  %b = nv_tileas.tiled_load %view[%j, %i] {atom = #nv_tileas<atom tma_load_2d>, allow_tma = true} : !nv_tileas.tiled_view<64x64xf16, gmem> -> tensor<64x64xf16>
  "test.op"(%b) : (tensor<64x64xf16>) -> ()
  scf.for %k = %i to %n step %one {
    "test.op"(%b) : (tensor<64x64xf16>) -> ()
  }
  %c = nv_tileas.tiled_load %view[%i, %j] {atom = #nv_tileas<atom tma_load_2d>, allow_tma = true} : !nv_tileas.tiled_view<64x64xf16, gmem> -> tensor<64x64xf16>
  "test.op"(%c) : (tensor<64x64xf16>) -> ()
  func.return
}

// Of 128, 16 and 128 KB the second load is issued with the first one; the third one has the memory
// of the first, which products have read by then.

// CHECK-LABEL: func.func @too_large
// CHECK:         scf.for
// CHECK:         %[[A:.*]] = nv_tileas.async.tiled_tma_load
// CHECK:         %[[B:.*]] = nv_tileas.async.tiled_tma_load
// CHECK-NEXT:    nv_tileas.async.wait %[[A]]
// CHECK-NEXT:    nv_tileas.dot
// CHECK-NEXT:    nv_tileas.async.wait %[[B]]
// CHECK-NEXT:    nv_tileas.dot
// CHECK-NEXT:    "test.op"
// CHECK:         nv_tileas.alloc_tensor : tensor<128x512xf16
// CHECK-NEXT:    nv_tileas.create_none
// CHECK-NEXT:    %[[C:.*]] = nv_tileas.async.tiled_tma_load
// CHECK-NEXT:    nv_tileas.async.wait %[[C]]
func.func @too_large(%x: memref<?x512xf16, strided<[512, 1]>>, %y: memref<?x64xf16, strided<[64, 1]>>, %n: index, %q: tensor<512x16xf16, #smem>, %p: tensor<64x16xf16, #smem>, %z: tensor<128x16xf32>) attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
  %wide = nv_tileas.view %x : memref<?x512xf16, strided<[512, 1]>> -> !nv_tileas.tiled_view<128x512xf16, gmem>
  %narrow = nv_tileas.view %y : memref<?x64xf16, strided<[64, 1]>> -> !nv_tileas.tiled_view<128x64xf16, gmem>
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  scf.for %i = %zero to %n step %one {
    %a = nv_tileas.tiled_load %wide[%i, %i] {atom = #nv_tileas<atom tma_load_2d>, allow_tma = true} : !nv_tileas.tiled_view<128x512xf16, gmem> -> tensor<128x512xf16>
    %r = nv_tileas.dot %a, %q, %z {atom = #mma} : tensor<128x512xf16>, tensor<512x16xf16, #smem>, tensor<128x16xf32> -> tensor<128x16xf32>
    %b = nv_tileas.tiled_load %narrow[%i, %i] {atom = #nv_tileas<atom tma_load_2d>, allow_tma = true} : !nv_tileas.tiled_view<128x64xf16, gmem> -> tensor<128x64xf16>
    %s = nv_tileas.dot %b, %p, %r {atom = #mma} : tensor<128x64xf16>, tensor<64x16xf16, #smem>, tensor<128x16xf32> -> tensor<128x16xf32>
    "test.op"(%s) : (tensor<128x16xf32>) -> ()
    %c = nv_tileas.tiled_load %wide[%i, %i] {atom = #nv_tileas<atom tma_load_2d>, allow_tma = true} : !nv_tileas.tiled_view<128x512xf16, gmem> -> tensor<128x512xf16>
    %t = nv_tileas.dot %c, %q, %z {atom = #mma} : tensor<128x512xf16>, tensor<512x16xf16, #smem>, tensor<128x16xf32> -> tensor<128x16xf32>
    "test.op"(%t) : (tensor<128x16xf32>) -> ()
  }
  func.return
}
