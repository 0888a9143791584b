// The frame of a module: version, target, shared memory, parameters, directives, locations.

// RUN: tileas-opt %s -t 'ptx{arch=sm_90a loc=true}' | filecheck %s
// RUN: tileas-opt %s -t 'ptx{arch=sm_100a}' | filecheck %s --check-prefix NEWER

// CHECK:      .version 8.0
// CHECK-NEXT: .target sm_90a
// CHECK-NEXT: .address_size 64
// NEWER:      .version 8.6
// NEWER-NEXT: .target sm_100a

// CHECK:      .extern .shared .align 1024 .b8 dynamic[];
// CHECK-NEXT: .shared .align 8 .b8 barriers[64];
ptx.shared @dynamic {size = 0, align = 1024, extern}
ptx.shared @barriers {size = 64, align = 8}

// CHECK:      .visible .entry kernel(
// CHECK-NEXT:     .param .align 64 .b8 map[128],
// CHECK-NEXT:     .param .u64 out)
// CHECK-NEXT: .maxntid 384, 1, 1
// CHECK-NEXT: .minnctapersm 1
// CHECK-NEXT: .explicitcluster
// CHECK-NEXT: .reqnctapercluster 2, 1, 1
// CHECK-NEXT: {
// CHECK-NEXT:     .reg .b32 %r<1>;
// CHECK-NEXT:     .loc 1 [[# @LINE + 4]] 3
// CHECK-NEXT:     setmaxnreg.dec.sync.aligned.u32 40;
// NEWER-NOT:  .loc
ptx.entry @kernel(%map: !ptx.param<b8, 128, align 64>, %out: !ptx.param<u64>) attributes {parameter_names = ["map", "out"], maxntid = array<i32: 384, 1, 1>, minnctapersm = 1, explicitcluster, reqnctapercluster = array<i32: 2, 1, 1>} {
  ptx.setmaxnreg {count = 40, direction = "dec"}
  %x = ptx.sreg {register = "cluster_ctarank"} -> !ptx.reg<b32>
  ptx.exit
}
// CHECK: .file 1 "{{.*}}module.mlir"
