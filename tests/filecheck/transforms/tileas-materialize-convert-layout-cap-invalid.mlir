// Conversions all of whose plans exceed the vector width `reg2reg-vec-size`.

// RUN: tileas-opt %s -p 'tileas-materialize-convert-layout{reg2reg-vec-size=8}' --split-input-file --verify-diagnostics
// RUN: tileas-opt %s -p 'tileas-materialize-convert-layout{reg2reg-vec-size=0}' --split-input-file --verify-diagnostics

#lanes = #nv_tileas.blocked<"(32,(8,2)):(1@thread,(1@value,8@value))">
#warps = #nv_tileas.blocked<"(32,(8,2)):(2@thread,(1@value,1@thread))">

func.func @wide(%x: tensor<32x16xf16, #lanes>) -> tensor<32x16xf16, #warps> {
  // expected-error@+1 {{'nv_tileas.convert_layout' op failed to query target spec for convert_layout}}
  %y = nv_tileas.convert_layout %x : tensor<32x16xf16, #lanes> -> tensor<32x16xf16, #warps>
  func.return %y : tensor<32x16xf16, #warps>
}
