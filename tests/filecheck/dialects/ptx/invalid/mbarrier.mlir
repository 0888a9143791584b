// What mbarriers refuse.

// RUN: tileas-opt %s --verify-diagnostics

ptx.shared @smem {size = 0 : i64, align = 1024 : i64, extern}
ptx.entry @k(%0: !ptx.param<u64>, %1: !ptx.param<b8, 128, align 64>) attributes {maxntid = array<i32: 128, 1, 1>} {
  %2 = ptx.undef -> !ptx.reg<b32>
  %3 = ptx.undef -> !ptx.reg<b64>
  %4 = ptx.undef -> !ptx.reg<pred>
  %5 = ptx.const {value = 0 : i64} -> !ptx.reg<b32>
  // expected-error@+1 {{'ptx.mbarrier.init' op takes 1 to 1048575 arrivals, not 0}}
      ptx.mbarrier.init %2, %5 : !ptx.reg<b32>, !ptx.reg<b32>
  // expected-error@+1 {{'ptx.mbarrier.init' op expects the count in b32, but got b64}}
      ptx.mbarrier.init %2, %3 : !ptx.reg<b32>, !ptx.reg<b64>
  %6 = ptx.const {value = 1 : i64} -> !ptx.reg<b32>
  // expected-error@+1 {{'ptx.mbarrier.init' op expects the barrier in b32 or b64, but got pred}}
      ptx.mbarrier.init %4, %6 : !ptx.reg<pred>, !ptx.reg<b32>
  %7 = ptx.const {value = 1 : i64} -> !ptx.reg<b32>
  ptx.mbarrier.init %2, %7 : !ptx.reg<b32>, !ptx.reg<b32>
  // expected-error@+1 {{'ptx.mbarrier.arrive' op gives a token only in shared::cta}}
      %8 = ptx.mbarrier.arrive %2 {space = "shared::cluster"} : !ptx.reg<b32> -> !ptx.reg<b64>
  // expected-error@+1 {{'ptx.mbarrier.arrive' op has no semantics 'acquire'; there are release, relaxed}}
      ptx.mbarrier.arrive %2 {semantics = "acquire", scope = "cta", space = "shared::cta"} : !ptx.reg<b32>
  // expected-error@+1 {{'ptx.mbarrier.arrive' op needs a scope: cta, cluster}}
      ptx.mbarrier.arrive %2 {semantics = "release", space = "shared::cta"} : !ptx.reg<b32>
  // expected-error@+1 {{'ptx.mbarrier.arrive' op takes no scope, but got 'cta'}}
      ptx.mbarrier.arrive %2 {scope = "cta", space = "shared::cta"} : !ptx.reg<b32>
  // expected-error@+1 {{'ptx.mbarrier.arrive' op has no scope 'gpu'; there are cta, cluster}}
      ptx.mbarrier.arrive %2 {semantics = "release", scope = "gpu", space = "shared::cta"} : !ptx.reg<b32>
  // expected-error@+1 {{'ptx.mbarrier.arrive' op with no_complete needs a count and gives a token}}
      %9 = ptx.mbarrier.arrive %2 {space = "shared::cta", no_complete} : !ptx.reg<b32> -> !ptx.reg<b64>
  // expected-error@+1 {{'ptx.mbarrier.arrive' op needs an offset that is a multiple of 8, not 4}}
      ptx.mbarrier.arrive %2 {space = "shared::cta", offset = 4 : i64} : !ptx.reg<b32>
  // expected-error@+1 {{'ptx.mbarrier.arrive' op has no space 'global'; there are shared::cta, shared::cluster}}
      ptx.mbarrier.arrive %2 {space = "global"} : !ptx.reg<b32>
  // expected-error@+1 {{'ptx.mbarrier.arrive' op expects the guard in pred, but got b32}}
      ptx.mbarrier.arrive %2 guard(%2) {space = "shared::cta"} : !ptx.reg<b32>, !ptx.reg<b32>
  ptx.mbarrier.arrive %2 {semantics = "release", scope = "cluster", space = "shared::cta"} : !ptx.reg<b32>
  %10 = ptx.const {value = 1048576 : i64} -> !ptx.reg<b32>
  // expected-error@+1 {{'ptx.mbarrier.arrive_expect_tx' op takes 0 to 1048575 bytes, not 1048576}}
      ptx.mbarrier.arrive_expect_tx %2, %10 {space = "shared::cta"} : !ptx.reg<b32>, !ptx.reg<b32>
  // expected-error@+1 {{'ptx.mbarrier.arrive_expect_tx' op gives a token only in shared::cta}}
      %11 = ptx.mbarrier.arrive_expect_tx %2, %2 {space = "shared::cluster"} : !ptx.reg<b32>, !ptx.reg<b32> -> !ptx.reg<b64>
  %12 = ptx.const {value = 1024 : i64} -> !ptx.reg<b32>
  ptx.mbarrier.arrive_expect_tx %2, %12 {space = "shared::cta"} : !ptx.reg<b32>, !ptx.reg<b32>
  // expected-error@+1 {{'ptx.mbarrier.expect_tx' op expects the number of bytes in b32, but got b64}}
      ptx.mbarrier.expect_tx %2, %3 {semantics = "relaxed", scope = "cta", space = "shared::cta"} : !ptx.reg<b32>, !ptx.reg<b64>
  // expected-error@+1 {{'ptx.mbarrier.try_wait' op expects the phase in b32 or b64, but got pred}}
      %13 = ptx.mbarrier.try_wait %2, %4 {space = "shared::cta"} : !ptx.reg<b32>, !ptx.reg<pred> -> !ptx.reg<pred>
  // expected-error@+1 {{'ptx.mbarrier.wait' op has no semantics 'release'; there are acquire, relaxed}}
      ptx.mbarrier.wait %2, %2 {semantics = "release", scope = "cta", space = "shared::cta"} : !ptx.reg<b32>, !ptx.reg<b32>
  // expected-error@+1 {{'ptx.mbarrier.try_wait' op expects the time in b32, but got b64}}
      %14 = ptx.mbarrier.try_wait %2, %2 hint(%3) {space = "shared::cta"} : !ptx.reg<b32>, !ptx.reg<b32>, !ptx.reg<b64> -> !ptx.reg<pred>
  %15 = ptx.mbarrier.try_wait %2, %3 {space = "shared::cta"} : !ptx.reg<b32>, !ptx.reg<b64> -> !ptx.reg<pred>
  // expected-error@+1 {{'ptx.mbarrier.pending_count' op expects the state in b64, but got b32}}
      %16 = ptx.mbarrier.pending_count %2 : !ptx.reg<b32> -> !ptx.reg<b32>
  %17 = ptx.mbarrier.pending_count %3 : !ptx.reg<b64> -> !ptx.reg<b32>
  ptx.ret
}
