    cute_nvgpu.arch.fence_proxy_async "shared::cta"
    cute_nvgpu.arch.barrier id 1 threads $STORERS
    %first = arith.constant 4 : i32
    %stores = arith.cmpi eq, %warp, %first : i32
    scf.if %stores {
      %chosen = cute_nvgpu.arch.elect_one
      scf.if %chosen {
        cute.copy(%store_c, %from_c, %to_c) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}>
        cute_nvgpu.arch.bulk_commit_group
        cute_nvgpu.arch.bulk_wait_group 0 read
      }
    }
