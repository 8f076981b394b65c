"""Meshes, shapes, topology, colouring and measures: NumPy only."""
