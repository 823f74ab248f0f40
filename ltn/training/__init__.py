"""How a Keras model learns to satisfy a knowledge base: what it is fed, its steps, what they log."""
