$STAGING
%j0 = nv_tileas.async.pipeline.create_iterator %c0 : !cons -> !iter
$TILE
$EPILOGUE
