// Every message of `tileas-assign-buffers`.

// RUN: tileas-opt %s -p tileas-assign-buffers --split-input-file --verify-diagnostics

func.func @unread(%a: !nv_tileas.tiled_view<64x64xf16, gmem>, %first: tensor<64x64xf32>, %count: index) -> tensor<64x64xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  // expected-error @+1 {{fails to resolve lifetime}}
  %sum = scf.for %k = %zero to %count step %one iter_args(%acc = %first) -> (tensor<64x64xf32>) {
    %x = nv_tileas.tiled_load %a[%zero, %k] {atom = #nv_tileas<atom tma_load_2d>, tileas.schedule = {stage = 0 : i32, order = 0 : i32, start = 140 : i32, role = "producer", unit = "tma"}} : !nv_tileas.tiled_view<64x64xf16, gmem> -> tensor<64x64xf16, #nv_tileas<space smem>>
    // expected-note @+1 {{loads a tile that nothing in the loop reads}}
    %y = nv_tileas.tiled_load %a[%zero, %k] {atom = #nv_tileas<atom tma_load_2d>, tileas.schedule = {stage = 0 : i32, order = 1 : i32, start = 400 : i32, role = "producer", unit = "tma"}} : !nv_tileas.tiled_view<64x64xf16, gmem> -> tensor<64x64xf16, #nv_tileas<space smem>>
    %n = nv_tileas.dot %x, %x, %acc {atom = #nv_tileas<atom wgmma_f16_f16_f32>, tileas.schedule = {stage = 1 : i32, order = 0 : i32, start = 1024 : i32, role = "consumer", unit = "tensor_core"}} : tensor<64x64xf16, #nv_tileas<space smem>>, tensor<64x64xf16, #nv_tileas<space smem>>, tensor<64x64xf32> -> tensor<64x64xf32>
    scf.yield %n : tensor<64x64xf32>
  } {tileas.schedule = {ii = 1024 : i32, roles = [{name = "producer", warps = 4 : i32, registers = 40 : i32, replicas = 1 : i32}, {name = "consumer", warps = 4 : i32, registers = 232 : i32, replicas = 1 : i32}]}}
  func.return %sum : tensor<64x64xf32>
}

// -----

func.func @early(%a: !nv_tileas.tiled_view<64x64xf16, gmem>, %first: tensor<64x64xf32>, %count: index) -> tensor<64x64xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  // expected-error @+1 {{fails to resolve lifetime}}
  %sum = scf.for %k = %zero to %count step %one iter_args(%acc = %first) -> (tensor<64x64xf32>) {
    %x = nv_tileas.tiled_load %a[%zero, %k] {atom = #nv_tileas<atom tma_load_2d>, tileas.schedule = {stage = 0 : i32, order = 0 : i32, start = 500 : i32, role = "producer", unit = "tma"}} : !nv_tileas.tiled_view<64x64xf16, gmem> -> tensor<64x64xf16, #nv_tileas<space smem>>
    // expected-note @+1 {{reads at its start what is there at cycle 1363 of its iteration}}
    %n = nv_tileas.dot %x, %x, %acc {atom = #nv_tileas<atom wgmma_f16_f16_f32>, tileas.schedule = {stage = 1 : i32, order = 0 : i32, start = 1024 : i32, role = "consumer", unit = "tensor_core"}} : tensor<64x64xf16, #nv_tileas<space smem>>, tensor<64x64xf16, #nv_tileas<space smem>>, tensor<64x64xf32> -> tensor<64x64xf32>
    scf.yield %n : tensor<64x64xf32>
  } {tileas.schedule = {ii = 1024 : i32, roles = [{name = "producer", warps = 4 : i32, registers = 40 : i32, replicas = 1 : i32}, {name = "consumer", warps = 4 : i32, registers = 232 : i32, replicas = 1 : i32}]}}
  func.return %sum : tensor<64x64xf32>
}

// -----

func.func @few(%a: !nv_tileas.tiled_view<64x64xf16, gmem>, %first: tensor<64x64xf32>, %count: index) -> tensor<64x64xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  // expected-error @+1 {{fails to resolve lifetime}}
  %sum = scf.for %k = %zero to %count step %one iter_args(%acc = %first) -> (tensor<64x64xf32>) {
    // expected-note @+1 {{has 1 stages, but tiles of 2 iterations are alive at once}}
    %x = nv_tileas.tiled_load %a[%zero, %k] {atom = #nv_tileas<atom tma_load_2d>, tileas.schedule = {stage = 0 : i32, order = 0 : i32, start = 140 : i32, role = "producer", unit = "tma"}} : !nv_tileas.tiled_view<64x64xf16, gmem> -> tensor<64x64xf16, #nv_tileas<space smem>>
    %n = nv_tileas.dot %x, %x, %acc {atom = #nv_tileas<atom wgmma_f16_f16_f32>, tileas.schedule = {stage = 1 : i32, order = 0 : i32, start = 1024 : i32, role = "consumer", unit = "tensor_core"}} : tensor<64x64xf16, #nv_tileas<space smem>>, tensor<64x64xf16, #nv_tileas<space smem>>, tensor<64x64xf32> -> tensor<64x64xf32>
    scf.yield %n : tensor<64x64xf32>
  } {tileas.schedule = {ii = 1024 : i32, roles = [{name = "producer", warps = 4 : i32, registers = 40 : i32, replicas = 1 : i32}, {name = "consumer", warps = 4 : i32, registers = 232 : i32, replicas = 1 : i32}], buffers = [{value = 0 : i32, stages = 1 : i32}]}}
  func.return %sum : tensor<64x64xf32>
}

// -----

func.func @unscheduled(%a: !nv_tileas.tiled_view<64x64xf16, gmem>, %first: tensor<64x64xf32>, %count: index) -> tensor<64x64xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  // expected-error @+1 {{fails to resolve lifetime}}
  %sum = scf.for %k = %zero to %count step %one iter_args(%acc = %first) -> (tensor<64x64xf32>) {
    // expected-note @+1 {{is not scheduled}}
    %x = nv_tileas.tiled_load %a[%zero, %k] {atom = #nv_tileas<atom tma_load_2d>} : !nv_tileas.tiled_view<64x64xf16, gmem> -> tensor<64x64xf16, #nv_tileas<space smem>>
    %n = nv_tileas.dot %x, %x, %acc {atom = #nv_tileas<atom wgmma_f16_f16_f32>, tileas.schedule = {stage = 0 : i32, order = 0 : i32, start = 10 : i32, role = "consumer", unit = "tensor_core"}} : tensor<64x64xf16, #nv_tileas<space smem>>, tensor<64x64xf16, #nv_tileas<space smem>>, tensor<64x64xf32> -> tensor<64x64xf32>
    scf.yield %n : tensor<64x64xf32>
  } {tileas.schedule = {ii = 1024 : i32, roles = [{name = "producer", warps = 4 : i32, registers = 40 : i32, replicas = 1 : i32}, {name = "consumer", warps = 4 : i32, registers = 232 : i32, replicas = 1 : i32}]}}
  func.return %sum : tensor<64x64xf32>
}

// -----

func.func @barriers(%a: !nv_tileas.tiled_view<64x64xf16, gmem>, %first: tensor<64x64xf32>, %count: index) -> tensor<64x64xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  // expected-error @+2 {{fails to assign named barrier}}
  // expected-note @+1 {{16 replicas want a barrier each; a block has 15}}
  %sum = scf.for %k = %zero to %count step %one iter_args(%acc = %first) -> (tensor<64x64xf32>) {
    %x = nv_tileas.tiled_load %a[%zero, %k] {atom = #nv_tileas<atom tma_load_2d>, tileas.schedule = {stage = 0 : i32, order = 0 : i32, start = 140 : i32, role = "producer", unit = "tma"}} : !nv_tileas.tiled_view<64x64xf16, gmem> -> tensor<64x64xf16, #nv_tileas<space smem>>
    %n = nv_tileas.dot %x, %x, %acc {atom = #nv_tileas<atom wgmma_f16_f16_f32>, tileas.schedule = {stage = 1 : i32, order = 0 : i32, start = 1024 : i32, role = "consumer", unit = "tensor_core"}} : tensor<64x64xf16, #nv_tileas<space smem>>, tensor<64x64xf16, #nv_tileas<space smem>>, tensor<64x64xf32> -> tensor<64x64xf32>
    scf.yield %n : tensor<64x64xf32>
  } {tileas.schedule = {ii = 1024 : i32, roles = [{name = "producer", warps = 4 : i32, registers = 40 : i32, replicas = 1 : i32}, {name = "consumer", warps = 4 : i32, registers = 232 : i32, replicas = 16 : i32}]}}
  func.return %sum : tensor<64x64xf32>
}

// -----

func.func @memory(%a: !nv_tileas.tiled_view<64x64xf16, gmem>, %first: tensor<64x64xf32>, %count: index) -> tensor<64x64xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  // expected-error @+2 {{fails to assign smem buffer}}
  // expected-note @+1 {{its buffers take 327680 bytes of shared memory, of which 231424 are left}}
  %sum = scf.for %k = %zero to %count step %one iter_args(%acc = %first) -> (tensor<64x64xf32>) {
    %x = nv_tileas.tiled_load %a[%zero, %k] {atom = #nv_tileas<atom tma_load_2d>, tileas.schedule = {stage = 0 : i32, order = 0 : i32, start = 140 : i32, role = "producer", unit = "tma"}} : !nv_tileas.tiled_view<64x64xf16, gmem> -> tensor<64x64xf16, #nv_tileas<space smem>>
    %n = nv_tileas.dot %x, %x, %acc {atom = #nv_tileas<atom wgmma_f16_f16_f32>, tileas.schedule = {stage = 1 : i32, order = 0 : i32, start = 1024 : i32, role = "consumer", unit = "tensor_core"}} : tensor<64x64xf16, #nv_tileas<space smem>>, tensor<64x64xf16, #nv_tileas<space smem>>, tensor<64x64xf32> -> tensor<64x64xf32>
    scf.yield %n : tensor<64x64xf32>
  } {tileas.schedule = {ii = 1024 : i32, roles = [{name = "producer", warps = 4 : i32, registers = 40 : i32, replicas = 1 : i32}, {name = "consumer", warps = 4 : i32, registers = 232 : i32, replicas = 1 : i32}], buffers = [{value = 0 : i32, stages = 40 : i32}]}}
  func.return %sum : tensor<64x64xf32>
}

// -----

builtin.module attributes {nv_tileas.target = "sm_100a"} {
func.func @columns(%a: !nv_tileas.tiled_view<128x64xf16, gmem>, %y: tensor<64x256xf16, #nv_tileas<space smem>>, %first: tensor<128x256xf32>, %count: index) -> tensor<128x256xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  // expected-error @+2 {{fails to assign tmem buffer}}
  // expected-note @+1 {{its products want 256 + 256 + 256 columns; there are 512}}
  %sum = scf.for %k = %zero to %count step %one iter_args(%acc = %first) -> (tensor<128x256xf32>) {
    %x = nv_tileas.tiled_load %a[%zero, %k] {atom = #nv_tileas<atom tma_load_2d>, tileas.schedule = {stage = 0 : i32, order = 0 : i32, start = 0 : i32, role = "producer", unit = "tma"}} : !nv_tileas.tiled_view<128x64xf16, gmem> -> tensor<128x64xf16, #nv_tileas<space smem>>
    %n0 = nv_tileas.dot %x, %y, %acc {atom = #nv_tileas<atom tcgen05_f16_f16_f32>, tileas.schedule = {stage = 1 : i32, order = 0 : i32, start = 1500 : i32, role = "consumer", unit = "tensor_core"}} : tensor<128x64xf16, #nv_tileas<space smem>>, tensor<64x256xf16, #nv_tileas<space smem>>, tensor<128x256xf32> -> tensor<128x256xf32>
    %n1 = nv_tileas.dot %x, %y, %acc {atom = #nv_tileas<atom tcgen05_f16_f16_f32>, tileas.schedule = {stage = 1 : i32, order = 1 : i32, start = 1501 : i32, role = "consumer", unit = "tensor_core"}} : tensor<128x64xf16, #nv_tileas<space smem>>, tensor<64x256xf16, #nv_tileas<space smem>>, tensor<128x256xf32> -> tensor<128x256xf32>
    %n2 = nv_tileas.dot %x, %y, %acc {atom = #nv_tileas<atom tcgen05_f16_f16_f32>, tileas.schedule = {stage = 1 : i32, order = 2 : i32, start = 1502 : i32, role = "consumer", unit = "tensor_core"}} : tensor<128x64xf16, #nv_tileas<space smem>>, tensor<64x256xf16, #nv_tileas<space smem>>, tensor<128x256xf32> -> tensor<128x256xf32>
    scf.yield %n2 : tensor<128x256xf32>
  } {tileas.schedule = {ii = 1024 : i32, roles = [{name = "producer", warps = 4 : i32, registers = 40 : i32, replicas = 1 : i32}, {name = "consumer", warps = 4 : i32, registers = 232 : i32, replicas = 1 : i32}]}}
  func.return %sum : tensor<128x256xf32>
}
}
