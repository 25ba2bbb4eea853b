"""The command line: parse, call the library, exit with a code that means something."""
