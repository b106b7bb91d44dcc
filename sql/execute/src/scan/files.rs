//! Tables of files that the library of formats reads.
