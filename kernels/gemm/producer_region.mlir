%pn, %in = scf.for %k = %zero to %tiles step %one iter_args(%p = %${TOKEN}, %i = %${ITERATOR}) -> (!prod, !iter) {
  %p1, %loading = nv_tileas.async.pipeline.produce_one_async %p, %i {producer_types = [!a, ${B}]} : (!prod, !iter) -> (!prod, !token) {
  ^bb0(%sa: !a, %sb: ${B}):
    $LOADS
    nv_tileas.async.pipeline.yield %sa, %sb : !a, ${B}
  }
  %p2 = nv_tileas.async.pipeline.producer_commit %p1 : !prod -> !prod
  %i1 = nv_tileas.async.pipeline.inc_iter %i : !iter -> !iter
  scf.yield %p2, %i1 : !prod, !iter
}
