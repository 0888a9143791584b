// Conversions that no plan serves are an error at them.

// RUN: tileas-opt %s -p tileas-materialize-convert-layout --split-input-file --verify-diagnostics

#lanes = #nv_tileas.blocked<"(32,16):(1@thread,1@value)">
#many = #nv_tileas.blocked<"(32,16):(16@thread,1@thread)">

func.func @more_threads_than_there_are(%x: tensor<32x16xf16, #lanes>) -> tensor<32x16xf16, #many> {
  // expected-error@+1 {{'nv_tileas.convert_layout' op failed to query target spec for convert_layout}}
  %y = nv_tileas.convert_layout %x : tensor<32x16xf16, #lanes> -> tensor<32x16xf16, #many>
  func.return %y : tensor<32x16xf16, #many>
}

// -----

#lanes = #nv_tileas.blocked<"(32,16):(1@thread,1@value)">
#tmem = #nv_tileas.linear<"(32,16):(1@lane,1@column)">

func.func @tensor_memory(%x: tensor<32x16xf32, #lanes>) -> tensor<32x16xf32, #tmem> {
  // expected-error@+1 {{'nv_tileas.convert_layout' op failed to query target spec for convert_layout}}
  %y = nv_tileas.convert_layout %x : tensor<32x16xf32, #lanes> -> tensor<32x16xf32, #tmem>
  func.return %y : tensor<32x16xf32, #tmem>
}

// -----

#lanes = #nv_tileas.blocked<"(32,16):(1@thread,1@value)">
#others = #nv_tileas.blocked<"(32,(8,2)):(1@thread,(1@value,32@thread))">

func.func @elements_that_no_access_moves(%x: tensor<32x16xf6E2M3FN, #lanes>) -> tensor<32x16xf6E2M3FN, #others> {
  // expected-error@+1 {{'nv_tileas.convert_layout' op failed to query target spec for convert_layout}}
  %y = nv_tileas.convert_layout %x : tensor<32x16xf6E2M3FN, #lanes> -> tensor<32x16xf6E2M3FN, #others>
  func.return %y : tensor<32x16xf6E2M3FN, #others>
}
