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
