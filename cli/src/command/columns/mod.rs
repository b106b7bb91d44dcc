//! Files of columns: the library that reads and writes them, and `yunti convert`.

pub mod convert;
pub use yunti_outside::library;
