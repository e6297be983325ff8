"""Weights of votes: one problem, one result, and the methods that lead from one to the other."""

from compromis.weights.annealing import Annealing
from compromis.weights.budget import Budget
from compromis.weights.exact import Exact
from compromis.weights.result import WeightSearch
from compromis.weights.search import search_weights
from compromis.weights.sweep import Sweep
from compromis.weights.sweep_curve import WeightSweep, weight_sweep

__all__ = ["Annealing", "Budget", "Exact", "Sweep", "WeightSearch", "WeightSweep", "search_weights", "weight_sweep"]
