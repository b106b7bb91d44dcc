//! Columns in files of others, as classes of Yunti: `yunti` loads this library when a job reads or writes one of them.
//!
//! ```text
//!   class                   what it is                                 starts at
//!   Formats.ParquetSource   reads the columns that a job asks for      parquet/source.rs
//!   Formats.ParquetWriter   writes a part as a Parquet file            parquet/writer.rs
//! ```

mod block;
mod cells;
mod emit;
mod failure;
mod parquet;
mod record;
mod rows;
mod scan;

use parquet::source::ParquetSource;
use parquet::writer::ParquetWriter;

yunti_api::library! {
    c"Formats", c"0.1.0",
    yunti_api::source::<ParquetSource>(c"Formats.ParquetSource"),
    yunti_api::writer::<ParquetWriter>(c"Formats.ParquetWriter"),
}
