"""Programs in answers: found, compiled by the real front end, their tests run in a sandbox and judged outside it."""
