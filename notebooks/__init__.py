"""Notebooks: tutorials, and the paper's experiments. They are stored with their outputs."""
