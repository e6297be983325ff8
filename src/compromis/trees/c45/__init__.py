"""Quinlan's C4.5, release 8, as Weka's J48 has it: arrays in, arrays out."""

from __future__ import annotations

from compromis.trees.c45.prune import Rules, fit_tree
from compromis.trees.c45.tree import Examples, Table, Tree, shares, tree_text
from compromis.trees.columns import Column

__all__ = ["Column", "Examples", "Rules", "Table", "Tree", "fit_tree", "shares", "tree_text"]
