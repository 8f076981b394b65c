"""Diagnostics: read only. Solvers fill their StepInfo from here."""
