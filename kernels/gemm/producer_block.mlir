%i0 = nv_tileas.async.pipeline.create_iterator %p0 : !prod -> !iter
$TILE
