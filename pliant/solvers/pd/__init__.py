"""Projective dynamics."""
