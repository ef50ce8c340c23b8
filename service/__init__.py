"""The operations and their faces over the network."""
