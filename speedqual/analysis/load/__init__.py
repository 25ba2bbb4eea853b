"""What follows from a load test: steady levels, the knee, saturation, prefixes, cold starts, quality and errors.

A load test is a run whose records say at which level of which layer they stand. Every conclusion about the server
leaves out the levels at which the client was the limit.
"""
