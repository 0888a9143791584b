// The blocks of a cluster (${CLUSTER_SIZE}) compute tiles next to one another.
%seats = arith.constant ${CLUSTER_SIZE} : index
%block = "gpu.block_id"() <{dimension = #gpu<dim x>}> : () -> index
%blocks = "gpu.grid_dim"() <{dimension = #gpu<dim x>}> : () -> index
%start = arith.divui %block, %seats : index
%seat = arith.remui %block, %seats : index
%clusters = arith.divui %blocks, %seats : index
%height = memref.dim %c, %zero : !mc
%width = memref.dim %c, %one : !mc
%together = arith.constant ${CLUSTER_COLUMNS} : index
%below_one_another = arith.constant ${CLUSTER_ROWS} : index
%tile_rows = arith.ceildivui %height, %below_one_another : index
%tile_columns = arith.ceildivui %width, %together : index
%places = arith.muli %tile_rows, %tile_columns : index
%deepest = arith.constant ${GROUP} : index
%band = arith.muli %deepest, %tile_columns : index
