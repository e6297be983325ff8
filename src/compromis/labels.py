"""Labels of classes: reading them, and turning them into codes."""

from __future__ import annotations

from typing import Any

import numpy as np

from compromis._typing import Label


def plain_label(label: Any) -> Label:
    """Return the label as a plain Python value: numpy's scalars and text of a class of its own are unwrapped."""
    if isinstance(label, np.generic):
        return label.item()
    return str.__str__(label) if isinstance(label, str) else label
