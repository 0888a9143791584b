// The target of the module has no tensor memory: no tcgen05 atom is written.

// RUN: tileas-opt %s -p tileas-legalize-tmem-copy --verify-diagnostics

!t = tensor<128x32xf32, #nv_tileas.linear<"(128,32):(1@lane,1@column)">>
#any = #nv_tileas<atom unknown_copy>

builtin.module attributes {nv_tileas.target = "sm_90a"} {
  func.func @copies(%t: !t, %r: tensor<128x32xf32>, %s: tensor<128x32xf32, #nv_tileas<space smem>>) {
    // expected-error@+1 {{'nv_tileas.copy' op a copy of tensor memory needs sm_100a}}
    nv_tileas.copy %t, %r {atom = #any} : !t, tensor<128x32xf32>
    // expected-error@+1 {{'nv_tileas.copy' op a copy of tensor memory needs sm_100a}}
    nv_tileas.copy %s, %t {atom = #any} : tensor<128x32xf32, #nv_tileas<space smem>>, !t

    // Others are none of this pass.
    nv_tileas.copy %s, %r {atom = #any} : tensor<128x32xf32, #nv_tileas<space smem>>, tensor<128x32xf32>
    func.return
  }
}
