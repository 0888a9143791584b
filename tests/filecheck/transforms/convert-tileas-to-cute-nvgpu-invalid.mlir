// What is not lowered to threads is an error at the operation, and its reason.

// RUN: tileas-opt %s -p convert-tileas-to-cute-nvgpu --split-input-file --verify-diagnostics

func.func @unknown(%x: i32) {
  // expected-error@+1 {{'nv_tileas.async.cancel_next_program_id' op 'nv_tileas.async.cancel_next_program_id' is not lowered to threads yet}}
  %t = nv_tileas.async.cancel_next_program_id : !nv_tileas.token
  func.return
}

// -----

// expected-error@+1 {{'func.func' op takes !nv_tileas.tiled_view<64x64xf16, gmem>, which is not lowered to threads yet}}
func.func @argument(%v: !nv_tileas.tiled_view<64x64xf16, gmem>) {
  func.return
}

// -----

func.func @tile() {
  // expected-error@+1 {{'arith.constant' op a constant tile has one value in all of its elements}}
  %t = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
  func.return
}

// -----

func.func @extents() {
  %t = arith.constant dense<1.0> : tensor<3x4xf32>
  // expected-error@+1 {{'arith.addf' op registers hold tiles whose extents are powers of two, not 3x4}}
  %u = arith.addf %t, %t : tensor<3x4xf32>
  func.return
}

// -----

func.func @warps() attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
  // expected-error@+1 {{'nv_tileas.async.pipeline.agent_switch' op divides 4 warps among 3 agents, say num_warps}}
  nv_tileas.async.pipeline.agent_switch {num_agents_per_group = 1 : i32, max_regs = array<i32: 0, 0, 0>, isolated = false} agent 0 {
  }, agent 1 {
  }, agent 2 {
  }
  func.return
}

// -----

func.func @registers() attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 12>} {
  // expected-error@+1 {{'nv_tileas.async.pipeline.agent_switch' op its agents want 73728 registers; 384 threads begin with 64512}}
  nv_tileas.async.pipeline.agent_switch {num_agents_per_group = 1 : i32, max_regs = array<i32: 96, 240, 240>, isolated = false} agent 0 {
  }, agent 1 {
  }, agent 2 {
  }
  func.return
}

// -----

func.func @registers_only() {
  // expected-error@+1 {{'nv_tileas.alloc_tensor' op makes tensor<64x64xf16>; tiles without a place are not lowered to threads yet}}
  %t = nv_tileas.alloc_tensor : tensor<64x64xf16>
  func.return
}

// -----

#smem = #nv_tileas<space smem>

func.func @few_warps() attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 2>} {
  %a = nv_tileas.alloc_tensor : tensor<64x64xf16, #smem>
  %c = arith.constant dense<0.0> : tensor<64x64xf32>
  // expected-error@+1 {{'nv_tileas.dot' op wgmma takes whole warpgroups; kernel has 2 warps}}
  %d = nv_tileas.dot %a, %a, %c {atom = #nv_tileas<atom wgmma_f16_f16_f32>} : tensor<64x64xf16, #smem>, tensor<64x64xf16, #smem>, tensor<64x64xf32> -> tensor<64x64xf32>
  func.return
}

// -----

#smem = #nv_tileas<space smem>

func.func @rows() {
  %a = nv_tileas.alloc_tensor : tensor<32x64xf16, #smem>
  %b = nv_tileas.alloc_tensor : tensor<64x64xf16, #smem>
  %c = arith.constant dense<0.0> : tensor<32x64xf32>
  // expected-error@+1 {{'nv_tileas.dot' op warpgroups multiply multiples of 64 rows, not 32}}
  %d = nv_tileas.dot %a, %b, %c {atom = #nv_tileas<atom wgmma_f16_f16_f32>} : tensor<32x64xf16, #smem>, tensor<64x64xf16, #smem>, tensor<32x64xf32> -> tensor<32x64xf32>
  func.return
}

// -----

#smem = #nv_tileas<space smem>

func.func @columns() {
  %a = nv_tileas.alloc_tensor : tensor<64x16xf16, #smem>
  %b = nv_tileas.alloc_tensor : tensor<16x512xf16, #smem>
  %c = arith.constant dense<0.0> : tensor<64x512xf32>
  // expected-error@+1 {{'nv_tileas.dot' op wgmma has 8 to 256 columns in steps of 8, not 512}}
  %d = nv_tileas.dot %a, %b, %c {atom = #nv_tileas<atom wgmma_f16_f16_f32>} : tensor<64x16xf16, #smem>, tensor<16x512xf16, #smem>, tensor<64x512xf32> -> tensor<64x512xf32>
  func.return
}

// -----

#smem = #nv_tileas<space smem>

func.func @too_little_of_k() {
  %a = nv_tileas.alloc_tensor : tensor<64x4xf16, #smem>
  %b = nv_tileas.alloc_tensor : tensor<4x64xf16, #smem>
  %c = arith.constant dense<0.0> : tensor<64x64xf32>
  // expected-error@+1 {{'nv_tileas.dot' op mma.sync multiplies 8 or more of K at once, not 4: fma_A_B_D multiplies any}}
  %d = nv_tileas.dot %a, %b, %c {atom = #nv_tileas<atom mma_f16_f16_f32>} : tensor<64x4xf16, #smem>, tensor<4x64xf16, #smem>, tensor<64x64xf32> -> tensor<64x64xf32>
  func.return
}

// -----

#smem = #nv_tileas<space smem>

func.func @too_few_bits() {
  %a = nv_tileas.alloc_tensor : tensor<64x64xf4E2M1FN, #smem>
  %c = arith.constant dense<0.0> : tensor<64x64xf32>
  // expected-error@+1 {{'nv_tileas.dot' op mma.sync multiplies f16, bf16, tf32, e4m3, e5m2, s8, u8, f64 here, not e2m1}}
  %d = nv_tileas.dot %a, %a, %c {atom = #nv_tileas<atom mma_e2m1_e2m1_f32>} : tensor<64x64xf4E2M1FN, #smem>, tensor<64x64xf4E2M1FN, #smem>, tensor<64x64xf32> -> tensor<64x64xf32>
  func.return
}

// -----

#smem = #nv_tileas<space smem>

func.func @narrow_floats() {
  %a = nv_tileas.alloc_tensor : tensor<64x128xf8E4M3FN, #smem>
  %b = nv_tileas.alloc_tensor : tensor<128x64xf8E4M3FN, #smem>
  %c = arith.constant dense<0.0> : tensor<64x64xf32>
  // expected-error@+1 {{'nv_tileas.dot' op the tensor core cannot read its operand: sm_90a reads 8-bit operands K-major only}}
  %d = nv_tileas.dot %a, %b, %c {atom = #nv_tileas<atom wgmma_e4m3_e4m3_f32>} : tensor<64x128xf8E4M3FN, #smem>, tensor<128x64xf8E4M3FN, #smem>, tensor<64x64xf32> -> tensor<64x64xf32>
  func.return
}

// -----

#load = #nv_tileas<atom tma_load_2d<box = [64, 64]>>
#smem = #nv_tileas<space smem>

func.func @outside(%m: memref<?x?xf16>) {
  %n = arith.constant 64 : index
  %zero = arith.constant 0 : index
  %d = nv_tileas.make_tiled_tma_desc %m box[%n, %n] {atom = #load} : memref<?x?xf16> -> !nv_tileas.tma_desc
  %none = nv_tileas.create_none : !nv_tileas.mem_token
  %t = nv_tileas.alloc_tensor : tensor<64x64xf16, #smem>
  // expected-error@+1 {{'nv_tileas.async.tiled_tma_load' op loads outside the stages of a pipeline, and is not waited for in the block that it is in}}
  %l = nv_tileas.async.tiled_tma_load %d, %t[%zero, %zero] barrier %none {atom = #load} : !nv_tileas.tma_desc, tensor<64x64xf16, #smem>, index, index, !nv_tileas.mem_token -> !nv_tileas.token
  func.return
}

// -----

#load = #nv_tileas<atom tma_load_2d<box = [64, 64]>>
#smem = #nv_tileas<space smem>

func.func @late(%m: memref<?x?xf16>, %end: index) {
  %n = arith.constant 64 : index
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %d = nv_tileas.make_tiled_tma_desc %m box[%n, %n] {atom = #load} : memref<?x?xf16> -> !nv_tileas.tma_desc
  %c = arith.constant dense<0.0> : tensor<64x64xf32>
  %none = nv_tileas.create_none : !nv_tileas.mem_token
  scf.for %i = %zero to %end step %one {
    %t = nv_tileas.alloc_tensor : tensor<64x64xf16, #smem>
    %l = nv_tileas.async.tiled_tma_load %d, %t[%zero, %i] barrier %none {atom = #load} : !nv_tileas.tma_desc, tensor<64x64xf16, #smem>, index, index, !nv_tileas.mem_token -> !nv_tileas.token
    nv_tileas.async.wait %l : !nv_tileas.token
    // expected-error@+1 {{'nv_tileas.async.dot' op may still read its tile when the next round loads it: nothing waits for it in that round}}
    %p = nv_tileas.async.dot %t, %t, %c {atom = #nv_tileas<atom wgmma_f16_f16_f32>} : tensor<64x64xf16, #smem>, tensor<64x64xf16, #smem>, tensor<64x64xf32> -> !nv_tileas.token<tensor<64x64xf32>>
  }
  func.return
}

// -----

#load = #nv_tileas<atom tma_load_2d<box = [64, 64], multicast>>
#smem = #nv_tileas<space smem>

func.func @several(%m: memref<?x?xf16>) {
  %n = arith.constant 64 : index
  %zero = arith.constant 0 : index
  %d = nv_tileas.make_tiled_tma_desc %m box[%n, %n] {atom = #load, num_multicast = 2 : i32} : memref<?x?xf16> -> !nv_tileas.tma_desc
  %none = nv_tileas.create_none : !nv_tileas.mem_token
  %t = nv_tileas.alloc_tensor : tensor<64x64xf16, #smem>
  // expected-error@+1 {{'nv_tileas.async.tiled_tma_load' op loads into several blocks outside the stages of a pipeline, which is not lowered}}
  %l = nv_tileas.async.tiled_tma_load %d, %t[%zero, %zero] barrier %none {atom = #load, num_multicast = 2 : i32} : !nv_tileas.tma_desc, tensor<64x64xf16, #smem>, index, index, !nv_tileas.mem_token -> !nv_tileas.token
  nv_tileas.async.wait %l : !nv_tileas.token
  func.return
}

// -----

#load = #nv_tileas<atom tma_load_2d<box = [64, 64]>>
#smem = #nv_tileas<space smem>

func.func @agents(%m: memref<?x?xf16>, %end: index) attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
  %n = arith.constant 64 : index
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %d = nv_tileas.make_tiled_tma_desc %m box[%n, %n] {atom = #load} : memref<?x?xf16> -> !nv_tileas.tma_desc
  %none = nv_tileas.create_none : !nv_tileas.mem_token
  scf.for %i = %zero to %end step %one {
    nv_tileas.async.pipeline.agent_switch {num_agents_per_group = 1 : i32, max_regs = array<i32: 0>, isolated = false, num_warps = array<i32: 4>} {
      %t = nv_tileas.alloc_tensor : tensor<64x64xf16, #smem>
      // expected-error@+1 {{'nv_tileas.async.tiled_tma_load' op loads in an agent that a loop around all agents runs again, which is not lowered}}
      %l = nv_tileas.async.tiled_tma_load %d, %t[%zero, %i] barrier %none {atom = #load} : !nv_tileas.tma_desc, tensor<64x64xf16, #smem>, index, index, !nv_tileas.mem_token -> !nv_tileas.token
      nv_tileas.async.wait %l : !nv_tileas.token
    }
  }
  func.return
}

// -----

#smem = #nv_tileas<space smem>

func.func @room() {
  %a = nv_tileas.alloc_tensor : tensor<64x512xf16, #smem>
  %b = nv_tileas.alloc_tensor : tensor<512x256xf16, #smem>
  %c = arith.constant dense<0.0> : tensor<64x256xf32>
  // expected-error@-2 {{'nv_tileas.alloc_tensor' op a block needs 327680 bytes of shared memory with it; it has 232448}}
  %d = nv_tileas.dot %a, %b, %c {atom = #nv_tileas<atom wgmma_f16_f16_f32>} : tensor<64x512xf16, #smem>, tensor<512x256xf16, #smem>, tensor<64x256xf32> -> tensor<64x256xf32>
  func.return
}

// -----

func.func @strong(%m: memref<?xf32>, %i: index, %x: f32) {
  // expected-error@+1 {{'nv_tileas.store' op is relaxed; only weak accesses are lowered yet}}
  nv_tileas.store %x, %m[%i] relaxed gpu {atom = #nv_tileas<atom stg>} : f32, memref<?xf32>
  func.return
}

// -----

func.func @ranks(%m: memref<?x?xf32>) {
  %zero = arith.constant 0 : index
  %v = nv_tileas.view %m : memref<?x?xf32> -> !nv_tileas.tiled_view<4xf32, gmem>
  // expected-error@+1 {{'nv_tileas.tiled_load' op moves a tile of rank 1 of an array of rank 2}}
  %t = nv_tileas.tiled_load %v[%zero] {atom = #nv_tileas<atom ldg>} : !nv_tileas.tiled_view<4xf32, gmem> -> tensor<4xf32>
  func.return
}

// -----

#smem = #nv_tileas<space smem>

func.func @inside() {
  %one = arith.constant 1 : index
  %t = nv_tileas.alloc_tensor : tensor<8x64xf16, #smem>
  // expected-error@+1 {{'nv_tileas.tiled_load' op accesses a place in shared memory that is not its beginning}}
  %l = nv_tileas.tiled_load %t[%one, %one] {atom = #nv_tileas<atom unknown_copy>} : tensor<8x64xf16, #smem> -> tensor<8x64xf16>
  func.return
}

// -----

func.func @to_tensor_memory() {
  %c = arith.constant dense<1.0> : tensor<4x8xf32>
  // expected-error@+1 {{'nv_tileas.convert_layout' op moves a tile to tensor<4x8xf32, #nv_tileas<space tmem>>, which is not lowered to threads yet}}
  %s = nv_tileas.convert_layout %c : tensor<4x8xf32> -> tensor<4x8xf32, #nv_tileas<space tmem>>
  func.return
}

// -----

func.func @splat(%x: f32, %n: index) {
  // expected-error@+1 {{'tensor.splat' op fills tiles of constant extents, not tensor<?xf32>}}
  %s = tensor.splat %x[%n] : tensor<?xf32>
  func.return
}

// -----

// Registers belong to the threads that filled them.

#load = #nv_tileas<atom ldg>
!tile = tensor<16x32xf32>
!window = !nv_tileas.tiled_view<16x32xf32, gmem>
func.func @registers_of_others(%a: memref<16x32xf32>) attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 8>} {
  %zero = arith.constant 0 : index
  %v = nv_tileas.view %a : memref<16x32xf32> -> !window
  // expected-note@+1 {{tileas-resolve-agent-boundary hands it over}}
  %x = nv_tileas.tiled_load %v[%zero, %zero] {atom = #load} : !window -> !tile
  nv_tileas.async.pipeline.agent_switch {num_agents_per_group = 1 : i32, max_regs = array<i32: 0, 0>, isolated = false} agent 0 {
    // expected-error@+1 {{'arith.addf' op uses %x in registers of other threads than those of agent 0}}
    %y = arith.addf %x, %x : !tile
  }, agent 1 {
  }
  func.return
}

// -----

func.func @open() attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 8>} {
  // expected-error@+1 {{'nv_tileas.async.pipeline.agent_switch' op has an open boundary: tileas-resolve-agent-boundary closes it}}
  nv_tileas.async.pipeline.agent_switch {nv_tileas.open_boundary, num_agents_per_group = 1 : i32, max_regs = array<i32: 0>, isolated = false} agent 0 {
  }
  func.return
}

// -----

func.func @copy_to_global(%a: memref<16x32xf32>) {
  %x = arith.constant dense<1.0> : tensor<16x32xf32>
  %v = nv_tileas.view %a : memref<16x32xf32> -> !nv_tileas.tiled_view<16x32xf32, gmem>
  // expected-error@+1 {{'nv_tileas.copy' op copies tensor<16x32xf32> to !nv_tileas.tiled_view<16x32xf32, gmem>, which is not lowered to threads yet}}
  nv_tileas.copy %x, %v {atom = #nv_tileas<atom unknown_copy>} : tensor<16x32xf32>, !nv_tileas.tiled_view<16x32xf32, gmem>
  func.return
}

// -----

func.func @copy_of_bits(%i: i1) {
  %x = tensor.splat %i : tensor<16x32xi1>
  %s = nv_tileas.alloc_tensor : tensor<16x32xi1, #nv_tileas<space smem>>
  // expected-error@+1 {{'nv_tileas.copy' op copies elements of whole bytes, not i1}}
  nv_tileas.copy %x, %s {atom = #nv_tileas<atom unknown_copy>} : tensor<16x32xi1>, tensor<16x32xi1, #nv_tileas<space smem>>
  func.return
}

// -----

// Threads fill a stage by copies, or TMA does.

!a = tensor<16x32xf32>
!slots = !nv_tileas.tiled_view<1x512xf32, smem>
!prod = !nv_tileas.async.pipeline.producer_token
!cons = !nv_tileas.async.pipeline.consumer_token
!iter = !nv_tileas.async.pipeline.iterator<!a, 1, smem>
func.func @copies_without_a_commit() {
  %x = arith.constant dense<1.0> : !a
  %buffer = nv_tileas.alloc_tensor : tensor<1x512xf32, #nv_tileas<space smem>>
  %slots = nv_tileas.view %buffer : tensor<1x512xf32, #nv_tileas<space smem>> -> !slots
  %p, %c = nv_tileas.async.pipeline.create_pipeline %slots {numStages = 1 : i32, producerGroupId = 0 : i8, consumerGroupId = 1 : i8} : !slots -> !prod, !cons
  %i = nv_tileas.async.pipeline.create_iterator %p : !prod -> !iter
  // expected-error@+1 {{'nv_tileas.async.pipeline.produce_one_async' op fills a stage otherwise than by TMA, which is not lowered yet}}
  %p1, %t = nv_tileas.async.pipeline.produce_one_async %p, %i {producer_types = [!a]} : (!prod, !iter) -> (!prod, !nv_tileas.token) {
  ^bb0(%slot: !a):
    %s = nv_tileas.convert_layout %slot : !a -> tensor<16x32xf32, #nv_tileas<space smem>>
    nv_tileas.copy %x, %s {atom = #nv_tileas<atom unknown_copy>} : !a, tensor<16x32xf32, #nv_tileas<space smem>>
    nv_tileas.async.pipeline.yield %slot : !a
  }
  func.return
}

// -----

// Only the threads of the whole block split, and make pipelines.

func.func @split_again() attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 8>} {
  nv_tileas.async.pipeline.agent_switch {num_agents_per_group = 1 : i32, max_regs = array<i32: 0>, isolated = false} agent 0 {
    // expected-error@+1 {{'nv_tileas.async.pipeline.agent_switch' op splits agent 0 again, which is not lowered to threads yet}}
    nv_tileas.async.pipeline.agent_switch {num_agents_per_group = 1 : i32, max_regs = array<i32: 0>, isolated = false} agent 0 {
    }
  }
  func.return
}

// -----

func.func @pipeline_of_an_agent() attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 8>} {
  nv_tileas.async.pipeline.agent_switch {num_agents_per_group = 1 : i32, max_regs = array<i32: 0>, isolated = false} agent 0 {
    %buffer = nv_tileas.alloc_tensor : tensor<1x512xf32, #nv_tileas<space smem>>
    %slots = nv_tileas.view %buffer : tensor<1x512xf32, #nv_tileas<space smem>> -> !nv_tileas.tiled_view<1x512xf32, smem>
    // expected-error@+1 {{'nv_tileas.async.pipeline.create_pipeline' op is made by agent 0, but all threads of the block make pipelines}}
    %p, %c = nv_tileas.async.pipeline.create_pipeline %slots {numStages = 1 : i32, producerGroupId = 0 : i8, consumerGroupId = 1 : i8} : !nv_tileas.tiled_view<1x512xf32, smem> -> !nv_tileas.async.pipeline.producer_token, !nv_tileas.async.pipeline.consumer_token
  }
  func.return
}

// -----

func.func @outside(%m: memref<64xf32>) {
  %zero = arith.constant 0 : index
  %t = nv_tileas.tiled_load %m[%zero] {atom = #nv_tileas<atom ldg>} : memref<64xf32> -> tensor<64xf32>
  %g = nv_tileas.generate : tensor<64xf32> {
  ^bb0(%k: index):
    %one = arith.constant 1 : index
    %l = arith.addi %k, %one : index
    // expected-error@+1 {{'tensor.extract' op takes element 64 along dimension 0 of a tile of 64}}
    %y = tensor.extract %t[%l] : tensor<64xf32>
    nv_tileas.yield %y : f32
  }
  func.return
}

// -----

func.func @in_a_loop(%m: memref<64xf32>, %n: index) {
  %zero = arith.constant 0 : index
  %t = nv_tileas.tiled_load %m[%zero] {atom = #nv_tileas<atom ldg>} : memref<64xf32> -> tensor<64xf32>
  %g = nv_tileas.generate : tensor<64xf32> {
  ^bb0(%k: index):
    %one = arith.constant 1 : index
    %none = arith.constant 0.0 : f32
    %x = scf.for %i = %k to %n step %one iter_args(%s = %none) -> (f32) {
      // expected-error@+1 {{'tensor.extract' op takes an element in a loop of a generated tile, where threads do not meet: generate the tile inside of the loop, or take the element under an scf.if}}
      %y = tensor.extract %t[%i] : tensor<64xf32>
      scf.yield %y : f32
    }
    nv_tileas.yield %x : f32
  }
  func.return
}

// -----

func.func @acquire(%m: memref<?xf32>, %i: index) {
  // expected-error@+1 {{'nv_tileas.load' op is acquire; only weak accesses are lowered yet}}
  %x = nv_tileas.load %m[%i] acquire gpu {atom = #nv_tileas<atom ldg>} : memref<?xf32> -> f32
  func.return
}

// -----

// expected-error@+1 {{'func.func' op reaches an array of booleans, and threads have bytes: give it as one of i8}}
func.func @bits(%p: !nv_tileaa.ptr<i1, 1>) {
  func.return
}
