"""Forces that come from outside and act on faces: wind and pressure."""
