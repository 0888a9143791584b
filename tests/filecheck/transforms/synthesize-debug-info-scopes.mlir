// `synthesize-debug-info-scopes` gives locations the scope of their function.

// RUN: tileas-opt %s -p synthesize-debug-info-scopes --print-debuginfo | filecheck %s

#file = #cuda_tile.di_file<"other.py" in "">
#unit = #cuda_tile.di_compile_unit<file = #file>
#known = #cuda_tile.di_subprogram<file = #file, line = 9, name = "known", linkageName = "known", compileUnit = #unit>

cuda_tile.module @m {
  entry @k() {
    %0 = make_token : token loc(callsite(unknown at "dir/file.py":12:4))
    return loc(unknown)
  } loc(fused["dir/file.py":10:4, unknown])
  entry @known() {
    return loc(unknown)
  } loc(fused<#known>["other.py":9:1])
} loc("module.py":1:1)

// A name, a call and a fused location have a place; without one, that of the function counts.

// CHECK:      make_token : token loc(#[[TOKEN:.*]])
// CHECK-NEXT: return loc(#[[K:.*]])
// CHECK-NEXT: } loc(#[[K]])

// A function that has a scope stays as it is.

// CHECK:      return loc(#[[NONE:.*]])
// CHECK-NEXT: } loc(#[[KNOWN:.*]])

// CHECK:      #[[FILE:.*]] = #cuda_tile.di_file<"file.py" in "dir">
// CHECK-NEXT: #[[OF_MODULE:.*]] = #cuda_tile.di_file<"module.py" in "">
// CHECK:      #[[TENTH:.*]] = loc("dir/file.py":10:4)
// CHECK-NEXT: #[[TWELFTH:.*]] = loc("dir/file.py":12:4)
// CHECK:      #[[NONE]] = loc(unknown)
// CHECK-NEXT: #[[UNIT:.*]] = #cuda_tile.di_compile_unit<file = #[[OF_MODULE]]>
// CHECK:      #[[SCOPE:.*]] = #cuda_tile.di_subprogram<file = #[[FILE]], line = 10, name = "k", linkageName = "k", compileUnit = #[[UNIT]], scopeLine = 10>
// CHECK-NEXT: #[[OLD:.*]] = #cuda_tile.di_subprogram<{{.*}}line = 9, name = "known"
// CHECK-NEXT: #[[K]] = #cuda_tile.di_loc<#[[TENTH]] in #[[SCOPE]]>
// CHECK-NEXT: #[[TOKEN]] = #cuda_tile.di_loc<#[[TWELFTH]] in #[[SCOPE]]>
// CHECK-NEXT: #[[KNOWN]] = #cuda_tile.di_loc<{{.*}} in #[[OLD]]>
