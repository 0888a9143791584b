// Hints that the compiler cannot follow, where they are errors; without a flag nothing is said.

// RUN: tileas-opt %s -Wunsupported-hints -Werr-hints --verify-diagnostics
// RUN: tileas-opt %s

cuda_tile.module @m {
  // expected-warning@+2 {{unknown hint key sm_70}}
  // expected-error@+1 {{Optimization hints verification failed}}
  entry @a() optimization_hints=<sm_70 = {occupancy = 2}> {
  }
}
