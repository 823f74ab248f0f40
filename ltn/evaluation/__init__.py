"""From syntax trees to tensors: the groundings of formulas and terms."""
