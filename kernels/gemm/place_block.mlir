%n = "gpu.block_id"() <{dimension = #gpu<dim x>}> : () -> index
%m = "gpu.block_id"() <{dimension = #gpu<dim y>}> : () -> index
