"""Figures of load tests: latency, throughput, goodput and quality by load, prefixes, cold starts, errors, time."""
