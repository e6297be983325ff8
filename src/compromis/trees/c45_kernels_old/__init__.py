"""Compiled loops of trees: growing, voting, C4.5."""
