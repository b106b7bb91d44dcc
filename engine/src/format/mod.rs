//! Floor 4: record formats: lines of text, key/value lines, records of fixed length or in frames, CSV, JSON lines, or
//! as a class emits them; and the table of formats whose files a library reads.

pub mod columns;
pub mod csv;
pub mod emit_buffer;
pub mod file_formats;
pub mod fixed;
pub mod framed;
pub mod hive_path;
pub mod json;
pub mod key_value;
pub mod text;

pub use text::LineEnd;
