"""The pictures that are drawn, by experiment: those of the paper's section 4, and a few more."""

PICTURES = {
    "binary": {"binary_curves", "binary_graph", "binary_query", "binary_query_negation"},
    "iris": {"iris_curves", "iris_graph"},
    "crabs": {"crabs_curves"},
    "addition": {"addition_single", "addition_single_graph", "addition_two", "addition_two_graph"},
    "regression": {"regression_curves", "regression_prices"},
    "clustering": {"clustering_curves", "clustering_panels"},
    "smokers": {"smokers_curves", "smokers_facts", "smokers_inferred", "smokers_embeddings"},
    "reasoning": {"reasoning_curves", "reasoning_brave", "reasoning_refutation", "reasoning_penalty"},
}
