"""What a theory declares and claims: its language, its axioms, their truth; without a Keras model."""
