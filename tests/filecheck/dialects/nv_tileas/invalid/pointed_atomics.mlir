// What atomic updates through pointers refuse.

// RUN: tileas-opt %s --split-input-file --verify-diagnostics

%p, %q, %h, %i, %x, %f, %s = "test.op"() : () -> (!nv_tileaa.ptr<i32, 1>, !nv_tileaa.ptr<f32, 1>, !nv_tileaa.ptr<f16, 1>, i32, i64, f32, f16)
// expected-error@+1 {{'nv_tileas.atomic_rmw' op updates what pointers point to, not i32}}
%0 = nv_tileas.atomic_rmw add %i, %i : i32, i32 -> i32
// expected-error@+1 {{'nv_tileas.atomic_rmw' op gives i32, not i64}}
%1 = nv_tileas.atomic_rmw add %i, %p : i32, !nv_tileaa.ptr<i32, 1> -> i64
// expected-error@+1 {{'nv_tileas.atomic_rmw' op updates i32, i64 by 'and', not f32}}
%2 = nv_tileas.atomic_rmw and %f, %q : f32, !nv_tileaa.ptr<f32, 1> -> f32
// expected-error@+1 {{'nv_tileas.atomic_rmw' op has no rmw_mode 'cmpxchg': use atomic_cas}}
%3 = nv_tileas.atomic_rmw cmpxchg %i, %p : i32, !nv_tileaa.ptr<i32, 1> -> i32
// expected-error@+1 {{'nv_tileas.atomic_rmw' op has no rmw_mode 'addf': use rmw_mode 'add'}}
%4 = nv_tileas.atomic_rmw addf %f, %q : f32, !nv_tileaa.ptr<f32, 1> -> f32
// expected-error@+1 {{'nv_tileas.atomic_cas' op compares i16, i32, i64, f32, f64, not f16}}
%5 = nv_tileas.atomic_cas %s, %s, %h : f16, !nv_tileaa.ptr<f16, 1> -> f16
// expected-error@+1 {{'nv_tileas.atomic_rmw' op memScope required when memSemantic is not weak}}
%6 = nv_tileas.atomic_rmw add %i, %p relaxed : i32, !nv_tileaa.ptr<i32, 1> -> i32
%7 = nv_tileas.atomic_rmw add %i, %p relaxed gpu : i32, !nv_tileaa.ptr<i32, 1> -> i32
