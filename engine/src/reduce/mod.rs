//! Floor 7: reducers and folders over groups of sorted records.

pub mod fold_reduce;
