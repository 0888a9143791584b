"""Types of `cute_nvgpu`: descriptors of shared memory and of tensor maps."""

from __future__ import annotations

from xdsl.ir import ParametrizedAttribute, TypeAttribute
from xdsl.irdl import irdl_attr_definition


@irdl_attr_definition
class SmemDescType(ParametrizedAttribute, TypeAttribute):
    """A matrix descriptor of shared memory, 64 bits (PTX ISA 9.7.15.5.1)."""

    name = "cute_nvgpu.smem_desc"


@irdl_attr_definition
class TmaDescriptorTiledType(ParametrizedAttribute, TypeAttribute):
    """A tiled tensor map of 128 bytes, an argument of the kernel (CUtensorMap)."""

    name = "cute_nvgpu.tma_descriptor_tiled"


smem_desc = SmemDescType()
tma_descriptor = TmaDescriptorTiledType()
