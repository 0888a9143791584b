%cn, %jn, %acc = scf.for %k = %zero to %tiles step %one iter_args(%t = %${TOKEN}, %j = %${ITERATOR}, %before = %nothing) -> (!cons, !iter, !acc) {
  %t1, %after = nv_tileas.async.pipeline.consume_one %t, %j {consumer_idx = ${INDEX} : i32, consumer_types = [!a, ${B}]} : (!cons, !iter) -> (!cons, !acc) {
  ^bb0(%sa: !a, %sb: ${B}):
    $TRANSPOSED_B
    %mine = nv_tileas.extract_slice %sa[${FIRST_ROW}, 0][${ROWS}, ${BK}][1, 1] : !a -> !half
    %dot = nv_tileas.async.dot %mine, %${OF_B}, %before {atom = #mma} : !half, !b, !acc -> !sum
    %done = nv_tileas.async.wait %dot : !sum -> !acc
    nv_tileas.async.pipeline.yield %done : !acc
  }
  %j1 = nv_tileas.async.pipeline.inc_iter %j : !iter -> !iter
  scf.yield %t1, %j1, %after : !cons, !iter, !acc
}
