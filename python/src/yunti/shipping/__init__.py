"""The way of functions to the workers: pickled into a file here, and with all that they need to a cluster."""
