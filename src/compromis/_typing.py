"""Types that every room shares: aliases of arrays and labels, and a mapping that nobody can change."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]
Flags = NDArray[np.bool_]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Label = Hashable

K = TypeVar("K")
V = TypeVar("V")


class ReadOnly(Mapping[K, V]):
    """A mapping that nobody can change; unlike `types.MappingProxyType` it can be pickled, so that results reach other processes."""

    __slots__ = ("_items",)

    def __init__(self, items: Mapping[K, V]) -> None:
        self._items = dict(items)

    def __getitem__(self, key: K) -> V:
        return self._items[key]

    def __iter__(self) -> Iterator[K]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __repr__(self) -> str:
        return repr(self._items)
