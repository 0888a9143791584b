%pn, %in = scf.for %k = %zero to %tiles step %one iter_args(%p = %${TOKEN}, %i = %${ITERATOR}) -> (!prod, !iter) {
  %p1 = nv_tileas.async.pipeline.producer_acquire %p, %i : !prod, !iter -> !prod
  %p2 = nv_tileas.async.pipeline.producer_write %p1, %i : !prod, !iter -> !prod {
  ^bb0(%sa: !a, %sb: ${B}):
    $LOADS
    nv_tileas.async.pipeline.yield %sa, %sb : !a, ${B}
  }
  %p3 = nv_tileas.async.pipeline.producer_commit %p2 : !prod -> !prod
  %i1 = nv_tileas.async.pipeline.inc_iter %i : !iter -> !iter
  scf.yield %p3, %i1 : !prod, !iter
}
