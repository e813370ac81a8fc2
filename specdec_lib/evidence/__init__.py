"""Evidence: measured tables of the package, and the model held against them."""
