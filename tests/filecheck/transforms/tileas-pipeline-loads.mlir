// `tileas-pipeline-loads`: split a loop with TMA loads and a dot into a producer agent, which loads
// ahead, and a consumer agent.

// RUN: tileas-opt %s -p tileas-pipeline-loads --split-input-file | filecheck %s
// RUN: tileas-opt %s -p tileas-pipeline-loads,tileas-pipeline-loads --split-input-file | filecheck %s

// The producer fills stages; the consumer reads them and has the accumulator and its store: it
// multiplies.

func.func @matmul(%a: !nv_tileas.tiled_view<64x32xf16, gmem>, %b: !nv_tileas.tiled_view<32x64xf16, gmem>, %c: !nv_tileas.tiled_view<64x64xf32, gmem>, %n: index) attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %nothing = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = scf.for %k = %zero to %n step %one iter_args(%acc = %nothing) -> (tensor<64x64xf32>) {
    %x = nv_tileas.tiled_load %a[%zero, %k] {atom = #nv_tileas<atom tma_load_2d>, allow_tma = true} : !nv_tileas.tiled_view<64x32xf16, gmem> -> tensor<64x32xf16, #nv_tileas<space smem>>
    %y = nv_tileas.tiled_load %b[%k, %zero] {atom = #nv_tileas<atom tma_load_2d>, allow_tma = true} : !nv_tileas.tiled_view<32x64xf16, gmem> -> tensor<32x64xf16, #nv_tileas<space smem>>
    %next = nv_tileas.dot %x, %y, %acc {atom = #nv_tileas<atom wgmma_f16_f16_f32>} : tensor<64x32xf16, #nv_tileas<space smem>>, tensor<32x64xf16, #nv_tileas<space smem>>, tensor<64x64xf32> -> tensor<64x64xf32>
    scf.yield %next : tensor<64x64xf32>
  }
  nv_tileas.tiled_store %sum, %c[%zero, %zero] {atom = #nv_tileas<atom stg>} : tensor<64x64xf32>, !nv_tileas.tiled_view<64x64xf32, gmem>
  func.return
}

// CHECK-LABEL: func.func @matmul
// CHECK-SAME:    kernel_spec<num_warps = 8, occupancy = 2>
// CHECK-NEXT:    %zero = arith.constant 0 : index
// CHECK-NEXT:    %one = arith.constant 1 : index
// CHECK-NEXT:    %stages = nv_tileas.alloc_tensor : tensor<4x4096xf16, #nv_tileas<space smem>>
// CHECK-NEXT:    %[[SLOTS:.*]] = nv_tileas.view %stages
// CHECK-NEXT:    %[[P:.*]], %[[C:.*]] = nv_tileas.async.pipeline.create_pipeline %[[SLOTS]] {nv_tileas.stages_are_a_hint, numStages = 4 : i32
// CHECK-NEXT:    nv_tileas.async.pipeline.agent_switch {num_agents_per_group = 1 : i32, max_regs = array<i32: 40, 216>, isolated = false, num_warps = array<i32: 4, 4>} agent 0 {
// CHECK-NEXT:      %{{.*}} = nv_tileas.async.pipeline.create_iterator %[[P]]
// CHECK-NEXT:      %{{.*}}, %{{.*}} = scf.for %[[K:.*]] = %zero to %n step %one
// CHECK-NEXT:        %{{.*}}, %{{.*}} = nv_tileas.async.pipeline.produce_one_async
// CHECK-NEXT:        ^bb0
// CHECK-NEXT:          %x = nv_tileas.tiled_load %a[%zero, %[[K]]] {atom = #nv_tileas<atom tma_load_2d>
// CHECK-NEXT:          %y = nv_tileas.tiled_load %b[%[[K]], %zero] {atom = #nv_tileas<atom tma_load_2d>
// CHECK-NEXT:          nv_tileas.async.pipeline.yield %x, %y
// CHECK-NEXT:        }
// CHECK-NEXT:        %{{.*}} = nv_tileas.async.pipeline.producer_commit
// CHECK-NEXT:        %{{.*}} = nv_tileas.async.pipeline.inc_iter
// CHECK-NEXT:        scf.yield
// CHECK-NEXT:      }
// CHECK-NEXT:    }, agent 1 {
// CHECK-NEXT:      %{{.*}} = nv_tileas.async.pipeline.create_iterator %[[C]]
// CHECK-NEXT:      %nothing = arith.constant dense<0.000000e+00> : tensor<64x64xf32>
// CHECK-NEXT:      %{{.*}}, %{{.*}}, %sum = scf.for %k = %zero to %n step %one iter_args({{.*}} %acc = %nothing)
// CHECK-NEXT:        %{{.*}}, %{{.*}} = nv_tileas.async.pipeline.consume_one
// CHECK-NEXT:        ^bb0(%[[X:.*]]: tensor<64x32xf16>, %[[Y:.*]]: tensor<32x64xf16>):
// CHECK-NEXT:          %next = nv_tileas.dot %[[X]], %[[Y]], %acc
// CHECK-NEXT:          nv_tileas.async.pipeline.yield %next
// CHECK-NEXT:        }
// CHECK-NEXT:        %{{.*}} = nv_tileas.async.pipeline.inc_iter
// CHECK-NEXT:        scf.yield
// CHECK-NEXT:      }
// CHECK-NEXT:      nv_tileas.tiled_store %sum, %c[%zero, %zero]
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return

// -----

// A number that goes from round to round, and says where the next tiles lie, is carried by both agents.

func.func @chained(%a: !nv_tileas.tiled_view<64x64xf16, gmem>, %c: !nv_tileas.tiled_view<64x64xf32, gmem>, %n: index) attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %nothing = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum, %last = scf.for %k = %zero to %n step %one iter_args(%acc = %nothing, %at = %zero) -> (tensor<64x64xf32>, index) {
    %x = nv_tileas.tiled_load %a[%zero, %at] {atom = #nv_tileas<atom tma_load_2d>, allow_tma = true} : !nv_tileas.tiled_view<64x64xf16, gmem> -> tensor<64x64xf16, #nv_tileas<space smem>>
    %further = nv_tileas.dot %x, %x, %acc {atom = #nv_tileas<atom wgmma_f16_f16_f32>} : tensor<64x64xf16, #nv_tileas<space smem>>, tensor<64x64xf16, #nv_tileas<space smem>>, tensor<64x64xf32> -> tensor<64x64xf32>
    %then = arith.addi %at, %k : index
    scf.yield %further, %then : tensor<64x64xf32>, index
  }
  nv_tileas.tiled_store %sum, %c[%zero, %zero] {atom = #nv_tileas<atom stg>} : tensor<64x64xf32>, !nv_tileas.tiled_view<64x64xf32, gmem>
  func.return
}

// CHECK-LABEL: func.func @chained
// CHECK:       agent 0 {
// CHECK:         scf.for %[[K:.*]] = %zero to %n step %one iter_args(%{{.*}}, %{{.*}}, %[[AT:.*]] = %zero)
// CHECK-NEXT:      %[[THEN:.*]] = arith.addi %[[AT]], %[[K]] : index
// CHECK:           nv_tileas.tiled_load %a[%zero, %[[AT]]]
// CHECK:           scf.yield %{{.*}}, %{{.*}}, %[[THEN]]
// CHECK:       agent 1 {
// CHECK:         scf.for %{{.*}} = %zero to %n step %one iter_args(%{{.*}}, %{{.*}}, %{{.*}} = %nothing, %{{.*}} = %zero)

// -----

// Loops and branches around the loop are both agents': a block takes tile after tile, and skips some.
// The stage that one loop ends at is the next one's first; the store is the consumer's alone.

// CHECK-LABEL: func.func @persistent
// CHECK:       agent 0 {
// CHECK:         scf.for %[[T:.*]] = %zero to %n step %one iter_args(%[[P:.*]] = %{{.*}}, %[[I:.*]] = %{{.*}})
// CHECK-NEXT:      %[[ROW:.*]] = arith.divsi %[[T]], %n
// CHECK-NEXT:      %[[WANTED:.*]] = arith.cmpi slt, %[[ROW]], %n
// CHECK-NEXT:      %[[P2:.*]], %[[I2:.*]] = scf.if %[[WANTED]]
// CHECK-NEXT:        scf.for %[[K:.*]] = %zero to %n step %one iter_args(%{{.*}} = %[[P]], %{{.*}} = %[[I]])
// CHECK:               nv_tileas.tiled_load %a[%[[ROW]], %[[K]]]
// CHECK:             scf.yield
// CHECK:           } else {
// CHECK-NEXT:        scf.yield %[[P]], %[[I]]
// CHECK-NEXT:      }
// CHECK-NEXT:      scf.yield %[[P2]], %[[I2]]
// CHECK-NOT:     tiled_store
// CHECK:       agent 1 {
// CHECK:         scf.for %[[T:.*]] = %zero to %n step %one iter_args(%[[C:.*]] = %{{.*}}, %[[J:.*]] = %{{.*}})
// CHECK:           %{{.*}}, %{{.*}} = scf.if
// CHECK:             %{{.*}}, %{{.*}}, %sum = scf.for %{{.*}} = %zero to %n step %one iter_args(%{{.*}} = %[[C]], %{{.*}} = %[[J]], %{{.*}})
// CHECK:             nv_tileas.tiled_store %sum, %c
// CHECK:           } else {
// CHECK-NEXT:        scf.yield %[[C]], %[[J]]
func.func @persistent(%a: !nv_tileas.tiled_view<64x64xf16, gmem>, %c: !nv_tileas.tiled_view<64x64xf32, gmem>, %n: index, %t: !nv_tileaa.mem_token) attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  scf.for %tile = %zero to %n step %one {
    %row = arith.divsi %tile, %n : index
    %wanted = arith.cmpi slt, %row, %n : index
    scf.if %wanted {
      %nothing = arith.constant dense<0.0> : tensor<64x64xf32>
      %sum = scf.for %k = %zero to %n step %one iter_args(%acc = %nothing) -> (tensor<64x64xf32>) {
        %x = nv_tileas.tiled_load %a[%row, %k] {atom = #nv_tileas<atom tma_load_2d>, allow_tma = true} : !nv_tileas.tiled_view<64x64xf16, gmem> -> tensor<64x64xf16, #nv_tileas<space smem>>
        %further = nv_tileas.dot %x, %x, %acc {atom = #nv_tileas<atom wgmma_f16_f16_f32>} : tensor<64x64xf16, #nv_tileas<space smem>>, tensor<64x64xf16, #nv_tileas<space smem>>, tensor<64x64xf32> -> tensor<64x64xf32>
        scf.yield %further : tensor<64x64xf32>
      }
      %u = nv_tileas.tiled_store %sum, %c[%row, %zero] after %t : !nv_tileaa.mem_token {atom = #nv_tileas<atom stg>} : tensor<64x64xf32>, !nv_tileas.tiled_view<64x64xf32, gmem> -> !nv_tileaa.mem_token
    }
  }
  func.return
}

// -----

// A loop with a condition: stages go through the condition as they are, and round by the body.

// CHECK-LABEL: func.func @until
// CHECK:       agent 0 {
// CHECK:         scf.while (%[[P:.*]] = %{{.*}}, %[[I:.*]] = %{{.*}}, %[[T:.*]] = %zero)
// CHECK-NEXT:      %[[MORE:.*]] = arith.cmpi slt, %[[T]], %n
// CHECK-NEXT:      scf.condition(%[[MORE]]) %[[P]], %[[I]], %[[T]]
// CHECK:         do {
// CHECK:           scf.for
// CHECK:             nv_tileas.tiled_load %a
// CHECK-NOT:     tiled_store
// CHECK:       agent 1 {
// CHECK:         scf.while
// CHECK:             consume_one
// CHECK:           nv_tileas.tiled_store %sum, %c
func.func @until(%a: !nv_tileas.tiled_view<64x64xf16, gmem>, %c: !nv_tileas.tiled_view<64x64xf32, gmem>, %n: index, %t: !nv_tileaa.mem_token) attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %nothing = arith.constant dense<0.0> : tensor<64x64xf32>
  %last = scf.while (%tile = %zero) : (index) -> index {
    %more = arith.cmpi slt, %tile, %n : index
    scf.condition(%more) %tile : index
  } do {
  ^bb0(%row: index):
    %sum = scf.for %k = %zero to %n step %one iter_args(%acc = %nothing) -> (tensor<64x64xf32>) {
      %x = nv_tileas.tiled_load %a[%row, %k] {atom = #nv_tileas<atom tma_load_2d>, allow_tma = true} : !nv_tileas.tiled_view<64x64xf16, gmem> -> tensor<64x64xf16, #nv_tileas<space smem>>
      %further = nv_tileas.dot %x, %x, %acc {atom = #nv_tileas<atom wgmma_f16_f16_f32>} : tensor<64x64xf16, #nv_tileas<space smem>>, tensor<64x64xf16, #nv_tileas<space smem>>, tensor<64x64xf32> -> tensor<64x64xf32>
      scf.yield %further : tensor<64x64xf32>
    }
    %u = nv_tileas.tiled_store %sum, %c[%row, %zero] after %t : !nv_tileaa.mem_token {atom = #nv_tileas<atom stg>} : tensor<64x64xf32>, !nv_tileas.tiled_view<64x64xf32, gmem> -> !nv_tileaa.mem_token
    %next = arith.addi %row, %one : index
    scf.yield %next : index
  }
  func.return
}

// -----

// Which tile is next, a counter says: the producer takes it, and hands it to the consumer in a ring of
// its own, two tiles ahead.

// CHECK-LABEL: func.func @queue
// CHECK:       %[[FULL:.*]], %[[TAKEN:.*]] = nv_tileas.async.pipeline.create_pipeline {{.*}} {numStages = 2 : i32
// CHECK:       agent 0 {
// CHECK:         scf.while
// CHECK:           scf.for
// CHECK:             nv_tileas.tiled_load %a
// CHECK:           %[[NEXT:.*]], %{{.*}} = nv_tileas.atomic_rmw add
// CHECK-NEXT:      produce_one {{.*}} {producer_types = [tensor<1x1xi32>]}
// CHECK:             tensor.splat %[[NEXT]] : tensor<1x1xi32>
// CHECK-NEXT:        nv_tileas.copy
// CHECK:       agent 1 {
// CHECK-NOT:     atomic_rmw
// CHECK:           nv_tileas.tiled_store %sum, %c
// CHECK-NEXT:      %{{.*}}, %[[NEXT:.*]] = nv_tileas.async.pipeline.consume_one {{.*}} {consumer_idx = 0 : i32, consumer_types = [tensor<1x1xi32>]}
// CHECK-NEXT:      ^bb0(%[[STAGE:.*]]: tensor<1x1xi32>):
// CHECK:             %[[VALUE:.*]] = tensor.extract %[[STAGE]]
// CHECK-NEXT:        nv_tileas.async.pipeline.yield %[[VALUE]]
// CHECK:           arith.index_cast %[[NEXT]] : i32 to index
func.func @queue(%a: !nv_tileas.tiled_view<64x64xf16, gmem>, %c: !nv_tileas.tiled_view<64x64xf32, gmem>, %n: index, %counter: !nv_tileaa.ptr<i32, 1>, %t: !nv_tileaa.mem_token) attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %step = arith.constant 1 : i32
  %nothing = arith.constant dense<0.0> : tensor<64x64xf32>
  %last = scf.while (%tile = %zero) : (index) -> index {
    %more = arith.cmpi slt, %tile, %n : index
    scf.condition(%more) %tile : index
  } do {
  ^bb0(%row: index):
    %sum = scf.for %k = %zero to %n step %one iter_args(%acc = %nothing) -> (tensor<64x64xf32>) {
      %x = nv_tileas.tiled_load %a[%row, %k] {atom = #nv_tileas<atom tma_load_2d>, allow_tma = true} : !nv_tileas.tiled_view<64x64xf16, gmem> -> tensor<64x64xf16, #nv_tileas<space smem>>
      %further = nv_tileas.dot %x, %x, %acc {atom = #nv_tileas<atom wgmma_f16_f16_f32>} : tensor<64x64xf16, #nv_tileas<space smem>>, tensor<64x64xf16, #nv_tileas<space smem>>, tensor<64x64xf32> -> tensor<64x64xf32>
      scf.yield %further : tensor<64x64xf32>
    }
    %u = nv_tileas.tiled_store %sum, %c[%row, %zero] after %t : !nv_tileaa.mem_token {atom = #nv_tileas<atom stg>} : tensor<64x64xf32>, !nv_tileas.tiled_view<64x64xf32, gmem> -> !nv_tileaa.mem_token
    %taken, %v = nv_tileas.atomic_rmw add %step, %counter relaxed gpu after %t : !nv_tileaa.mem_token : i32, !nv_tileaa.ptr<i32, 1> -> i32, !nv_tileaa.mem_token
    %next = arith.index_cast %taken : i32 to index
    scf.yield %next : index
  }
  func.return
}

// -----

// A flag has no stage: a request that gives one stays, and is made once.

// CHECK-LABEL: func.func @flagged
// CHECK:         nv_tileas.cancel_next_program_id : i32, i1
// CHECK-NOT:     cancel_next_program_id

func.func @flagged(%a: !nv_tileas.tiled_view<64x64xf16, gmem>, %c: !nv_tileas.tiled_view<64x64xf32, gmem>, %n: index, %counter: !nv_tileaa.ptr<i32, 1>, %t: !nv_tileaa.mem_token) attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %step = arith.constant 1 : i32
  %nothing = arith.constant dense<0.0> : tensor<64x64xf32>
  %last = scf.while (%tile = %zero) : (index) -> index {
    %more = arith.cmpi slt, %tile, %n : index
    scf.condition(%more) %tile : index
  } do {
  ^bb0(%row: index):
    %sum = scf.for %k = %zero to %n step %one iter_args(%acc = %nothing) -> (tensor<64x64xf32>) {
      %x = nv_tileas.tiled_load %a[%row, %k] {atom = #nv_tileas<atom tma_load_2d>, allow_tma = true} : !nv_tileas.tiled_view<64x64xf16, gmem> -> tensor<64x64xf16, #nv_tileas<space smem>>
      %further = nv_tileas.dot %x, %x, %acc {atom = #nv_tileas<atom wgmma_f16_f16_f32>} : tensor<64x64xf16, #nv_tileas<space smem>>, tensor<64x64xf16, #nv_tileas<space smem>>, tensor<64x64xf32> -> tensor<64x64xf32>
      scf.yield %further : tensor<64x64xf32>
    }
    %u = nv_tileas.tiled_store %sum, %c[%row, %zero] after %t : !nv_tileaa.mem_token {atom = #nv_tileas<atom stg>} : tensor<64x64xf32>, !nv_tileas.tiled_view<64x64xf32, gmem> -> !nv_tileaa.mem_token
    %taken, %ok = nv_tileas.cancel_next_program_id : i32, i1
    %next = arith.index_cast %taken : i32 to index
    scf.yield %next : index
  }
  func.return
}

// -----

// What a producer would have to wait for is not known ahead: the kernel stays.

func.func @computed(%a: !nv_tileas.tiled_view<64x64xf16, gmem>, %places: !nv_tileas.tiled_view<256xindex, gmem>, %c: !nv_tileas.tiled_view<64x64xf32, gmem>, %n: index) attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %nothing = arith.constant dense<0.0> : tensor<64x64xf32>
  %many = nv_tileas.tiled_load %places[%zero] {atom = #nv_tileas<atom ldg>} : !nv_tileas.tiled_view<256xindex, gmem> -> tensor<256xindex>
  %sum = scf.for %k = %zero to %n step %one iter_args(%acc = %nothing) -> (tensor<64x64xf32>) {
    %at = tensor.extract %many[%k] : tensor<256xindex>
    %x = nv_tileas.tiled_load %a[%zero, %at] {atom = #nv_tileas<atom tma_load_2d>, allow_tma = true} : !nv_tileas.tiled_view<64x64xf16, gmem> -> tensor<64x64xf16, #nv_tileas<space smem>>
    %further = nv_tileas.dot %x, %x, %acc {atom = #nv_tileas<atom wgmma_f16_f16_f32>} : tensor<64x64xf16, #nv_tileas<space smem>>, tensor<64x64xf16, #nv_tileas<space smem>>, tensor<64x64xf32> -> tensor<64x64xf32>
    scf.yield %further : tensor<64x64xf32>
  }
  nv_tileas.tiled_store %sum, %c[%zero, %zero] {atom = #nv_tileas<atom stg>} : tensor<64x64xf32>, !nv_tileas.tiled_view<64x64xf32, gmem>
  func.return
}

// CHECK-LABEL: func.func @computed
// CHECK-SAME:    nv_tileas.not_pipelined = "where a tile of the loop lies is computed from tiles"
// CHECK-NOT:     agent_switch
// CHECK:         } {nv_tileas.not_pipelined = "where a tile of the loop lies is computed from tiles"}

// -----

// A loop behind the first one that loads the same tiles goes on with the stages, in both agents; what
// stands between the loops is the consumer's; the number that the producer needs is in both.

// CHECK-LABEL: func.func @two_loops
// CHECK:       create_pipeline
// CHECK-NOT:   create_pipeline
// CHECK:       agent 0 {
// CHECK:         %[[T:.*]], %[[I:.*]] = scf.for %{{.*}} = %zero to %n step %one
// CHECK:         %[[LAST:.*]] = arith.addi %n, %one : index
// CHECK:         scf.for %{{.*}} = %n to %[[LAST]] step %one iter_args(%{{.*}} = %[[T]], %{{.*}} = %[[I]])
// CHECK:       agent 1 {
// CHECK:         %[[U:.*]], %[[J:.*]], %sum = scf.for %{{.*}} = %zero to %n step %one
// CHECK:         %half = arith.mulf %sum, %sum
// CHECK:         scf.for %{{.*}} = %n to %{{.*}} step %one iter_args(%{{.*}} = %[[U]], %{{.*}} = %[[J]], %{{.*}} = %half)
// CHECK-NOT:   nv_tileas.not_pipelined
func.func @two_loops(%a: !nv_tileas.tiled_view<64x32xf16, gmem>, %b: !nv_tileas.tiled_view<32x64xf16, gmem>, %c: !nv_tileas.tiled_view<64x64xf32, gmem>, %n: index) attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %nothing = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = scf.for %k = %zero to %n step %one iter_args(%acc = %nothing) -> (tensor<64x64xf32>) {
    %x = nv_tileas.tiled_load %a[%zero, %k] {atom = #nv_tileas<atom tma_load_2d>, allow_tma = true} : !nv_tileas.tiled_view<64x32xf16, gmem> -> tensor<64x32xf16, #nv_tileas<space smem>>
    %y = nv_tileas.tiled_load %b[%k, %zero] {atom = #nv_tileas<atom tma_load_2d>, allow_tma = true} : !nv_tileas.tiled_view<32x64xf16, gmem> -> tensor<32x64xf16, #nv_tileas<space smem>>
    %next = nv_tileas.dot %x, %y, %acc {atom = #nv_tileas<atom wgmma_f16_f16_f32>} : tensor<64x32xf16, #nv_tileas<space smem>>, tensor<32x64xf16, #nv_tileas<space smem>>, tensor<64x64xf32> -> tensor<64x64xf32>
    scf.yield %next : tensor<64x64xf32>
  }
  %last = arith.addi %n, %one : index
  %half = arith.mulf %sum, %sum : tensor<64x64xf32>
  %all = scf.for %k = %n to %last step %one iter_args(%acc = %half) -> (tensor<64x64xf32>) {
    %x = nv_tileas.tiled_load %a[%zero, %k] {atom = #nv_tileas<atom tma_load_2d>, allow_tma = true} : !nv_tileas.tiled_view<64x32xf16, gmem> -> tensor<64x32xf16, #nv_tileas<space smem>>
    %y = nv_tileas.tiled_load %b[%k, %zero] {atom = #nv_tileas<atom tma_load_2d>, allow_tma = true} : !nv_tileas.tiled_view<32x64xf16, gmem> -> tensor<32x64xf16, #nv_tileas<space smem>>
    %next = nv_tileas.dot %x, %y, %acc {atom = #nv_tileas<atom wgmma_f16_f16_f32>} : tensor<64x32xf16, #nv_tileas<space smem>>, tensor<32x64xf16, #nv_tileas<space smem>>, tensor<64x64xf32> -> tensor<64x64xf32>
    scf.yield %next : tensor<64x64xf32>
  }
  nv_tileas.tiled_store %all, %c[%zero, %zero] {atom = #nv_tileas<atom stg>} : tensor<64x64xf32>, !nv_tileas.tiled_view<64x64xf32, gmem>
  func.return
}

// -----

// What threads load through pointers, in runs of 16 bytes, goes into the stage beside what TMA loads: all
// of the producer computes the pointers, and the copy is for its threads (`cp.async`).

// CHECK-LABEL: func.func @gathered
// CHECK:       agent 0 {
// CHECK:         scf.for %[[K:.*]] = %zero to %n step %one
// CHECK:           %[[P:.*]] = nv_tileas.generate : tensor<64x64x!nv_tileaa.ptr<f16, 1>>
// CHECK:           nv_tileas.async.pipeline.produce_one
// CHECK-NEXT:      ^bb0(%[[A:.*]]: tensor<64x64xf16>, %{{.*}}: tensor<64x64xf16>):
// CHECK-NEXT:        %[[X:.*]] = nv_tileas.load %[[P]]
// CHECK-NEXT:        nv_tileas.copy %[[X]], %[[A]]
// CHECK-NEXT:        %y = nv_tileas.tiled_load %b[%[[K]], %zero]
// CHECK-NEXT:        nv_tileas.async.pipeline.yield %[[A]], %y
// CHECK:       agent 1 {
// CHECK-NOT:     nv_tileas.load
// CHECK:           consume_one
// CHECK-NEXT:      ^bb0(%[[S:.*]]: tensor<64x64xf16>, %[[T:.*]]: tensor<64x64xf16>):
// CHECK-NEXT:        nv_tileas.dot %[[S]], %[[T]]
func.func @gathered(%p: !nv_tileaa.ptr<f16, 1>, %rows: tensor<64xindex>, %b: !nv_tileas.tiled_view<64x64xf16, gmem>, %c: !nv_tileas.tiled_view<64x64xf32, gmem>, %n: index) attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %pitch = arith.constant 640 : index
  %width = arith.constant 64 : index
  %base = nv_tileaa.assume %p, #nv_tileaa.div_by<16> : !nv_tileaa.ptr<f16, 1>
  %nothing = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = scf.for %k = %zero to %n step %one iter_args(%acc = %nothing) -> (tensor<64x64xf32>) {
    %first = arith.muli %k, %width : index
    %pointers = nv_tileas.generate : tensor<64x64x!nv_tileaa.ptr<f16, 1>> {
    ^bb0(%i: index, %j: index):
      %row = tensor.extract %rows[%i] : tensor<64xindex>
      %begin = arith.muli %row, %pitch : index
      %column = arith.addi %first, %j : index
      %at = arith.addi %begin, %column : index
      %pointer = nv_tileaa.addptr %base, %at : !nv_tileaa.ptr<f16, 1>, index
      nv_tileas.yield %pointer : !nv_tileaa.ptr<f16, 1>
    }
    %loaded = nv_tileas.load %pointers {atom = #nv_tileas<atom ldg>} : tensor<64x64x!nv_tileaa.ptr<f16, 1>> -> tensor<64x64xf16>
    %x = nv_tileas.convert_layout %loaded : tensor<64x64xf16> -> tensor<64x64xf16, #nv_tileas<space smem>>
    %y = nv_tileas.tiled_load %b[%k, %zero] {atom = #nv_tileas<atom tma_load_2d>, allow_tma = true} : !nv_tileas.tiled_view<64x64xf16, gmem> -> tensor<64x64xf16, #nv_tileas<space smem>>
    %next = nv_tileas.dot %x, %y, %acc {atom = #nv_tileas<atom wgmma_f16_f16_f32>} : tensor<64x64xf16, #nv_tileas<space smem>>, tensor<64x64xf16, #nv_tileas<space smem>>, tensor<64x64xf32> -> tensor<64x64xf32>
    scf.yield %next : tensor<64x64xf32>
  }
  nv_tileas.tiled_store %sum, %c[%zero, %zero] {atom = #nv_tileas<atom stg>} : tensor<64x64xf32>, !nv_tileas.tiled_view<64x64xf32, gmem>
  func.return
}

// -----

// A loop that multiplies nothing loads the tiles of several rounds together; what is left over goes
// round by round.

// CHECK-LABEL: @sums
// CHECK:       %[[TWO:.*]] = arith.constant 2 : index
// CHECK:       %[[STEP:.*]] = arith.muli %{{.*}}, %[[TWO]]
// CHECK:       %[[TOP:.*]] = arith.maxsi
// CHECK:       %[[MANY:.*]] = arith.divui %{{.*}}, %[[TWO]]
// CHECK:       %[[END:.*]] = arith.addi
// CHECK:       %[[WHOLE:.*]] = scf.for %[[I:.*]] = %{{.*}} to %[[END]] step %[[STEP]] iter_args
// CHECK-COUNT-2: nv_tileas.tiled_load
// CHECK-COUNT-2: arith.addf
// CHECK:         scf.yield
// CHECK:       scf.for %{{.*}} = %[[END]] to %{{.*}} iter_args(%{{.*}} = %[[WHOLE]])
// CHECK:         nv_tileas.tiled_load
// CHECK-NEXT:    arith.addf
func.func @sums(%a: !nv_tileas.tiled_view<64x64xf32, gmem>, %c: !nv_tileas.tiled_view<64x64xf32, gmem>, %n: index) {
  %none = nv_tileas.create_none : !nv_tileaa.mem_token
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %nothing = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = scf.for %k = %zero to %n step %one iter_args(%acc = %nothing) -> (tensor<64x64xf32>) {
    %x, %loaded = nv_tileas.tiled_load %a[%k, %zero] after %none : !nv_tileaa.mem_token {atom = #nv_tileas<atom ldg>} : !nv_tileas.tiled_view<64x64xf32, gmem> -> tensor<64x64xf32>, !nv_tileaa.mem_token
    %next = arith.addf %acc, %x : tensor<64x64xf32>
    scf.yield %next : tensor<64x64xf32>
  }
  %stored = nv_tileas.tiled_store %sum, %c[%zero, %zero] after %none : !nv_tileaa.mem_token {atom = #nv_tileas<atom stg>} : tensor<64x64xf32>, !nv_tileas.tiled_view<64x64xf32, gmem> -> !nv_tileaa.mem_token
  func.return
}

// -----

// A store without a token comes behind the load of its round, and before that of the next one.

// CHECK-LABEL: @in_place
// CHECK:       scf.for
// CHECK:       nv_tileas.tiled_load
// CHECK-NOT:   nv_tileas.tiled_load
func.func @in_place(%a: !nv_tileas.tiled_view<64x64xf32, gmem>, %n: index) {
  %none = nv_tileas.create_none : !nv_tileaa.mem_token
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  scf.for %k = %zero to %n step %one {
    %x, %loaded = nv_tileas.tiled_load %a[%k, %zero] after %none : !nv_tileaa.mem_token {atom = #nv_tileas<atom ldg>} : !nv_tileas.tiled_view<64x64xf32, gmem> -> tensor<64x64xf32>, !nv_tileaa.mem_token
    %y = math.exp %x : tensor<64x64xf32>
    nv_tileas.tiled_store %y, %a[%k, %zero] {atom = #nv_tileas<atom stg>} : tensor<64x64xf32>, !nv_tileas.tiled_view<64x64xf32, gmem>
  }
  func.return
}

// -----

// What waits for nothing is loaded in front of the reduction that it stands behind: threads meet
// there, and both loads are on their way together.  One that a token orders stays.

// CHECK-LABEL: @weights
// CHECK:       %x, %{{.*}} = nv_tileas.tiled_load %a
// CHECK-NEXT:  %w, %{{.*}} = nv_tileas.tiled_load %b
// CHECK-NEXT:  nv_tileas.reduce
// CHECK:       nv_tileas.tiled_store
// CHECK-NEXT:  %v, %{{.*}} = nv_tileas.tiled_load %b
func.func @weights(%a: !nv_tileas.tiled_view<1x512xf32, gmem>, %b: !nv_tileas.tiled_view<512xf32, gmem>, %c: !nv_tileas.tiled_view<1xf32, gmem>, %d: !nv_tileas.tiled_view<512xf32, gmem>, %i: index) attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
  %none = nv_tileas.create_none : !nv_tileaa.mem_token
  %zero = arith.constant 0 : index
  %x, %first = nv_tileas.tiled_load %a[%i, %zero] after %none : !nv_tileaa.mem_token {atom = #nv_tileas<atom ldg>} : !nv_tileas.tiled_view<1x512xf32, gmem> -> tensor<1x512xf32>, !nv_tileaa.mem_token
  %s = nv_tileas.reduce %x {axis = 1 : i32} : tensor<1x512xf32> -> tensor<1xf32> {
  ^bb0(%l: f32, %r: f32):
    %t = arith.addf %l, %r : f32
    nv_tileas.yield %t : f32
  }
  %w, %second = nv_tileas.tiled_load %b[%zero] after %none : !nv_tileaa.mem_token {atom = #nv_tileas<atom ldg>} : !nv_tileas.tiled_view<512xf32, gmem> -> tensor<512xf32>, !nv_tileaa.mem_token
  %stored = nv_tileas.tiled_store %s, %c[%i] after %none : !nv_tileaa.mem_token {atom = #nv_tileas<atom stg>} : tensor<1xf32>, !nv_tileas.tiled_view<1xf32, gmem> -> !nv_tileaa.mem_token
  %v, %third = nv_tileas.tiled_load %b[%zero] after %stored : !nv_tileaa.mem_token {atom = #nv_tileas<atom ldg>} : !nv_tileas.tiled_view<512xf32, gmem> -> tensor<512xf32>, !nv_tileaa.mem_token
  %y = arith.mulf %w, %v : tensor<512xf32>
  nv_tileas.tiled_store %y, %d[%i] after %third : !nv_tileaa.mem_token {atom = #nv_tileas<atom stg>} : tensor<512xf32>, !nv_tileas.tiled_view<512xf32, gmem> -> !nv_tileaa.mem_token
  func.return
}

// -----

// Rows a round ahead: the first one is loaded in front of the loop, each other one while that before
// it is reduced, into the same memory.  What all rounds read, as weights, is loaded where it stands.

// CHECK-LABEL: @ahead
// CHECK:       %[[FIRST:.*]] = nv_tileas.async.tiled_load %[[ROWS:.*]][%{{.*}}, %{{.*}}] {nv_tileas.kept_in_shared_memory = 0 : i32, {{.*}} -> !nv_tileas.token<tensor<1x1024xf32>>
// CHECK:       scf.for %[[I:.*]] = %{{.*}} to %[[END:.*]] step %[[STEP:.*]] iter_args(%[[F:.*]] = %[[FIRST]])
// CHECK:         nv_tileas.tiled_load
// CHECK:         %[[X:.*]] = nv_tileas.async.wait %[[F]]
// CHECK-NEXT:    %[[NEXT:.*]] = arith.addi %[[I]], %[[STEP]] : index
// CHECK-NEXT:    %[[IS:.*]] = arith.cmpi slt, %[[NEXT]], %[[END]] : index
// CHECK-NEXT:    %[[G:.*]] = scf.if %[[IS]]
// CHECK-NEXT:      %[[H:.*]] = nv_tileas.async.tiled_load %[[ROWS]][%[[NEXT]], %{{.*}}] {nv_tileas.kept_in_shared_memory = 0 : i32,
// CHECK-NEXT:      scf.yield %[[H]]
// CHECK-NEXT:    } else {
// CHECK-NEXT:      scf.yield %[[F]]
// CHECK:         nv_tileas.reduce
// CHECK:         nv_tileas.tiled_store
// CHECK:         scf.yield %[[G]]
func.func @ahead(%a: !nv_tileas.tiled_view<1x1024xf32, gmem>, %w: !nv_tileas.tiled_view<1x1024xf32, gmem>, %b: !nv_tileas.tiled_view<1xf32, gmem>, %n: index) attributes {nv_tileas.rows_ahead, nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
  %none = nv_tileas.create_none : !nv_tileaa.mem_token
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  scf.for %i = %zero to %n step %one {
    %v = nv_tileas.tiled_load %w[%zero, %zero] {atom = #nv_tileas<atom ldg>} : !nv_tileas.tiled_view<1x1024xf32, gmem> -> tensor<1x1024xf32>
    %x = nv_tileas.tiled_load %a[%i, %zero] {atom = #nv_tileas<atom ldg>} : !nv_tileas.tiled_view<1x1024xf32, gmem> -> tensor<1x1024xf32>
    %y = arith.mulf %x, %v : tensor<1x1024xf32>
    %s = nv_tileas.reduce %y {axis = 1 : i32} : tensor<1x1024xf32> -> tensor<1xf32> {
    ^bb0(%p: f32, %q: f32):
      %r = arith.addf %p, %q : f32
      nv_tileas.yield %r : f32
    }
    %stored = nv_tileas.tiled_store %s, %b[%i] after %none : !nv_tileaa.mem_token {atom = #nv_tileas<atom stg>} : tensor<1xf32>, !nv_tileas.tiled_view<1xf32, gmem> -> !nv_tileaa.mem_token
  }
  func.return
}

// -----

// A while loop whose next round is known: it has what the round before has for another value.

// CHECK-LABEL: func.func @ahead_of_a_counter
// CHECK:       %[[BEGUN:.*]] = nv_tileas.async.tiled_load
// CHECK:       scf.while (%{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}, %[[F:.*]] = %[[BEGUN]])
// CHECK:         scf.condition(%{{.*}}) %{{.*}}, %{{.*}}, %[[F]]
// CHECK:       ^bb0(%[[NOW:.*]]: i32, %[[NEXT:.*]]: i32, %[[G:.*]]: !nv_tileas.token
// CHECK:         %[[X:.*]] = nv_tileas.async.wait %[[G]]
// CHECK:         %[[IS:.*]] = arith.cmpi sge, %[[NEXT]], %{{.*}} : i32
// CHECK-NEXT:    %[[H:.*]] = scf.if %[[IS]]
// CHECK-NEXT:      %[[AT:.*]] = arith.index_cast %[[NEXT]] : i32 to index
// CHECK-NEXT:      nv_tileas.async.tiled_load %{{.*}}[%[[AT]]
// CHECK:         nv_tileas.reduce %[[X]]
// CHECK:         %[[LAST:.*]] = nv_tileas.async.wait
// CHECK-NEXT:    scf.yield %[[NEXT]], %[[LAST]], %[[H]]
func.func @ahead_of_a_counter(%a: !nv_tileas.tiled_view<1x1024xf32, gmem>, %b: !nv_tileas.tiled_view<1xf32, gmem>, %first: i32, %second: i32) attributes {nv_tileas.rows_ahead, nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4, persistent = 1>} {
  %none = nv_tileas.create_none : !nv_tileaa.mem_token
  %zero = arith.constant 0 : index
  scf.while (%i = %first, %j = %second) : (i32, i32) -> (i32, i32) {
    %least = arith.constant 0 : i32
    %is = arith.cmpi sge, %i, %least : i32
    scf.condition(%is) %i, %j : i32, i32
  } do {
  ^bb0(%now: i32, %next: i32):
    %asked = nv_tileas.async.next_tile_block {rounds = 2 : i32} : !nv_tileas.token<tuple<i32>>
    %at = arith.index_cast %now : i32 to index
    %x = nv_tileas.tiled_load %a[%at, %zero] {atom = #nv_tileas<atom ldg>} : !nv_tileas.tiled_view<1x1024xf32, gmem> -> tensor<1x1024xf32>
    %s = nv_tileas.reduce %x {axis = 1 : i32} : tensor<1x1024xf32> -> tensor<1xf32> {
    ^bb0(%p: f32, %q: f32):
      %r = arith.addf %p, %q : f32
      nv_tileas.yield %r : f32
    }
    %stored = nv_tileas.tiled_store %s, %b[%at] after %none : !nv_tileaa.mem_token {atom = #nv_tileas<atom stg>} : tensor<1xf32>, !nv_tileas.tiled_view<1xf32, gmem> -> !nv_tileaa.mem_token
    %last = nv_tileas.async.wait %asked : !nv_tileas.token<tuple<i32>> -> i32
    scf.yield %next, %last : i32, i32
  }
  func.return
}

// -----

// What a round loads behind its reduction comes in front of it first, so that the next rows are on
// their way while this one is computed.

// CHECK-LABEL: func.func @labels
// CHECK:       scf.for
// CHECK:         nv_tileas.async.wait
// CHECK:         nv_tileas.async.wait
// CHECK:         scf.if
// CHECK-NEXT:      nv_tileas.async.tiled_load
// CHECK-NEXT:      nv_tileas.async.tiled_load
// CHECK:         nv_tileas.reduce
// CHECK-NOT:     tiled_load
// CHECK:         scf.yield
func.func @labels(%a: !nv_tileas.tiled_view<1x1024xf32, gmem>, %w: !nv_tileas.tiled_view<1xf32, gmem>, %b: !nv_tileas.tiled_view<1xf32, gmem>, %n: index) attributes {nv_tileas.rows_ahead, nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
  %none = nv_tileas.create_none : !nv_tileaa.mem_token
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  scf.for %i = %zero to %n step %one {
    %x = nv_tileas.tiled_load %a[%i, %zero] {atom = #nv_tileas<atom ldg>} : !nv_tileas.tiled_view<1x1024xf32, gmem> -> tensor<1x1024xf32>
    %s = nv_tileas.reduce %x {axis = 1 : i32} : tensor<1x1024xf32> -> tensor<1xf32> {
    ^bb0(%p: f32, %q: f32):
      %r = arith.addf %p, %q : f32
      nv_tileas.yield %r : f32
    }
    %v, %loaded = nv_tileas.tiled_load %w[%i] after %none : !nv_tileaa.mem_token {atom = #nv_tileas<atom ldg>} : !nv_tileas.tiled_view<1xf32, gmem> -> tensor<1xf32>, !nv_tileaa.mem_token
    %y = arith.mulf %s, %v : tensor<1xf32>
    %stored = nv_tileas.tiled_store %y, %b[%i] after %none : !nv_tileaa.mem_token {atom = #nv_tileas<atom stg>} : tensor<1xf32>, !nv_tileas.tiled_view<1xf32, gmem> -> !nv_tileaa.mem_token
  }
  func.return
}

// -----

// What is the same in all rounds is loaded once where a kernel asks for it, and read in shared memory where it was loaded.

// CHECK-LABEL: func.func @lines
// CHECK:       nv_tileas.async.tiled_load %{{.*}} {nv_tileas.kept_in_shared_memory = 0 : i32,
// CHECK:       %[[F:.*]] = nv_tileas.async.tiled_load %[[W:.*]][%{{.*}}] {nv_tileas.kept_in_shared_memory = 1 : i32,
// CHECK-NEXT:  %[[K:.*]] = nv_tileas.async.wait %[[F]]
// CHECK:       scf.for
// CHECK-NEXT:    %[[X:.*]] = nv_tileas.async.wait
// CHECK:         nv_tileas.reduce %[[X]]
// CHECK-NOT:     nv_tileas.tiled_load
// CHECK:         %[[V:.*]] = nv_tileas.extract_slice %[[K]][0][1024][1]
// CHECK-NEXT:    nv_tileas.expand_dims %[[V]]
func.func @lines(%a: !nv_tileas.tiled_view<1x1024xf32, gmem>, %w: !nv_tileas.tiled_view<1024xf32, gmem>, %b: !nv_tileas.tiled_view<1x1024xf32, gmem>, %n: index) attributes {nv_tileas.lines_kept, nv_tileas.rows_ahead, nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
  %none = nv_tileas.create_none : !nv_tileaa.mem_token
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  scf.for %i = %zero to %n step %one {
    %x = nv_tileas.tiled_load %a[%i, %zero] {atom = #nv_tileas<atom ldg>} : !nv_tileas.tiled_view<1x1024xf32, gmem> -> tensor<1x1024xf32>
    %s = nv_tileas.reduce %x {axis = 1 : i32} : tensor<1x1024xf32> -> tensor<1xf32> {
    ^bb0(%p: f32, %q: f32):
      %r = arith.addf %p, %q : f32
      nv_tileas.yield %r : f32
    }
    %v = nv_tileas.tiled_load %w[%zero] {atom = #nv_tileas<atom ldg>} : !nv_tileas.tiled_view<1024xf32, gmem> -> tensor<1024xf32>
    %e = nv_tileas.expand_dims %v {axis = 0 : i32} : tensor<1024xf32> -> tensor<1x1024xf32>
    %y = arith.mulf %x, %e : tensor<1x1024xf32>
    %stored = nv_tileas.tiled_store %y, %b[%i, %zero] after %none : !nv_tileaa.mem_token {atom = #nv_tileas<atom stg>} : tensor<1x1024xf32>, !nv_tileas.tiled_view<1x1024xf32, gmem> -> !nv_tileaa.mem_token
  }
  func.return
}

// -----

// What a loop around loads for the products is a stream of that loop, with a ring of its own: the
// producer loads the tile of the next round while this one ends.  The consumer reads it in its stage
// until the products are read, which may run until then.

func.func @stream(%q: !nv_tileas.tiled_view<64x32xf16, gmem>, %k: !nv_tileas.tiled_view<32x64xf16, gmem>, %c: !nv_tileas.tiled_view<64x64xf32, gmem>, %n: index, %tiles: index) attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %nothing = arith.constant dense<0.0> : tensor<64x64xf32>
  scf.for %t = %zero to %tiles step %one {
    %x = nv_tileas.tiled_load %q[%t, %zero] {atom = #nv_tileas<atom tma_load_2d>, allow_tma = true} : !nv_tileas.tiled_view<64x32xf16, gmem> -> tensor<64x32xf16, #nv_tileas<space smem>>
    %sum = scf.for %j = %zero to %n step %one iter_args(%acc = %nothing) -> (tensor<64x64xf32>) {
      %y = nv_tileas.tiled_load %k[%j, %zero] {atom = #nv_tileas<atom tma_load_2d>, allow_tma = true} : !nv_tileas.tiled_view<32x64xf16, gmem> -> tensor<32x64xf16, #nv_tileas<space smem>>
      %next = nv_tileas.dot %x, %y, %acc {atom = #nv_tileas<atom wgmma_f16_f16_f32>} : tensor<64x32xf16, #nv_tileas<space smem>>, tensor<32x64xf16, #nv_tileas<space smem>>, tensor<64x64xf32> -> tensor<64x64xf32>
      scf.yield %next : tensor<64x64xf32>
    }
    %rounded = arith.truncf %sum : tensor<64x64xf32> to tensor<64x64xf16>
    %widened = arith.extf %rounded : tensor<64x64xf16> to tensor<64x64xf32>
    nv_tileas.tiled_store %widened, %c[%t, %zero] {atom = #nv_tileas<atom stg>, nv_tileas.until_read} : tensor<64x64xf32>, !nv_tileas.tiled_view<64x64xf32, gmem>
    scf.yield
  }
  func.return
}

// CHECK-LABEL: func.func @stream
// CHECK:       %[[P:.*]], %[[C:.*]] = nv_tileas.async.pipeline.create_pipeline %{{.*}} {nv_tileas.stages_are_a_hint, numStages = 4
// CHECK:       %[[PQ:.*]], %[[CQ:.*]] = nv_tileas.async.pipeline.create_pipeline %{{.*}} {nv_tileas.stages_are_a_hint, numStages = 2
// CHECK:       scf.for %[[T:.*]] = %zero to %tiles step %one iter_args(%{{.*}} = %[[P]], %{{.*}} = %{{.*}}, %[[F:.*]] = %[[PQ]], %[[I:.*]] = %{{.*}})
// CHECK-NEXT:    %[[FILLED:.*]], %{{.*}} = nv_tileas.async.pipeline.produce_one_async %[[F]], %[[I]]
// CHECK-NEXT:    ^bb0
// CHECK-NEXT:      %x = nv_tileas.tiled_load %q[%[[T]], %zero]
// CHECK-NEXT:      nv_tileas.async.pipeline.yield %x
// CHECK-NEXT:    }
// CHECK-NEXT:    nv_tileas.async.pipeline.producer_commit %[[FILLED]]
// CHECK-NEXT:    nv_tileas.async.pipeline.inc_iter %[[I]]
// CHECK-NEXT:    scf.for
// CHECK-NEXT:      nv_tileas.async.pipeline.produce_one_async
// CHECK:       }, agent 1 {
// CHECK:       scf.for %t = %zero to %tiles step %one
// CHECK-NEXT:    %[[WAITED:.*]] = nv_tileas.async.pipeline.consumer_wait %[[W:.*]], %[[J:.*]] {consumer_idx = 0
// CHECK-NEXT:    %[[READ:.*]], %[[X:.*]] = nv_tileas.async.pipeline.consumer_read %[[WAITED]], %[[J]]
// CHECK:         %{{.*}}, %{{.*}}, %sum = scf.for
// CHECK-NEXT:      nv_tileas.async.pipeline.consume_one
// CHECK-NEXT:      ^bb0
// CHECK-NEXT:        nv_tileas.dot %[[X]]
// CHECK:         arith.truncf %sum
// CHECK-NEXT:    nv_tileas.async.pipeline.consumer_release %[[READ]]
// CHECK-NEXT:    nv_tileas.async.pipeline.inc_iter %[[J]]
// CHECK-NEXT:    arith.extf
// CHECK-NEXT:    nv_tileas.tiled_store

// -----

// Threads may read such a tile in registers too, as they do for the norms of its rows.

func.func @read_stream(%q: !nv_tileas.tiled_view<64x32xf16, gmem>, %k: !nv_tileas.tiled_view<32x64xf16, gmem>, %c: !nv_tileas.tiled_view<64x64xf32, gmem>, %n: index, %tiles: index) attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %nothing = arith.constant dense<0.0> : tensor<64x64xf32>
  scf.for %t = %zero to %tiles step %one {
    %x = nv_tileas.tiled_load %q[%t, %zero] {atom = #nv_tileas<atom tma_load_2d>, allow_tma = true} : !nv_tileas.tiled_view<64x32xf16, gmem> -> tensor<64x32xf16, #nv_tileas<space smem>>
    %r = nv_tileas.convert_layout %x : tensor<64x32xf16, #nv_tileas<space smem>> -> tensor<64x32xf16>
    "test.op"(%r) : (tensor<64x32xf16>) -> ()
    %sum = scf.for %j = %zero to %n step %one iter_args(%acc = %nothing) -> (tensor<64x64xf32>) {
      %y = nv_tileas.tiled_load %k[%j, %zero] {atom = #nv_tileas<atom tma_load_2d>, allow_tma = true} : !nv_tileas.tiled_view<32x64xf16, gmem> -> tensor<32x64xf16, #nv_tileas<space smem>>
      %next = nv_tileas.dot %x, %y, %acc {atom = #nv_tileas<atom wgmma_f16_f16_f32>} : tensor<64x32xf16, #nv_tileas<space smem>>, tensor<32x64xf16, #nv_tileas<space smem>>, tensor<64x64xf32> -> tensor<64x64xf32>
      scf.yield %next : tensor<64x64xf32>
    }
    %rounded = arith.truncf %sum : tensor<64x64xf32> to tensor<64x64xf16>
    %widened = arith.extf %rounded : tensor<64x64xf16> to tensor<64x64xf32>
    nv_tileas.tiled_store %widened, %c[%t, %zero] {atom = #nv_tileas<atom stg>, nv_tileas.until_read} : tensor<64x64xf32>, !nv_tileas.tiled_view<64x64xf32, gmem>
    scf.yield
  }
  func.return
}

// CHECK-LABEL: func.func @read_stream
// CHECK:       }, agent 1 {
// CHECK:         %{{.*}}, %[[X:.*]] = nv_tileas.async.pipeline.consumer_read
// CHECK:         %r = nv_tileas.convert_layout %[[X]]
// CHECK-NEXT:    "test.op"(%r)
// CHECK:           nv_tileas.dot %[[X]]
// CHECK:         nv_tileas.async.pipeline.consumer_release
