%cn, %jn, %acc = scf.for %k = %zero to %tiles step %one iter_args(%t = %${TOKEN}, %j = %${ITERATOR}, %before = %nothing) -> (!cons, !iter, !acc) {
  %t1 = nv_tileas.async.pipeline.consumer_wait %t, %j {consumer_idx = ${INDEX} : i32} : !cons, !iter -> !cons
  %t2, %dot = nv_tileas.async.pipeline.consumer_read %t1, %j {consumer_idx = ${INDEX} : i32} : !cons, !iter -> !cons, !sum {
  ^bb0(%sa: !a, %sb: ${B}):
    $TRANSPOSED_B
    %mine = nv_tileas.extract_slice %sa[${FIRST_ROW}, 0][${ROWS}, ${BK}][1, 1] : !a -> !half
    %started = nv_tileas.async.dot %mine, %${OF_B}, %before {atom = #mma} : !half, !b, !acc -> !sum
    nv_tileas.async.pipeline.yield %started : !sum
  }
  %after = nv_tileas.async.wait %dot : !sum -> !acc
  %t3 = nv_tileas.async.pipeline.consumer_release %t2 : !cons -> !cons
  %j1 = nv_tileas.async.pipeline.inc_iter %j : !iter -> !iter
  scf.yield %t3, %j1, %after : !cons, !iter, !acc
}
