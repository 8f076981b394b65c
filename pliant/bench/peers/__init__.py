"""Adapters of other simulators, one file each: how to set them the workloads in their own terms.

Each imports its library when a scene is built, never before. What is not equal to Pliant stands in the
entry's text, and with reasons in docs/bench.md.
"""
