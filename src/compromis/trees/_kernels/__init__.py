"""The modules of _kernels."""
