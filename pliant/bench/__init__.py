"""Benchmarks: a module per workload, each of which prints its figures and can keep them as a record.

``pliant bench batch``   many worlds of one hanging cloth: world-steps per second and memory
"""
