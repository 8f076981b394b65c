"""Contact: found once per step, handed to solvers as data."""
