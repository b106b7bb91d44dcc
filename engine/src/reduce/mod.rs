//! Floor 7: from sorted records to groups, through reducers and folders, to the output.

pub mod fold_reduce;
