// Tiles are handed over, and nothing else.

// RUN: tileas-opt %s --split-input-file --verify-diagnostics

func.func @number(%place: i32, %n: i32) {
  // expected-error@+1 {{'nv_tileas.hand_over' op hands over tiles, and nothing else}}
  nv_tileas.hand_over %n in %place : i32
  func.return
}

// -----

func.func @token(%place: i32) {
  // expected-error@+1 {{'nv_tileas.take_over' op hands over tiles, and nothing else}}
  %t = nv_tileas.take_over %place : !nv_tileas.token
  func.return
}
