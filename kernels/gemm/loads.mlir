%la = nv_tileas.async.tiled_tma_load %of_a, %sa[%m, %k] barrier %barrier {atom = #load_a, tx_count = ${BYTES_A} : i32} : !desc, !a, index, index, !barrier -> !token
%lb = nv_tileas.async.tiled_tma_load %of_b, %sb[${AT_B}] barrier %barrier {atom = #load_b, tx_count = ${BYTES_B} : i32} : !desc, ${B}, index, index, !barrier -> !token
