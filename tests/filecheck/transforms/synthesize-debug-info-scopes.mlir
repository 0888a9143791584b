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

// CHECK:      make_token : token loc(fused<#cuda_tile.di_subprogram<file = #cuda_tile.di_file<"file.py" in "dir">, line = 10, name = "k", linkageName = "k", compileUnit = #cuda_tile.di_compile_unit<file = #cuda_tile.di_file<"module.py" in "">>, scopeLine = 10>>["dir/file.py":12:4])
// CHECK:      return loc(fused<{{.*}}>["dir/file.py":10:4])
// CHECK-NEXT: } loc(fused<{{.*}}>["dir/file.py":10:4])

// A function that has a scope stays as it is.

// CHECK:      return loc(unknown)
// CHECK-NEXT: } loc(fused<{{.*}}line = 9{{.*}}>["other.py":9:1])
