// Tiles are transferred, and nothing else.

// RUN: tileas-opt %s --split-input-file --verify-diagnostics

func.func @number(%slot: i32, %n: i32) {
  // expected-error@+1 {{'nv_tileas.transfer_out' op transfers tiles, and nothing else}}
  nv_tileas.transfer_out %n in %slot : i32
  func.return
}

// -----

func.func @token(%slot: i32) {
  // expected-error@+1 {{'nv_tileas.transfer_in' op transfers tiles, and nothing else}}
  %t = nv_tileas.transfer_in %slot : !nv_tileas.token
  func.return
}

// -----

func.func @other_tiles(%slot: i32, %other: i32) {
  // expected-error@+1 {{'nv_tileas.transfer_in' op has the same tiles of each of its 2 slots}}
  %t, %u = nv_tileas.transfer_in %slot, %other : tensor<4xf32>, tensor<8xf32>
  func.return
}

// -----

func.func @no_slot() {
  // expected-error@+1 {{'nv_tileas.transfer_in' op waits for 1 to 32 slots, not for 0}}
  %t = nv_tileas.transfer_in : tensor<4xf32>
  func.return
}
