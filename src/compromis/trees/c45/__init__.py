"""Quinlan's C4.5, release 8, as Weka's J48 has it: arrays in, arrays out."""

from __future__ import annotations

from compromis.trees.c45.fit import Rules, fit_tree
from compromis.trees.c45.predict import shares
from compromis.trees.c45.table import Attribute, Examples, Table
from compromis.trees.c45.text import tree_text
from compromis.trees.c45.tree import Tree

__all__ = ["Attribute", "Examples", "Rules", "Table", "Tree", "fit_tree", "shares", "tree_text"]
