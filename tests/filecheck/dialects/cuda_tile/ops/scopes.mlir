// Scopes of locations.

// RUN: tileas-opt --print-debuginfo %s | filecheck %s
// RUN: tileas-opt --print-debuginfo %s | tileas-opt --print-debuginfo | filecheck %s

#file = #cuda_tile.di_file<"kernel.py" in "/home/user">
#unit = #cuda_tile.di_compile_unit<file = #file>
#k = #cuda_tile.di_subprogram<file = #file, line = 1, name = "k", linkageName = "k", compileUnit = #unit>
#block = #cuda_tile.di_lexical_block<scope = #k, file = #file, line = 3, column = 4>
cuda_tile.module @m {
  entry @k() {
    %0 = make_token : token loc(fused<#block>["kernel.py":3:4])
    %1 = make_token : token loc(fused<#k>["kernel.py":5:6])
    return
  } loc(fused<#k>["kernel.py":1:1])
}

// A module of its own: bytecode has no fused locations without a scope.

cuda_tile.module @n {
  entry @l() {
    %0 = make_token : token loc(fused["kernel.py":5:6, unknown])
    return
  }
}

// CHECK:      %0 = make_token : token loc(#[[IN_BLOCK:.*]])
// CHECK-NEXT: %1 = make_token : token loc(#[[IN_KERNEL:.*]])
// CHECK:      } loc(#[[KERNEL:.*]])
// CHECK:      make_token : token loc(#[[FUSED:.*]])

// Aliases stand behind the module, those of what others contain first.

// CHECK-DAG: #[[FIRST:.*]] = loc("kernel.py":1:1)
// CHECK-DAG: #[[THIRD:.*]] = loc("kernel.py":3:4)
// CHECK-DAG: #[[FIFTH:.*]] = loc("kernel.py":5:6)
// CHECK-DAG: #[[NONE:.*]] = loc(unknown)
// CHECK-DAG: #[[FUSED]] = loc(fused[#[[FIFTH]], #[[NONE]]])
// CHECK-DAG: #[[K:di_subprogram.*]] = #cuda_tile.di_subprogram<file = #di_file, line = 1,
// CHECK-DAG: #[[BLOCK:.*]] = #cuda_tile.di_lexical_block<scope = #[[K]], file = #di_file, line = 3, column = 4>
// CHECK-DAG: #[[KERNEL]] = #cuda_tile.di_loc<#[[FIRST]] in #[[K]]>
// CHECK-DAG: #[[IN_KERNEL]] = #cuda_tile.di_loc<#[[FIFTH]] in #[[K]]>
// CHECK-DAG: #[[IN_BLOCK]] = #cuda_tile.di_loc<#[[THIRD]] in #[[BLOCK]]>
