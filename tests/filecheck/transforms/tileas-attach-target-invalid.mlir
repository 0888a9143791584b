// Names of targets that contradict one another.

// RUN: tileas-opt %s --split-input-file --verify-diagnostics -p 'tileas-attach-target{target=sm_100a}'
// RUN: tileas-opt %s --split-input-file --verify-diagnostics -p 'convert-tileas-to-cute-nvgpu{target=sm_100a}'
// RUN: tileas-opt %s --split-input-file --verify-diagnostics -p 'convert-cute-nvgpu-to-ptx{arch=sm_100a}'
// RUN: tileas-opt %s --split-input-file --verify-diagnostics -p 'convert-cudatile-to-tileaa{compute_capability=sm_100a}'

// expected-error@+1 {{an option asks for sm_100a, but the module is for sm_90a}}
builtin.module attributes {nv_tileas.target = "sm_90a"} {
}

// -----

builtin.module attributes {nv_tileas.target = "sm_100a"} {
  // expected-error@+1 {{is for sm_90a, but its module is for sm_100a}}
  func.func @other() attributes {cute.target = "sm_90a"} {
    func.return
  }
}

// -----

builtin.module attributes {nv_tileas.target = "sm_100a"} {
  // expected-error@+1 {{is for sm_90a, but its module is for sm_100a}}
  func.func @other() attributes {nv_tileaa.compute_capability = 90 : i32} {
    func.return
  }
}
