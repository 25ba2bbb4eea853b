"""Recordings of real replies: files, their player over a real socket, and what was seen in one."""
