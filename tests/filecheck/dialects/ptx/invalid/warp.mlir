// What barriers, fences and the instructions of a warp refuse.

// RUN: tileas-opt %s --verify-diagnostics

ptx.shared @smem {size = 0 : i64, align = 1024 : i64, extern}
ptx.entry @k(%0: !ptx.param<u64>, %1: !ptx.param<b8, 128, align 64>) attributes {maxntid = array<i32: 128, 1, 1>} {
  %2 = ptx.undef -> !ptx.reg<b32>
  %3 = ptx.undef -> !ptx.reg<b64>
  %4 = ptx.undef -> !ptx.reg<pred>
  %5 = ptx.const {value = -1 : i64} -> !ptx.reg<b32>
  %6 = ptx.const {value = 16 : i64} -> !ptx.reg<b32>
  // expected-error@+1 {{'ptx.bar.sync' op takes 0 to 15 as barrier, not 16}}
      ptx.bar.sync %6 : !ptx.reg<b32>
  %7 = ptx.const {value = 1 : i64} -> !ptx.reg<b32>
  %8 = ptx.const {value = 33 : i64} -> !ptx.reg<b32>
  // expected-error@+1 {{'ptx.bar.sync' op counts whole warps of 32 threads, not 33}}
      ptx.bar.sync %7 threads(%8) : !ptx.reg<b32>, !ptx.reg<b32>
  %9 = ptx.const {value = 1 : i64} -> !ptx.reg<b32>
  %10 = ptx.const {value = 2048 : i64} -> !ptx.reg<b32>
  // expected-error@+1 {{'ptx.bar.sync' op takes 32 to 1024 threads, not 2048}}
      ptx.bar.sync %9 threads(%10) : !ptx.reg<b32>, !ptx.reg<b32>
  // expected-error@+1 {{'ptx.bar.sync' op expects the barrier in b32, but got pred}}
      ptx.bar.sync %4 : !ptx.reg<pred>
  %11 = ptx.const {value = 15 : i64} -> !ptx.reg<b32>
  %12 = ptx.const {value = 64 : i64} -> !ptx.reg<b32>
  ptx.bar.sync %11 threads(%12) : !ptx.reg<b32>, !ptx.reg<b32>
  %13 = ptx.const {value = 0 : i64} -> !ptx.reg<b32>
  // expected-error@+1 {{'ptx.bar.red' op has no operation 'xor'; there are and, or, popc}}
      %14 = ptx.bar.red %13, %4 {operation = "xor"} : !ptx.reg<b32>, !ptx.reg<pred> -> !ptx.reg<pred>
  %15 = ptx.const {value = 0 : i64} -> !ptx.reg<b32>
  // expected-error@+1 {{'ptx.bar.red' op expects the value in pred, but got b32}}
      %16 = ptx.bar.red %15, %2 {operation = "and"} : !ptx.reg<b32>, !ptx.reg<b32> -> !ptx.reg<pred>
  // expected-error@+1 {{'ptx.bar.warp.sync' op expects the mask in b32, but got b64}}
      ptx.bar.warp.sync %3 : !ptx.reg<b64>
  // expected-error@+1 {{'ptx.cluster.arrive' op has no semantics 'acquire'; there are release, relaxed}}
      ptx.cluster.arrive {semantics = "acquire", aligned}
  // expected-error@+1 {{'ptx.cluster.wait' op has no semantics 'relaxed'; there are acquire}}
      ptx.cluster.wait {semantics = "relaxed", aligned}
  ptx.cluster.wait {semantics = "acquire", aligned}
  // expected-error@+1 {{'ptx.fence' op has no semantics 'acquire'; there are acq_rel, sc}}
      ptx.fence {semantics = "acquire", scope = "gpu"}
  // expected-error@+1 {{'ptx.fence' op has no scope 'block'; there are cta, cluster, gpu, sys}}
      ptx.fence {semantics = "sc", scope = "block"}
  // expected-error@+1 {{'ptx.fence.proxy' op has no space 'local'; there are global, shared::cta, shared::cluster}}
      ptx.fence.proxy {proxy = "async", space = "local"}
  // expected-error@+1 {{'ptx.fence.proxy' op has no proxy 'tensormap'; there are async, alias}}
      ptx.fence.proxy {proxy = "tensormap", space = "shared::cta"}
  ptx.fence.proxy {proxy = "async", space = "global"}
  // expected-error@+1 {{'ptx.fence.proxy.tensormap' op names the address of the map to acquire, and only then}}
      ptx.fence.proxy.tensormap {semantics = "acquire", scope = "gpu"}
  // expected-error@+1 {{'ptx.fence.proxy.tensormap' op names the address of the map to acquire, and only then}}
      ptx.fence.proxy.tensormap address(%3) {semantics = "release", scope = "gpu"} : !ptx.reg<b64>
  ptx.fence.proxy.tensormap {semantics = "release", scope = "gpu"}
  // expected-error@+1 {{'ptx.mapa' op expects the address in b32 or b64, but got pred}}
      %17 = ptx.mapa %4, %2 {space = "shared::cluster"} : !ptx.reg<pred>, !ptx.reg<b32> -> !ptx.reg<pred>
  // expected-error@+1 {{'ptx.mapa' op expects the address in b64, but got b32}}
      %18 = ptx.mapa %2, %2 : !ptx.reg<b32>, !ptx.reg<b32> -> !ptx.reg<b32>
  %19 = ptx.mapa %3, %2 : !ptx.reg<b64>, !ptx.reg<b32> -> !ptx.reg<b64>
  // expected-error@+1 {{'ptx.getctarank' op expects the address in b32 or b64, but got pred}}
      %20 = ptx.getctarank %4 {space = "shared::cluster"} : !ptx.reg<pred> -> !ptx.reg<b32>
  // expected-error@+1 {{'ptx.elect_sync' op expects the mask in b32, but got b64}}
      %21, %22 = ptx.elect_sync %3 : !ptx.reg<b64> -> !ptx.reg<b32>, !ptx.reg<pred>
  // expected-error@+1 {{'ptx.shfl' op expects its operand in b32 or f32, but got b64}}
      %23 = ptx.shfl %3, %2, %2, %5 {mode = "idx"} : !ptx.reg<b64>, !ptx.reg<b32>, !ptx.reg<b32>, !ptx.reg<b32> -> !ptx.reg<b64>
  // expected-error@+1 {{'ptx.shfl' op has no mode 'xor'; there are idx, up, down, bfly}}
      %24 = ptx.shfl %2, %2, %2, %5 {mode = "xor"} : !ptx.reg<b32>, !ptx.reg<b32>, !ptx.reg<b32>, !ptx.reg<b32> -> !ptx.reg<b32>
  %25 = ptx.shfl %2, %2, %2, %5 {mode = "bfly"} : !ptx.reg<b32>, !ptx.reg<b32>, !ptx.reg<b32>, !ptx.reg<b32> -> !ptx.reg<b32>
  // expected-error@+1 {{'ptx.vote' op expects its operand in pred, but got b32}}
      %26 = ptx.vote %2, %5 {mode = "all"} : !ptx.reg<b32>, !ptx.reg<b32> -> !ptx.reg<pred>
  // expected-error@+1 {{'ptx.vote' op has no mode 'none'; there are all, any, uni, ballot}}
      %27 = ptx.vote %4, %5 {mode = "none"} : !ptx.reg<pred>, !ptx.reg<b32> -> !ptx.reg<pred>
  // expected-error@+1 {{'ptx.match' op expects its operand in b32 or b64, but got pred}}
      %28 = ptx.match %4, %5 {mode = "any"} : !ptx.reg<pred>, !ptx.reg<b32> -> !ptx.reg<b32>
  // expected-error@+1 {{'ptx.match' op gives a predicate in mode all, and only there}}
      %29 = ptx.match %2, %5 {mode = "all"} : !ptx.reg<b32>, !ptx.reg<b32> -> !ptx.reg<b32>
  // expected-error@+1 {{'ptx.redux' op has no type 'b32' for add; there are u32, s32}}
      %30 = ptx.redux %2, %5 {operation = "add", type = "b32"} : !ptx.reg<b32>, !ptx.reg<b32> -> !ptx.reg<b32>
  // expected-error@+1 {{'ptx.redux' op has no operation 'mul'; there are add, min, max, and, or, xor}}
      %31 = ptx.redux %2, %5 {operation = "mul", type = "u32"} : !ptx.reg<b32>, !ptx.reg<b32> -> !ptx.reg<b32>
  %32 = ptx.redux %2, %5 {operation = "add", type = "u32"} : !ptx.reg<b32>, !ptx.reg<b32> -> !ptx.reg<b32>
  // expected-error@+1 {{'ptx.setmaxnreg' op sets a multiple of 8 from 24 to 256, not 100}}
      ptx.setmaxnreg {count = 100 : i64, direction = "dec"}
  // expected-error@+1 {{'ptx.setmaxnreg' op sets a multiple of 8 from 24 to 256, not 16}}
      ptx.setmaxnreg {count = 16 : i64, direction = "dec"}
  // expected-error@+1 {{'ptx.setmaxnreg' op has no direction 'set'; there are inc, dec}}
      ptx.setmaxnreg {count = 40 : i64, direction = "set"}
  ptx.setmaxnreg {count = 40 : i64, direction = "dec"}
  // expected-error@+1 {{'ptx.nanosleep' op expects the time in b32, but got b64}}
      ptx.nanosleep %3 : !ptx.reg<b64>
  // expected-error@+1 {{'ptx.griddepcontrol' op has no action 'launch'; there are wait, launch_dependents}}
      ptx.griddepcontrol {action = "launch"}
  ptx.griddepcontrol {action = "wait"}
  ptx.ret
}
