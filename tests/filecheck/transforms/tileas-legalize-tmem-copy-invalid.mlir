// Copies that tensor memory has no instructions for; each is left, and its neighbours are rewritten.

// RUN: tileas-opt %s -p tileas-legalize-tmem-copy --split-input-file --verify-diagnostics

// No register holds elements as tensor memory does that fill no cell.

!t = tensor<128x32xf16, #nv_tileas.linear<"(128,32):(1@lane,1@column)">>

func.func @narrow(%t: !t, %r: tensor<128x32xf16>, %s: tensor<128x32xf16, #nv_tileas<space smem>>) {
  // expected-error@+1 {{'nv_tileas.copy' op failed to infer register layout from tmem layout}}
  nv_tileas.copy %t, %r {atom = #nv_tileas<atom unknown_copy>} : !t, tensor<128x32xf16>
  // expected-error@+1 {{'nv_tileas.copy' op failed to infer register layout from tmem layout}}
  nv_tileas.copy %s, %t {atom = #nv_tileas<atom unknown_copy>} : tensor<128x32xf16, #nv_tileas<space smem>>, !t
  func.return
}

// -----

// Lanes that a warp does not reach, too few rows, too few warps.

!across = tensor<32x128xf32, #nv_tileas.linear<"(32,128):(1@column,1@lane)">>
!t = tensor<128x32xf32, #nv_tileas.linear<"(128,32):(1@lane,1@column)">>
#any = #nv_tileas<atom unknown_copy>

func.func @rows(%t: !across, %r: tensor<32x128xf32>) {
  // expected-error@+1 {{'nv_tileas.copy' op failed to infer register layout from tmem layout}}
  nv_tileas.copy %t, %r {atom = #any} : !across, tensor<32x128xf32>
  func.return
}

func.func @warps(%t: !t, %r: tensor<128x32xf32>) attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 2>} {
  // expected-error@+1 {{'nv_tileas.copy' op failed to infer register layout from tmem layout}}
  nv_tileas.copy %t, %r {atom = #any} : !t, tensor<128x32xf32>
  func.return
}

// Registers of other threads: a copy into them cannot convert.

!b = tensor<128x32xf32, #nv_tileas.blocked<"((4,32),32):((32@thread,1@value),1@thread)">>

func.func @other_registers(%t: !t, %b: !b) {
  // expected-error@+1 {{'nv_tileas.copy' op failed to infer register layout from tmem layout}}
  nv_tileas.copy %t, %b {atom = #any} : !t, !b
  func.return
}

// -----

// A source that is no layout of such a tile.

!t = tensor<128x32xf32, #nv_tileas.linear<"(128,32):(1@lane,1@column)">>
#any = #nv_tileas<atom unknown_copy>

func.func @sources(%t: !t, %s: tensor<128x32xf32, #nv_tileas.shared<(128,16),(16,1)>>, %r: tensor<128x32xf32, #nv_tileas.blocked<"(256,16):(1@thread,1@value)">>) {
  // expected-error@+1 {{'nv_tileas.copy' op failed to infer source layout from tmem layout}}
  nv_tileas.copy %s, %t {atom = #any} : tensor<128x32xf32, #nv_tileas.shared<(128,16),(16,1)>>, !t
  // expected-error@+1 {{'nv_tileas.copy' op failed to infer source layout from tmem layout}}
  nv_tileas.copy %r, %t {atom = #any} : tensor<128x32xf32, #nv_tileas.blocked<"(256,16):(1@thread,1@value)">>, !t
  func.return
}
