// What `lower-tma-load-store-to-async` refuses, phase by phase.  Nothing is changed then, in no
// function.  (Padding of a tiled load is refused by its verifier before; the unit tests reach it.)

// RUN: tileas-opt %s -p 'lower-tma-load-store-to-async{prefer_tma=true}' --split-input-file --verify-diagnostics --allow-unregistered-dialect

// Phase 1, the gate: a function with something to lower is a kernel.

!view = !nv_tileas.tiled_view<64x64xf16, gmem>

// expected-error@+1 {{'func.func' op LowerTMALoadStoreToAsync: missing or invalid KernelSpecAttr on function}}
func.func @f(%v: !view, %i: index) {
  %t = nv_tileas.tiled_load %v[%i, %i] {atom = #nv_tileas<atom tma_load_2d>} : !view -> tensor<64x64xf16>
  func.return
}

// -----

!view = !nv_tileas.tiled_view<64x64xf16, gmem>

// expected-error@+1 {{'func.func' op LowerTMALoadStoreToAsync: missing or invalid KernelSpecAttr on function}}
func.func @f(%v: !view, %t: tensor<64x64xf16>, %i: index) attributes {nv_tileaa.kernel_spec = "four warps"} {
  nv_tileas.tiled_store %t, %v[%i, %i] {atom = #nv_tileas<atom tma_store_2d>} : tensor<64x64xf16>, !view
  func.return
}

// -----

// The gate comes first: nothing is said of the store, which TMA cannot do.

!view = !nv_tileas.tiled_view<64x4xf16, gmem>

// expected-error@+1 {{missing or invalid KernelSpecAttr on function}}
func.func @f(%v: !view, %t: tensor<64x4xf16>, %i: index) {
  nv_tileas.tiled_store %t, %v[%i, %i] {atom = #nv_tileas<atom tma_store_2d>} : tensor<64x4xf16>, !view
  func.return
}

// -----

// Phase 4, the descriptor: a box with rows of 16 bytes or a multiple, of adjacent elements.

func.func @f(%x: memref<?x?xf16>, %i: index) attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
  %v = nv_tileas.view %x : memref<?x?xf16> -> !nv_tileas.tiled_view<64x4xf16, gmem>
  // expected-error@+1 {{'nv_tileas.tiled_load' op tma boxDims[0] * elemTypeBitWidth is not a multiple of 16 bytes}}
  %t = nv_tileas.tiled_load %v[%i, %i] {atom = #nv_tileas<atom tma_load_2d>} : !nv_tileas.tiled_view<64x4xf16, gmem> -> tensor<64x4xf16>
  func.return
}

// -----

func.func @f(%x: memref<128x128xf16, strided<[512, 2]>>, %i: index) attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
  %v = nv_tileas.view %x : memref<128x128xf16, strided<[512, 2]>> -> !nv_tileas.tiled_view<64x64xf16, gmem>
  // expected-error@+1 {{'nv_tileas.tiled_load' op only support element_stride = 1 tma desc}}
  %t = nv_tileas.tiled_load %v[%i, %i] {atom = #nv_tileas<atom tma_load_2d>} : !nv_tileas.tiled_view<64x64xf16, gmem> -> tensor<64x64xf16>
  func.return
}

// -----

func.func @f(%x: memref<128x128xf16, strided<[1, 128]>>, %i: index) attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
  %v = nv_tileas.view %x : memref<128x128xf16, strided<[1, 128]>> -> !nv_tileas.tiled_view<64x64xf16, gmem>
  // expected-error@+1 {{'nv_tileas.tiled_load' op TMA moves rows of adjacent elements, but these are 128 apart}}
  %t = nv_tileas.tiled_load %v[%i, %i] {atom = #nv_tileas<atom tma_load_2d>} : !nv_tileas.tiled_view<64x64xf16, gmem> -> tensor<64x64xf16>
  func.return
}

// -----

func.func @f(%x: memref<128x100xi8>, %i: index) attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
  %v = nv_tileas.view %x : memref<128x100xi8> -> !nv_tileas.tiled_view<64x64xi8, gmem>
  // expected-error@+1 {{'nv_tileas.tiled_load' op TMA needs multiples of 16 bytes between rows, not 100}}
  %t = nv_tileas.tiled_load %v[%i, %i] {atom = #nv_tileas<atom tma_load_2d>} : !nv_tileas.tiled_view<64x64xi8, gmem> -> tensor<64x64xi8>
  func.return
}

// -----

// Phase 4: of an array that is known before the kernel runs.

func.func @f(%x: memref<?x?xf16>, %n: index) attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  scf.for %i = %zero to %n step %one {
    %v = nv_tileas.view %x[%i, %zero] : memref<?x?xf16> -> !nv_tileas.tiled_view<64x64xf16, gmem>
    // expected-error@+1 {{'nv_tileas.tiled_load' op expected MakeTiledTMADescOp not depends on scf}}
    %t = nv_tileas.tiled_load %v[%zero, %zero] {atom = #nv_tileas<atom tma_load_2d>} : !nv_tileas.tiled_view<64x64xf16, gmem> -> tensor<64x64xf16>
  }
  func.return
}

// -----

!view = !nv_tileas.tiled_view<64x64xf16, gmem>

func.func @f(%v: !view, %w: !view, %c: i1, %i: index) attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
  cf.cond_br %c, ^bb1(%v : !view), ^bb1(%w : !view)
^bb1(%u: !view):
  // expected-error@+1 {{'nv_tileas.tiled_load' op values depended by MakeTiledTMADescOp are not supportedbecause <block argument> of type '!nv_tileas.tiled_view<64x64xf16, gmem>' at index: 0 matches more than 1 captured values.}}
  %t = nv_tileas.tiled_load %u[%i, %i] {atom = #nv_tileas<atom tma_load_2d>} : !view -> tensor<64x64xf16>
  func.return
}

// -----

!view = !nv_tileas.tiled_view<64x64xf16, gmem>

func.func @f(%v: !view, %i: index) attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
  // expected-error@+1 {{'nv_tileas.tiled_load' op missing or invalid num_multicast for a multicast TMA load}}
  %t = nv_tileas.tiled_load %v[%i, %i] {atom = #nv_tileas<atom tma_load_2d<multicast>>} : !view -> tensor<64x64xf16>
  func.return
}

// -----

!view = !nv_tileas.tiled_view<64x64xf16, gmem>

func.func @f(%v: !view, %i: index) attributes {"nv_tileas.num-host-tmas" = 0 : i32, "nv_tileas.num-device-tmas" = 0 : i32, nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
  // expected-error@+1 {{'nv_tileas.tiled_load' op needs a descriptor, but its function has been given all it has}}
  %t = nv_tileas.tiled_load %v[%i, %i] {atom = #nv_tileas<atom tma_load_2d>} : !view -> tensor<64x64xf16>
  func.return
}

// -----

// Phase 5, the bulk copy: it pads with zeros,

!view = !nv_tileas.tiled_view<8x64xf16, gmem>

func.func @f(%v: !view, %rows: tensor<8x64xindex>, %i: index) attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
  // expected-error@+1 {{'nv_tileas.gather_load' op GatherTmaLoad only support zero padding now}}
  %t = nv_tileas.gather_load %v[%rows : tensor<8x64xindex>, %i] {atom = #nv_tileas<atom tma_load_2d<mode = gather4>>, in_bounds = array<i1: false, false>, padding_value = 1.0 : f16} : !view -> tensor<8x64xf16>
  func.return
}

// -----

// is weak, and a reduction relaxed,

!view = !nv_tileas.tiled_view<64x64xf16, gmem>

func.func @f(%v: !view, %i: index) attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
  // expected-error@+1 {{'nv_tileas.tiled_load' op is relaxed, but bulk copies are weak}}
  %t = nv_tileas.tiled_load %v[%i, %i] relaxed gpu {atom = #nv_tileas<atom tma_load_2d>} : !view -> tensor<64x64xf16>
  func.return
}

// -----

!view = !nv_tileas.tiled_view<64x64xf16, gmem>

func.func @f(%v: !view, %t: tensor<64x64xf16>, %i: index) attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
  // expected-error@+1 {{'nv_tileas.tiled_atomic_rmw' op is acq_rel, gpu, but bulk reductions are relaxed, at most gpu}}
  %old = nv_tileas.tiled_atomic_rmw add %t, %v[%i, %i] acq_rel gpu {atom = #nv_tileas<atom tma_redg_2d<op = add>>} : tensor<64x64xf16>, !view -> tensor<64x64xf16>
  func.return
}

// -----

!view = !nv_tileas.tiled_view<64x64xf16, gmem>

func.func @f(%v: !view, %t: tensor<64x64xf16>, %i: index) attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
  // expected-error@+1 {{'nv_tileas.tiled_atomic_rmw' op is relaxed, sys, but bulk reductions are relaxed, at most gpu}}
  %old = nv_tileas.tiled_atomic_rmw add %t, %v[%i, %i] relaxed sys {atom = #nv_tileas<atom tma_redg_2d<op = add>>} : tensor<64x64xf16>, !view -> tensor<64x64xf16>
  func.return
}

// -----

// stores units of 16 bytes,

!view = !nv_tileas.tiled_view<64x64xf16, gmem>

func.func @f(%v: !view, %t: tensor<64x64xf16>, %i: index) attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
  %behind = arith.constant 32 : index
  // expected-error@+1 {{'nv_tileas.tiled_store' op begins at multiples of 2 bytes of a row as far as is known, and copies of TMA at multiples of 16}}
  nv_tileas.tiled_store %t, %v[%i, %i] offset[%behind, %i] {atom = #nv_tileas<atom tma_store_2d>} : tensor<64x64xf16>, !view
  func.return
}

// -----

// comes after what something can wait for,

!view = !nv_tileas.tiled_view<64x64xf16, gmem>

func.func @f(%v: !view, %i: index, %before: !nv_tileas.mem_token) attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
  %a, %after = nv_tileas.async.tiled_load %v[%i, %i] after %before : !nv_tileas.mem_token {atom = #nv_tileas<atom ldg>} : !view -> !nv_tileas.token<tensor<64x64xf16>>, !nv_tileas.mem_token
  // expected-error@+1 {{'nv_tileas.tiled_load' op comes after a memory token of asynchronous work, which nothing can wait for}}
  %t, %end = nv_tileas.tiled_load %v[%i, %i] after %after : !nv_tileas.mem_token {atom = #nv_tileas<atom tma_load_2d>} : !view -> tensor<64x64xf16>, !nv_tileas.mem_token
  func.return
}

// -----

// moves whole boxes,

!view = !nv_tileas.tiled_view<64x64xf16, gmem>

func.func @f(%v: !view, %i: index, %m: tensor<64x64xi1>) attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
  // expected-error@+1 {{'nv_tileas.tiled_load' op is masked, and TMA moves whole boxes}}
  %t = nv_tileas.tiled_load %v[%i, %i] mask %m : tensor<64x64xi1> {atom = #nv_tileas<atom tma_load_2d>} : !view -> tensor<64x64xf16>
  func.return
}

// -----

// fills shared memory as it is laid out,

#odd = #nv_tileas.shared<(64,64),(1,64)>
!view = !nv_tileas.tiled_view<64x64xf16, gmem>

func.func @f(%v: !view, %i: index) attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
  // expected-error@+1 {{'nv_tileas.tiled_load' op smem layout is not TMA compatible}}
  %t = nv_tileas.tiled_load %v[%i, %i] {atom = #nv_tileas<atom tma_load_2d>} : !view -> tensor<64x64xf16, #odd>
  func.return
}

// -----

// does not know the tile before,

!view = !nv_tileas.tiled_view<64x64xf16, gmem>

func.func @f(%v: !view, %t: tensor<64x64xf16>, %i: index) -> tensor<64x64xf16> attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
  // expected-error@+1 {{'nv_tileas.tiled_atomic_rmw' op gives the tile before, which nobody knows of a bulk reduction}}
  %old = nv_tileas.tiled_atomic_rmw add %t, %v[%i, %i] {atom = #nv_tileas<atom tma_redg_2d<op = add>>} : tensor<64x64xf16>, !view -> tensor<64x64xf16>
  func.return %old : tensor<64x64xf16>
}

// -----

!view = !nv_tileas.tiled_view<64x64xf64, gmem>

func.func @f(%v: !view, %t: tensor<64x64xf64>, %i: index) attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
  // expected-error@+1 {{'nv_tileas.tiled_atomic_rmw' op TMA reduces i32 or i64 or f32 or f16 or bf16 by 'add', not f64}}
  %old = nv_tileas.tiled_atomic_rmw add %t, %v[%i, %i] {atom = #nv_tileas<atom tma_redg_2d<op = add>>} : tensor<64x64xf64>, !view -> tensor<64x64xf64>
  func.return
}

// -----

// and moves rows by their numbers.

!view = !nv_tileas.tiled_view<8x64xf16, gmem>

func.func @f(%v: !view, %rows: tensor<8x64xindex>, %i: index) attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
  // expected-error@+1 {{'nv_tileas.gather_load' op moves elements; TMA moves rows, by a tile of numbers for each row}}
  %t = nv_tileas.gather_load %v[%rows : tensor<8x64xindex>, %i] {atom = #nv_tileas<atom tma_load_2d<mode = gather4>>} : !view -> tensor<8x64xf16>
  func.return
}

// -----

!view = !nv_tileas.tiled_view<8x64xf16, gmem>

func.func @f(%v: !view, %numbers: tensor<8xindex>, %first: index, %t: tensor<8x64xf16>) attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
  %rows = nv_tileas.generate : tensor<8x64xindex> {
  ^bb0(%r: index, %c: index):
    %row = tensor.extract %numbers[%r] : tensor<8xindex>
    nv_tileas.yield %row : index
  }
  %columns = nv_tileas.generate : tensor<8x64xindex> {
  ^bb0(%r: index, %c: index):
    %column = arith.addi %first, %c : index
    nv_tileas.yield %column : index
  }
  // expected-error@+1 {{'nv_tileas.scatter_store' op moves columns that are not generated as a multiple of 64 and on, as TMA moves them}}
  nv_tileas.scatter_store %t, %v[%rows : tensor<8x64xindex>, %columns : tensor<8x64xindex>] {atom = #nv_tileas<atom tma_store_2d<mode = scatter4>>} : tensor<8x64xf16>, !view
  func.return
}

// -----

!view = !nv_tileas.tiled_view<2x64xf16, gmem>

func.func @f(%v: !view, %numbers: tensor<2xindex>) attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
  %rows = nv_tileas.generate : tensor<2x64xindex> {
  ^bb0(%r: index, %c: index):
    %row = tensor.extract %numbers[%r] : tensor<2xindex>
    nv_tileas.yield %row : index
  }
  %columns = nv_tileas.generate : tensor<2x64xindex> {
  ^bb0(%r: index, %c: index):
    nv_tileas.yield %c : index
  }
  // expected-error@+1 {{'nv_tileas.gather_load' op moves 4 rows by one instruction, but there are 2}}
  %t = nv_tileas.gather_load %v[%rows : tensor<2x64xindex>, %columns : tensor<2x64xindex>] {atom = #nv_tileas<atom tma_load_2d<mode = gather4>>} : !view -> tensor<2x64xf16>
  func.return
}

// -----

// Phase 8, what phases 5 and 6 left: the bytes are more than a barrier counts,

!view = !nv_tileas.tiled_view<1024x1024xi8, gmem>

func.func @f(%v: !view, %i: index) attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
  // expected-error@+2 {{'nv_tileas.tiled_load' op failed to get expected tx-count}}
  // expected-note@+1 {{a barrier counts at most 1048575 bytes, not 1048576}}
  %t = nv_tileas.tiled_load %v[%i, %i] {atom = #nv_tileas<atom tma_load_2d>} : !view -> tensor<1024x1024xi8>
  func.return
}

// -----

// shared memory has no room for tile and barrier,

#smem = #nv_tileas<space smem>
!view = !nv_tileas.tiled_view<256x512xf16, gmem>

func.func @f(%v: !view, %i: index) attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
  %room = nv_tileas.alloc_tensor : tensor<8x8x8xf16, #smem>
  // expected-error@+2 {{'nv_tileas.tiled_load' op failed to find smem buffer address for mbarrier}}
  // expected-note@+1 {{a block needs 263176 bytes of shared memory with tile and barrier; it has 232448}}
  %u = nv_tileas.tiled_load %v[%i, %i] {atom = #nv_tileas<atom tma_load_2d>} : !view -> tensor<256x512xf16>
  func.return
}

// -----

// nobody can initialise a barrier before the first thread comes,

!view = !nv_tileas.tiled_view<64x64xf16, gmem>

func.func @f(%v: !view, %i: index) attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
  // expected-note@+1 {{nobody knows which threads run this, nor how often}}
  "test.op"() ({
    // expected-error@+1 {{'nv_tileas.tiled_load' op failed to init mbarrier}}
    %t = nv_tileas.tiled_load %v[%i, %i] {atom = #nv_tileas<atom tma_load_2d>} : !view -> tensor<64x64xf16>
    "test.end"() : () -> ()
  }) : () -> ()
  func.return
}

// -----

// or the barrier is that of a stage, of which the tile is no part.

!tile = tensor<64x64xf16>
!view = !nv_tileas.tiled_view<64x64xf16, gmem>
!prod = !nv_tileas.async.pipeline.producer_token
!cons = !nv_tileas.async.pipeline.consumer_token
!iter = !nv_tileas.async.pipeline.iterator<!tile, 2, smem>
!slots = !nv_tileas.tiled_view<2x64x64xf16, smem>

func.func @f(%v: !view, %slots: !slots, %i: index) attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
  %p0, %c0 = nv_tileas.async.pipeline.create_pipeline %slots {numStages = 2 : i32, producerGroupId = 0 : i8, consumerGroupId = 1 : i8} : !slots -> !prod, !cons
  %i0 = nv_tileas.async.pipeline.create_iterator %p0 : !prod -> !iter
  // expected-note@+1 {{the barrier of a stage waits for the tiles that it yields}}
  %p1 = nv_tileas.async.pipeline.produce_one %p0, %i0 {producer_types = [!tile]} : (!prod, !iter) -> !prod {
  ^bb0(%stage: !tile):
    // expected-error@+1 {{'nv_tileas.tiled_load' op failed to get MBarrier object}}
    %t = nv_tileas.tiled_load %v[%i, %i] {atom = #nv_tileas<atom tma_load_2d>} : !view -> !tile
    %u = arith.addf %t, %t : !tile
    nv_tileas.async.pipeline.yield %u : !tile
  }
  func.return
}

// -----

// A later operation that fails at an earlier phase comes first.

!view = !nv_tileas.tiled_view<64x64xf16, gmem>
!large = !nv_tileas.tiled_view<1024x1024xi8, gmem>

func.func @f(%v: !view, %w: !large, %i: index) attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
  %t = nv_tileas.tiled_load %w[%i, %i] {atom = #nv_tileas<atom tma_load_2d>} : !large -> tensor<1024x1024xi8>
  // expected-error@+1 {{'nv_tileas.tiled_load' op is relaxed, but bulk copies are weak}}
  %u = nv_tileas.tiled_load %v[%i, %i] relaxed gpu {atom = #nv_tileas<atom tma_load_2d>} : !view -> tensor<64x64xf16>
  func.return
}
