"""MGPBD: every constraint at once, by global solves that do not stall."""
