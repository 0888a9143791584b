// Every message of `tileas-materialize-schedule`: schedules by which a loop cannot run, as a person may
// write them.

// RUN: tileas-opt %s -p tileas-materialize-schedule --split-input-file --verify-diagnostics

func.func @no_place(%a: !nv_tileas.tiled_view<64x64xf16, gmem>, %first: tensor<64x64xf32>, %count: index) -> tensor<64x64xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %sum = scf.for %k = %zero to %count step %one iter_args(%acc = %first) -> (tensor<64x64xf32>) {
    %x = nv_tileas.tiled_load %a[%zero, %k] {atom = #nv_tileas<atom tma_load_2d>, tileas.schedule = {stage = 0 : i32, order = 0 : i32, start = 0 : i32, role = "producer", unit = "tma"}} : !nv_tileas.tiled_view<64x64xf16, gmem> -> tensor<64x64xf16, #nv_tileas<space smem>>
    %y = nv_tileas.tiled_load %a[%k, %zero] {atom = #nv_tileas<atom tma_load_2d>, tileas.schedule = {stage = 0 : i32, order = 1 : i32, start = 300 : i32, role = "producer", unit = "tma"}} : !nv_tileas.tiled_view<64x64xf16, gmem> -> tensor<64x64xf16, #nv_tileas<space smem>>
    // expected-error @+1 {{has no tileas.schedule, but its loop has one; tileas-generate-schedule computes what is missing}}
    %n = nv_tileas.dot %x, %y, %acc {atom = #nv_tileas<atom wgmma_f16_f16_f32>} : tensor<64x64xf16, #nv_tileas<space smem>>, tensor<64x64xf16, #nv_tileas<space smem>>, tensor<64x64xf32> -> tensor<64x64xf32>
    scf.yield %n : tensor<64x64xf32>
  } {tileas.schedule = {ii = 1024 : i32, roles = [{name = "producer", warps = 4 : i32, registers = 40 : i32}, {name = "consumer", warps = 4 : i32, registers = 232 : i32}], buffers = [{value = 0 : i32, stages = 2 : i32}, {value = 1 : i32, stages = 2 : i32}]}}
  func.return %sum : tensor<64x64xf32>
}

// -----

func.func @no_loop(%a: !nv_tileas.tiled_view<64x64xf16, gmem>, %first: tensor<64x64xf32>, %count: index) -> tensor<64x64xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %sum = scf.for %k = %zero to %count step %one iter_args(%acc = %first) -> (tensor<64x64xf32>) {
    // expected-error @+1 {{has tileas.schedule, but its loop has none; tileas-generate-schedule computes it}}
    %x = nv_tileas.tiled_load %a[%zero, %k] {atom = #nv_tileas<atom tma_load_2d>, tileas.schedule = {stage = 0 : i32, order = 0 : i32, start = 0 : i32, role = "producer", unit = "tma"}} : !nv_tileas.tiled_view<64x64xf16, gmem> -> tensor<64x64xf16, #nv_tileas<space smem>>
    %y = nv_tileas.tiled_load %a[%k, %zero] {atom = #nv_tileas<atom tma_load_2d>, tileas.schedule = {stage = 0 : i32, order = 1 : i32, start = 300 : i32, role = "producer", unit = "tma"}} : !nv_tileas.tiled_view<64x64xf16, gmem> -> tensor<64x64xf16, #nv_tileas<space smem>>
    %n = nv_tileas.dot %x, %y, %acc {atom = #nv_tileas<atom wgmma_f16_f16_f32>, tileas.schedule = {stage = 1 : i32, order = 0 : i32, start = 1024 : i32, role = "consumer", unit = "tensor_core"}} : tensor<64x64xf16, #nv_tileas<space smem>>, tensor<64x64xf16, #nv_tileas<space smem>>, tensor<64x64xf32> -> tensor<64x64xf32>
    scf.yield %n : tensor<64x64xf32>
  }
  func.return %sum : tensor<64x64xf32>
}

// -----

func.func @order(%a: !nv_tileas.tiled_view<64x64xf16, gmem>, %first: tensor<64x64xf32>, %count: index) -> tensor<64x64xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %sum = scf.for %k = %zero to %count step %one iter_args(%acc = %first) -> (tensor<64x64xf32>) {
    %x = nv_tileas.tiled_load %a[%zero, %k] {atom = #nv_tileas<atom tma_load_2d>, tileas.schedule = {stage = 0 : i32, order = 0 : i32, start = 0 : i32, role = "producer", unit = "tma"}} : !nv_tileas.tiled_view<64x64xf16, gmem> -> tensor<64x64xf16, #nv_tileas<space smem>>
    // expected-note @+1 {{which starts at cycle 300}}
    %y = nv_tileas.tiled_load %a[%k, %zero] {atom = #nv_tileas<atom tma_load_2d>, tileas.schedule = {stage = 0 : i32, order = 1 : i32, start = 300 : i32, role = "producer", unit = "tma"}} : !nv_tileas.tiled_view<64x64xf16, gmem> -> tensor<64x64xf16, #nv_tileas<space smem>>
    // expected-error @+1 {{starts at cycle 200, before what it waits for}}
    %n = nv_tileas.dot %x, %y, %acc {atom = #nv_tileas<atom wgmma_f16_f16_f32>, tileas.schedule = {stage = 0 : i32, order = 0 : i32, start = 200 : i32, role = "consumer", unit = "tensor_core"}} : tensor<64x64xf16, #nv_tileas<space smem>>, tensor<64x64xf16, #nv_tileas<space smem>>, tensor<64x64xf32> -> tensor<64x64xf32>
    scf.yield %n : tensor<64x64xf32>
  } {tileas.schedule = {ii = 1024 : i32, roles = [{name = "producer", warps = 4 : i32, registers = 40 : i32}, {name = "consumer", warps = 4 : i32, registers = 232 : i32}], buffers = [{value = 0 : i32, stages = 2 : i32}, {value = 1 : i32, stages = 2 : i32}]}}
  func.return %sum : tensor<64x64xf32>
}

// -----

func.func @by_the_producer(%a: !nv_tileas.tiled_view<64x64xf16, gmem>, %first: tensor<64x64xf32>, %count: index) -> tensor<64x64xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %sum = scf.for %k = %zero to %count step %one iter_args(%acc = %first) -> (tensor<64x64xf32>) {
    %x = nv_tileas.tiled_load %a[%zero, %k] {atom = #nv_tileas<atom tma_load_2d>, tileas.schedule = {stage = 0 : i32, order = 0 : i32, start = 0 : i32, role = "producer", unit = "tma"}} : !nv_tileas.tiled_view<64x64xf16, gmem> -> tensor<64x64xf16, #nv_tileas<space smem>>
    %y = nv_tileas.tiled_load %a[%k, %zero] {atom = #nv_tileas<atom tma_load_2d>, tileas.schedule = {stage = 0 : i32, order = 1 : i32, start = 300 : i32, role = "producer", unit = "tma"}} : !nv_tileas.tiled_view<64x64xf16, gmem> -> tensor<64x64xf16, #nv_tileas<space smem>>
    // expected-error @+1 {{runs in the role producer, which issues loads by TMA alone}}
    %n = nv_tileas.dot %x, %y, %acc {atom = #nv_tileas<atom wgmma_f16_f16_f32>, tileas.schedule = {stage = 1 : i32, order = 2 : i32, start = 1500 : i32, role = "producer", unit = "tensor_core"}} : tensor<64x64xf16, #nv_tileas<space smem>>, tensor<64x64xf16, #nv_tileas<space smem>>, tensor<64x64xf32> -> tensor<64x64xf32>
    scf.yield %n : tensor<64x64xf32>
  } {tileas.schedule = {ii = 1024 : i32, roles = [{name = "producer", warps = 4 : i32, registers = 40 : i32}, {name = "consumer", warps = 4 : i32, registers = 232 : i32}], buffers = [{value = 0 : i32, stages = 2 : i32}, {value = 1 : i32, stages = 2 : i32}]}}
  func.return %sum : tensor<64x64xf32>
}

// -----

func.func @idle_role(%a: !nv_tileas.tiled_view<64x64xf16, gmem>, %first: tensor<64x64xf32>, %count: index) -> tensor<64x64xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  // expected-error @+1 {{has the role epilogue, in which no operation runs}}
  %sum = scf.for %k = %zero to %count step %one iter_args(%acc = %first) -> (tensor<64x64xf32>) {
    %x = nv_tileas.tiled_load %a[%zero, %k] {atom = #nv_tileas<atom tma_load_2d>, tileas.schedule = {stage = 0 : i32, order = 0 : i32, start = 0 : i32, role = "producer", unit = "tma"}} : !nv_tileas.tiled_view<64x64xf16, gmem> -> tensor<64x64xf16, #nv_tileas<space smem>>
    %y = nv_tileas.tiled_load %a[%k, %zero] {atom = #nv_tileas<atom tma_load_2d>, tileas.schedule = {stage = 0 : i32, order = 1 : i32, start = 300 : i32, role = "producer", unit = "tma"}} : !nv_tileas.tiled_view<64x64xf16, gmem> -> tensor<64x64xf16, #nv_tileas<space smem>>
    %n = nv_tileas.dot %x, %y, %acc {atom = #nv_tileas<atom wgmma_f16_f16_f32>, tileas.schedule = {stage = 1 : i32, order = 0 : i32, start = 1024 : i32, role = "consumer", unit = "tensor_core"}} : tensor<64x64xf16, #nv_tileas<space smem>>, tensor<64x64xf16, #nv_tileas<space smem>>, tensor<64x64xf32> -> tensor<64x64xf32>
    scf.yield %n : tensor<64x64xf32>
  } {tileas.schedule = {ii = 1024 : i32, roles = [{name = "producer", warps = 4 : i32, registers = 40 : i32}, {name = "consumer", warps = 4 : i32, registers = 232 : i32}, {name = "epilogue", warps = 4 : i32, registers = 40 : i32}], buffers = [{value = 0 : i32, stages = 2 : i32}, {value = 1 : i32, stages = 2 : i32}]}}
  func.return %sum : tensor<64x64xf32>
}

// -----

func.func @registers(%a: !nv_tileas.tiled_view<64x64xf16, gmem>, %first: tensor<64x64xf32>, %count: index) -> tensor<64x64xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  // expected-error @+1 {{gives its roles 89088 registers of 65536: 128 threads of the producer have 232, 256 threads of the consumer have 232}}
  %sum = scf.for %k = %zero to %count step %one iter_args(%acc = %first) -> (tensor<64x64xf32>) {
    %x = nv_tileas.tiled_load %a[%zero, %k] {atom = #nv_tileas<atom tma_load_2d>, tileas.schedule = {stage = 0 : i32, order = 0 : i32, start = 0 : i32, role = "producer", unit = "tma"}} : !nv_tileas.tiled_view<64x64xf16, gmem> -> tensor<64x64xf16, #nv_tileas<space smem>>
    %y = nv_tileas.tiled_load %a[%k, %zero] {atom = #nv_tileas<atom tma_load_2d>, tileas.schedule = {stage = 0 : i32, order = 1 : i32, start = 300 : i32, role = "producer", unit = "tma"}} : !nv_tileas.tiled_view<64x64xf16, gmem> -> tensor<64x64xf16, #nv_tileas<space smem>>
    %n = nv_tileas.dot %x, %y, %acc {atom = #nv_tileas<atom wgmma_f16_f16_f32>, tileas.schedule = {stage = 1 : i32, order = 0 : i32, start = 1024 : i32, role = "consumer", unit = "tensor_core"}} : tensor<64x64xf16, #nv_tileas<space smem>>, tensor<64x64xf16, #nv_tileas<space smem>>, tensor<64x64xf32> -> tensor<64x64xf32>
    scf.yield %n : tensor<64x64xf32>
  } {tileas.schedule = {ii = 1024 : i32, roles = [{name = "producer", warps = 4 : i32, registers = 232 : i32}, {name = "consumer", warps = 4 : i32, registers = 232 : i32, replicas = 2 : i32}], buffers = [{value = 0 : i32, stages = 2 : i32}, {value = 1 : i32, stages = 2 : i32}]}}
  func.return %sum : tensor<64x64xf32>
}

// -----

func.func @shared_memory(%a: !nv_tileas.tiled_view<64x64xf16, gmem>, %first: tensor<64x64xf32>, %count: index) -> tensor<64x64xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  // expected-error @+1 {{has buffers of 245760 bytes: 15 stages of 8192 bytes, 15 stages of 8192 bytes; shared memory has 232448}}
  %sum = scf.for %k = %zero to %count step %one iter_args(%acc = %first) -> (tensor<64x64xf32>) {
    %x = nv_tileas.tiled_load %a[%zero, %k] {atom = #nv_tileas<atom tma_load_2d>, tileas.schedule = {stage = 0 : i32, order = 0 : i32, start = 0 : i32, role = "producer", unit = "tma"}} : !nv_tileas.tiled_view<64x64xf16, gmem> -> tensor<64x64xf16, #nv_tileas<space smem>>
    %y = nv_tileas.tiled_load %a[%k, %zero] {atom = #nv_tileas<atom tma_load_2d>, tileas.schedule = {stage = 0 : i32, order = 1 : i32, start = 300 : i32, role = "producer", unit = "tma"}} : !nv_tileas.tiled_view<64x64xf16, gmem> -> tensor<64x64xf16, #nv_tileas<space smem>>
    %n = nv_tileas.dot %x, %y, %acc {atom = #nv_tileas<atom wgmma_f16_f16_f32>, tileas.schedule = {stage = 1 : i32, order = 0 : i32, start = 1024 : i32, role = "consumer", unit = "tensor_core"}} : tensor<64x64xf16, #nv_tileas<space smem>>, tensor<64x64xf16, #nv_tileas<space smem>>, tensor<64x64xf32> -> tensor<64x64xf32>
    scf.yield %n : tensor<64x64xf32>
  } {tileas.schedule = {ii = 1024 : i32, roles = [{name = "producer", warps = 4 : i32, registers = 40 : i32}, {name = "consumer", warps = 4 : i32, registers = 232 : i32}], buffers = [{value = 0 : i32, stages = 15 : i32}, {value = 1 : i32, stages = 15 : i32}]}}
  func.return %sum : tensor<64x64xf32>
}

// -----

func.func @turns(%a: !nv_tileas.tiled_view<64x64xf16, gmem>, %first: tensor<64x64xf32>, %count: index) -> tensor<64x64xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  // expected-error @+1 {{takes turns on the barriers 14, 15; 1 replicas need one each}}
  %sum = scf.for %k = %zero to %count step %one iter_args(%acc = %first) -> (tensor<64x64xf32>) {
    %x = nv_tileas.tiled_load %a[%zero, %k] {atom = #nv_tileas<atom tma_load_2d>, tileas.schedule = {stage = 0 : i32, order = 0 : i32, start = 0 : i32, role = "producer", unit = "tma"}} : !nv_tileas.tiled_view<64x64xf16, gmem> -> tensor<64x64xf16, #nv_tileas<space smem>>
    %y = nv_tileas.tiled_load %a[%k, %zero] {atom = #nv_tileas<atom tma_load_2d>, tileas.schedule = {stage = 0 : i32, order = 1 : i32, start = 300 : i32, role = "producer", unit = "tma"}} : !nv_tileas.tiled_view<64x64xf16, gmem> -> tensor<64x64xf16, #nv_tileas<space smem>>
    %n = nv_tileas.dot %x, %y, %acc {atom = #nv_tileas<atom wgmma_f16_f16_f32>, tileas.schedule = {stage = 1 : i32, order = 0 : i32, start = 1024 : i32, role = "consumer", unit = "tensor_core"}} : tensor<64x64xf16, #nv_tileas<space smem>>, tensor<64x64xf16, #nv_tileas<space smem>>, tensor<64x64xf32> -> tensor<64x64xf32>
    scf.yield %n : tensor<64x64xf32>
  } {tileas.schedule = {ii = 1024 : i32, roles = [{name = "producer", warps = 4 : i32, registers = 40 : i32}, {name = "consumer", warps = 4 : i32, registers = 232 : i32}], buffers = [{value = 0 : i32, stages = 2 : i32}, {value = 1 : i32, stages = 2 : i32}], turns = array<i32: 14, 15>}}
  func.return %sum : tensor<64x64xf32>
}

// -----

func.func @barrier(%a: !nv_tileas.tiled_view<64x64xf16, gmem>, %first: tensor<64x64xf32>, %count: index) -> tensor<64x64xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  // expected-error @+1 {{takes turns on the barriers 0; named barriers are 1 to 15}}
  %sum = scf.for %k = %zero to %count step %one iter_args(%acc = %first) -> (tensor<64x64xf32>) {
    %x = nv_tileas.tiled_load %a[%zero, %k] {atom = #nv_tileas<atom tma_load_2d>, tileas.schedule = {stage = 0 : i32, order = 0 : i32, start = 0 : i32, role = "producer", unit = "tma"}} : !nv_tileas.tiled_view<64x64xf16, gmem> -> tensor<64x64xf16, #nv_tileas<space smem>>
    %y = nv_tileas.tiled_load %a[%k, %zero] {atom = #nv_tileas<atom tma_load_2d>, tileas.schedule = {stage = 0 : i32, order = 1 : i32, start = 300 : i32, role = "producer", unit = "tma"}} : !nv_tileas.tiled_view<64x64xf16, gmem> -> tensor<64x64xf16, #nv_tileas<space smem>>
    %n = nv_tileas.dot %x, %y, %acc {atom = #nv_tileas<atom wgmma_f16_f16_f32>, tileas.schedule = {stage = 1 : i32, order = 0 : i32, start = 1024 : i32, role = "consumer", unit = "tensor_core"}} : tensor<64x64xf16, #nv_tileas<space smem>>, tensor<64x64xf16, #nv_tileas<space smem>>, tensor<64x64xf32> -> tensor<64x64xf32>
    scf.yield %n : tensor<64x64xf32>
  } {tileas.schedule = {ii = 1024 : i32, roles = [{name = "producer", warps = 4 : i32, registers = 40 : i32}, {name = "consumer", warps = 4 : i32, registers = 232 : i32}], buffers = [{value = 0 : i32, stages = 2 : i32}, {value = 1 : i32, stages = 2 : i32}], turns = array<i32: 0>}}
  func.return %sum : tensor<64x64xf32>
}

// -----

// A tile that both stages read: the next one is waited for in front of its release.

func.func @held(%k: !nv_tileas.tiled_view<16x16xf16, gmem>, %a: tensor<64x16xf16>, %first: tensor<64x16xf32>, %count: index) -> tensor<64x16xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %sum = scf.for %i = %zero to %count step %one iter_args(%acc = %first) -> (tensor<64x16xf32>) {
    // expected-error @+1 {{has 1 stage, but tiles of 2 iterations are alive at once}}
    %x = nv_tileas.tiled_load %k[%zero, %i] {atom = #nv_tileas<atom tma_load_2d>, tileas.schedule = {stage = 0 : i32, order = 0 : i32, start = 0 : i32, role = "producer", unit = "tma"}} : !nv_tileas.tiled_view<16x16xf16, gmem> -> tensor<16x16xf16, #nv_tileas<space smem>>
    %s = nv_tileas.dot %a, %x, %first {atom = #nv_tileas<atom wgmma_f16_f16_f32>, tileas.schedule = {stage = 0 : i32, order = 0 : i32, start = 4 : i32, role = "consumer", unit = "tensor_core"}} : tensor<64x16xf16>, tensor<16x16xf16, #nv_tileas<space smem>>, tensor<64x16xf32> -> tensor<64x16xf32>
    %p = arith.truncf %s {tileas.schedule = {stage = 0 : i32, order = 2 : i32, start = 20 : i32, role = "consumer", unit = "issue"}} : tensor<64x16xf32> to tensor<64x16xf16>
    // expected-note @+1 {{the last operation that reads}}
    %n = nv_tileas.dot %p, %x, %acc {atom = #nv_tileas<atom wgmma_f16_f16_f32>, tileas.schedule = {stage = 1 : i32, order = 1 : i32, start = 40 : i32, role = "consumer", unit = "tensor_core"}} : tensor<64x16xf16>, tensor<16x16xf16, #nv_tileas<space smem>>, tensor<64x16xf32> -> tensor<64x16xf32>
    scf.yield %n : tensor<64x16xf32>
  } {tileas.schedule = {ii = 32 : i32, roles = [{name = "producer", warps = 4 : i32, registers = 40 : i32}, {name = "consumer", warps = 4 : i32, registers = 232 : i32}], buffers = [{value = 0 : i32, stages = 1 : i32}]}}
  func.return %sum : tensor<64x16xf32>
}
