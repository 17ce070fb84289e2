"""GPUs of this machine, asked without the environment of a simulator."""

from __future__ import annotations

import ctypes


def count_gpus() -> int:
    """GPUs that the driver of CUDA offers; 0 where there is no driver."""
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return 0
    count = ctypes.c_int(0)
    if driver.cuInit(0) != 0 or driver.cuDeviceGetCount(ctypes.byref(count)) != 0:
        return 0
    return count.value
