"""XPBD: extended position-based dynamics, and plain PBD as its baseline."""
