"""Bytes on their way: sockets that date them, connections that keep them, one request from send to reply."""
