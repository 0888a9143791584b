"""CUDA C++ to PTX by NVRTC, which needs no GPU; PTX text is taken as it is."""

from __future__ import annotations

from collections.abc import Sequence

from tileas_xdsl.check.capture.launch_capture import needed


class CudaSourceError(ValueError):
    """CUDA C++ that does not compile; the text is the compiler's."""


def ptx_of(source: str, target: str, options: Sequence[str], capture: str) -> str:
    """Return the PTX of CUDA C++, or the text if it is PTX already."""
    if ".version" in source and ".target" in source:
        return source
    nvrtc = needed("cuda.bindings.nvrtc", capture, "cuda-bindings nvidia-cuda-nvrtc")
    kept = [option for option in options if "arch" not in option]
    words = [f"--gpu-architecture={target.replace('sm_', 'compute_')}", "-lineinfo", *kept]
    _, program = nvrtc.nvrtcCreateProgram(source.encode(), b"kernel.cu", 0, [], [])
    (status,) = nvrtc.nvrtcCompileProgram(program, len(words), [w.encode() for w in words])
    if status != nvrtc.nvrtcResult.NVRTC_SUCCESS:
        log = b" " * nvrtc.nvrtcGetProgramLogSize(program)[1]
        nvrtc.nvrtcGetProgramLog(program, log)
        raise CudaSourceError(log.decode(errors="replace").strip("\0 \n"))
    text = bytearray(b" ") * nvrtc.nvrtcGetPTXSize(program)[1]
    nvrtc.nvrtcGetPTX(program, text)
    return text.decode().rstrip("\0")


def kernel_named(name: str, kernels: Sequence[str]) -> str:
    """Return the kernel of a name in the source: names of C++ are mangled in PTX."""
    mangled = [kernel for kernel in kernels if f"{len(name)}{name}" in kernel]
    return name if name in kernels or len(mangled) != 1 else mangled[0]
