"""The lab: experiments that weigh solvers, and the conformance suite they are held to."""
