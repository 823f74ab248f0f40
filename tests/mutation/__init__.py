"""Mutation testing: small changes of the library, which tests have to notice.

A change is a *mutant*. It is *killed* if a test fails, and *survives* if all tests pass that run the changed
line. Each mutant is tried in a fork of a process that has imported TensorFlow, in a copy of the work tree,
with the tests of the quickest file first, until one fails. `make coverage` stored which tests run a line.
"""
