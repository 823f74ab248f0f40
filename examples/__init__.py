"""The paper's experiments, one module each; `python -m examples` runs them."""
