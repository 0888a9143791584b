// Every message of `tileas-generate-schedule`.

// RUN: tileas-opt %s -p tileas-generate-schedule --split-input-file --verify-diagnostics

func.func @interval(%a: !nv_tileas.tiled_view<64x64xf16, gmem>, %first: tensor<64x64xf32>, %count: index) -> tensor<64x64xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  // expected-error @+2 {{modulo scheduler returned no feasible II}}
  // expected-note @+1 {{the interval is pinned to 64, but tma is held for 158 cycles}}
  %sum = scf.for %k = %zero to %count step %one iter_args(%acc = %first) -> (tensor<64x64xf32>) {
    %x = nv_tileas.tiled_load %a[%zero, %k] {atom = #nv_tileas<atom tma_load_2d>} : !nv_tileas.tiled_view<64x64xf16, gmem> -> tensor<64x64xf16, #nv_tileas<space smem>>
    %n = nv_tileas.dot %x, %x, %acc {atom = #nv_tileas<atom wgmma_f16_f16_f32>} : tensor<64x64xf16, #nv_tileas<space smem>>, tensor<64x64xf16, #nv_tileas<space smem>>, tensor<64x64xf32> -> tensor<64x64xf32>
    scf.yield %n : tensor<64x64xf32>
  } {tileas.schedule = {ii = 64 : i32}}
  func.return %sum : tensor<64x64xf32>
}

// -----

func.func @start(%a: !nv_tileas.tiled_view<64x64xf16, gmem>, %first: tensor<64x64xf32>, %count: index) -> tensor<64x64xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  // expected-error @+1 {{failed to find a schedule}}
  %sum = scf.for %k = %zero to %count step %one iter_args(%acc = %first) -> (tensor<64x64xf32>) {
    %x = nv_tileas.tiled_load %a[%zero, %k] {atom = #nv_tileas<atom tma_load_2d>} : !nv_tileas.tiled_view<64x64xf16, gmem> -> tensor<64x64xf16, #nv_tileas<space smem>>
    // expected-note @+1 {{is pinned to cycle 3, but cannot start before 863, as 'nv_tileas.tiled_load' starts at 0 or later}}
    %n = nv_tileas.dot %x, %x, %acc {atom = #nv_tileas<atom wgmma_f16_f16_f32>, tileas.schedule = {start = 3 : i32}} : tensor<64x64xf16, #nv_tileas<space smem>>, tensor<64x64xf16, #nv_tileas<space smem>>, tensor<64x64xf32> -> tensor<64x64xf32>
    scf.yield %n : tensor<64x64xf32>
  }
  func.return %sum : tensor<64x64xf32>
}

// -----

func.func @order(%a: !nv_tileas.tiled_view<64x64xf16, gmem>, %first: tensor<64x64xf32>, %count: index) -> tensor<64x64xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  // expected-error @+1 {{failed to legalize schedule}}
  %sum = scf.for %k = %zero to %count step %one iter_args(%acc = %first) -> (tensor<64x64xf32>) {
    %x = nv_tileas.tiled_load %a[%zero, %k] {atom = #nv_tileas<atom tma_load_2d>} : !nv_tileas.tiled_view<64x64xf16, gmem> -> tensor<64x64xf16, #nv_tileas<space smem>>
    // expected-note @+1 {{is pinned to order 3, but is number 0 of its role}}
    %n = nv_tileas.dot %x, %x, %acc {atom = #nv_tileas<atom wgmma_f16_f16_f32>, tileas.schedule = {order = 3 : i32}} : tensor<64x64xf16, #nv_tileas<space smem>>, tensor<64x64xf16, #nv_tileas<space smem>>, tensor<64x64xf32> -> tensor<64x64xf32>
    scf.yield %n : tensor<64x64xf32>
  }
  func.return %sum : tensor<64x64xf32>
}

// -----

func.func @constraint(%a: !nv_tileas.tiled_view<64x64xf16, gmem>, %first: tensor<64x64xf32>, %count: index) -> tensor<64x64xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %sum = scf.for %k = %zero to %count step %one iter_args(%acc = %first) -> (tensor<64x64xf32>) {
    %x = nv_tileas.tiled_load %a[%zero, %k] {atom = #nv_tileas<atom tma_load_2d>} : !nv_tileas.tiled_view<64x64xf16, gmem> -> tensor<64x64xf16, #nv_tileas<space smem>>
    // expected-error @+1 {{has tileas.schedule.constraint.gid = 1.000000e+00 : f32, which has to be an integer}}
    %n = nv_tileas.dot %x, %x, %acc {atom = #nv_tileas<atom wgmma_f16_f16_f32>, tileas.schedule.constraint.gid = 1.0 : f32} : tensor<64x64xf16, #nv_tileas<space smem>>, tensor<64x64xf16, #nv_tileas<space smem>>, tensor<64x64xf32> -> tensor<64x64xf32>
    scf.yield %n : tensor<64x64xf32>
  }
  func.return %sum : tensor<64x64xf32>
}

// -----

// expected-error @+2 {{failed to get compute capability}}
// expected-note @+1 {{unknown target 'sm_42'; known: sm_90a, sm_100a, sm_120a}}
module attributes {nv_tileas.target = "sm_42"} {
}

// -----

func.func @stage(%a: !nv_tileas.tiled_view<64x64xf16, gmem>, %first: tensor<64x64xf32>, %count: index) -> tensor<64x64xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  // expected-error @+1 {{modulo scheduler returned no feasible II}}
  %sum = scf.for %k = %zero to %count step %one iter_args(%acc = %first) -> (tensor<64x64xf32>) {
    %x = nv_tileas.tiled_load %a[%zero, %k] {atom = #nv_tileas<atom tma_load_2d>, tileas.schedule = {start = 0 : i32}} : !nv_tileas.tiled_view<64x64xf16, gmem> -> tensor<64x64xf16, #nv_tileas<space smem>>
    // expected-note @+1 {{is pinned to stage 0, but cycle 1500 is in stage 1}}
    %n = nv_tileas.dot %x, %x, %acc {atom = #nv_tileas<atom wgmma_f16_f16_f32>, tileas.schedule = {stage = 0 : i32, start = 1500 : i32}} : tensor<64x64xf16, #nv_tileas<space smem>>, tensor<64x64xf16, #nv_tileas<space smem>>, tensor<64x64xf32> -> tensor<64x64xf32>
    scf.yield %n : tensor<64x64xf32>
  } {tileas.schedule = {ii = 1024 : i32}}
  func.return %sum : tensor<64x64xf32>
}

// -----

func.func @producer(%a: !nv_tileas.tiled_view<64x64xf16, gmem>, %first: tensor<64x64xf32>, %count: index) -> tensor<64x64xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  // expected-error @+1 {{modulo scheduler returned no feasible II}}
  %sum = scf.for %k = %zero to %count step %one iter_args(%acc = %first) -> (tensor<64x64xf32>) {
    %x = nv_tileas.tiled_load %a[%zero, %k] {atom = #nv_tileas<atom tma_load_2d>} : !nv_tileas.tiled_view<64x64xf16, gmem> -> tensor<64x64xf16, #nv_tileas<space smem>>
    // expected-note @+1 {{is pinned to the role producer, which issues loads by TMA alone}}
    %n = nv_tileas.dot %x, %x, %acc {atom = #nv_tileas<atom wgmma_f16_f16_f32>, tileas.schedule = {role = "producer", start = 0 : i32}} : tensor<64x64xf16, #nv_tileas<space smem>>, tensor<64x64xf16, #nv_tileas<space smem>>, tensor<64x64xf32> -> tensor<64x64xf32>
    scf.yield %n : tensor<64x64xf32>
  } {tileas.schedule = {ii = 1024 : i32}}
  func.return %sum : tensor<64x64xf32>
}

// -----

func.func @both_at_once(%a: !nv_tileas.tiled_view<64x64xf16, gmem>, %first: tensor<64x64xf32>, %count: index) -> tensor<64x64xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  // expected-error @+1 {{modulo scheduler returned no feasible II}}
  %sum = scf.for %k = %zero to %count step %one iter_args(%acc = %first) -> (tensor<64x64xf32>) {
    %x = nv_tileas.tiled_load %a[%zero, %k] {atom = #nv_tileas<atom tma_load_2d>, tileas.schedule = {start = 0 : i32}} : !nv_tileas.tiled_view<64x64xf16, gmem> -> tensor<64x64xf16, #nv_tileas<space smem>>
    %n = nv_tileas.dot %x, %x, %acc {atom = #nv_tileas<atom wgmma_f16_f16_f32>, tileas.schedule = {start = 1000 : i32}} : tensor<64x64xf16, #nv_tileas<space smem>>, tensor<64x64xf16, #nv_tileas<space smem>>, tensor<64x64xf32> -> tensor<64x64xf32>
    // expected-note @+1 {{holds tensor_core in cycles in which 'nv_tileas.dot' has it}}
    %m = nv_tileas.dot %x, %x, %first {atom = #nv_tileas<atom wgmma_f16_f16_f32>, tileas.schedule = {start = 1001 : i32}} : tensor<64x64xf16, #nv_tileas<space smem>>, tensor<64x64xf16, #nv_tileas<space smem>>, tensor<64x64xf32> -> tensor<64x64xf32>
    scf.yield %m : tensor<64x64xf32>
  } {tileas.schedule = {ii = 1024 : i32}}
  func.return %sum : tensor<64x64xf32>
}

// -----

func.func @registers(%a: !nv_tileas.tiled_view<64x64xf16, gmem>, %first: tensor<64x64xf32>, %count: index) -> tensor<64x64xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  // expected-error @+1 {{gives its roles 136192 registers of 65536: 128 threads of the producer have 40, 512 threads of the consumer have 256}}
  %sum = scf.for %k = %zero to %count step %one iter_args(%acc = %first) -> (tensor<64x64xf32>) {
    %x = nv_tileas.tiled_load %a[%zero, %k] {atom = #nv_tileas<atom tma_load_2d>} : !nv_tileas.tiled_view<64x64xf16, gmem> -> tensor<64x64xf16, #nv_tileas<space smem>>
    %n = nv_tileas.dot %x, %x, %acc {atom = #nv_tileas<atom wgmma_f16_f16_f32>} : tensor<64x64xf16, #nv_tileas<space smem>>, tensor<64x64xf16, #nv_tileas<space smem>>, tensor<64x64xf32> -> tensor<64x64xf32>
    scf.yield %n : tensor<64x64xf32>
  } {tileas.schedule = {roles = [{name = "consumer", warps = 16 : i32, registers = 256 : i32}, {name = "producer", warps = 4 : i32, registers = 40 : i32}]}}
  func.return %sum : tensor<64x64xf32>
}

// -----

func.func @unit(%a: !nv_tileas.tiled_view<64x64xf16, gmem>, %first: tensor<64x64xf32>, %count: index) -> tensor<64x64xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %sum = scf.for %k = %zero to %count step %one iter_args(%acc = %first) -> (tensor<64x64xf32>) {
    // expected-error @+1 {{is on the unit mufu, which it does not use; it uses tma}}
    %x = nv_tileas.tiled_load %a[%zero, %k] {atom = #nv_tileas<atom tma_load_2d>, tileas.schedule = {unit = "mufu"}} : !nv_tileas.tiled_view<64x64xf16, gmem> -> tensor<64x64xf16, #nv_tileas<space smem>>
    %n = nv_tileas.dot %x, %x, %acc {atom = #nv_tileas<atom wgmma_f16_f16_f32>} : tensor<64x64xf16, #nv_tileas<space smem>>, tensor<64x64xf16, #nv_tileas<space smem>>, tensor<64x64xf32> -> tensor<64x64xf32>
    scf.yield %n : tensor<64x64xf32>
  }
  func.return %sum : tensor<64x64xf32>
}
