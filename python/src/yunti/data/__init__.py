"""Records as user code sees them: types, columns of slices and numbers, batches, and Arrow."""
