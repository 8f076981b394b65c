"""Newton: the incremental potential minimised to rounding, the reference for every other solver."""
