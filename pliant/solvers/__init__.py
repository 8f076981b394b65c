"""Solvers: each whole in its own folder, sharing laws, not a base class."""
