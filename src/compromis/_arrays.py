"""Arrays of other libraries as arrays of numpy, frames of whatever library is installed, and division without warnings."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from compromis._typing import Floats
from compromis.errors import DeviceWarning, InputError, MissingExtra

_warned = False


def ratio(above: ArrayLike, below: ArrayLike) -> Floats:
    """Divide, with NaN where the denominator is 0; the two are broadcast."""
    above, below = np.broadcast_arrays(np.asarray(above, dtype=np.float64), np.asarray(below, dtype=np.float64))
    quotient: Floats = np.divide(above, below, out=np.full(below.shape, np.nan), where=below != 0)
    return quotient


def on_host(values: Any) -> Any:
    """Return tensors of torch, cupy, jax and tensorflow as arrays of numpy; anything else as it is.

    Those on a graphics card are copied, with one warning per process.
    """
    package = type(values).__module__.partition(".")[0]
    if package == "torch" and hasattr(values, "detach"):
        return _from_torch(values)
    if package == "cupy" and hasattr(values, "get"):
        _warn("cupy")
        return values.get()
    if package in {"jax", "jaxlib", "tensorflow", "mlx"} and hasattr(values, "__array__"):
        return np.asarray(values)
    return values


def _from_torch(tensor: Any) -> Any:
    tensor = tensor.detach()
    if tensor.device.type != "cpu":
        _warn(f"torch ({tensor.device})")
        tensor = tensor.cpu()
    if tensor.dtype.is_floating_point and tensor.dtype.itemsize < 4:
        tensor = tensor.float()  # numpy has no bfloat16; float32 holds every half exactly
    return tensor.numpy()


def _warn(where: str) -> None:
    global _warned
    if not _warned:
        _warned = True
        warnings.warn(
            f"an array of {where} is copied to the host's memory, where compromis computes; for many calls move it once yourself",
            DeviceWarning,
            stacklevel=4,
        )


BACKENDS = ("pandas", "polars", "pyarrow")


def make_frame(columns: Mapping[str, Sequence[Any]], backend: str | None = None) -> Any:
    """Return the columns as a frame of `backend`; without it pandas if it is installed, else polars, else pyarrow."""
    import narwhals as nw

    if backend is not None and backend not in BACKENDS:
        raise InputError(f"there is no backend {backend!r}; choose one of {', '.join(BACKENDS)}")
    chosen = backend or next((name for name in BACKENDS if find_spec(name)), None)
    if chosen is None:
        raise MissingExtra(
            "a data frame needs pandas, polars or pyarrow; install one, for example with: pip install pandas"
        )
    return nw.from_dict(dict(columns), backend=chosen).to_native()  # type: ignore[arg-type]
