//! Columns in files of others, as classes of Yunti: `yunti` loads this library when a job reads or writes one of them.
//!
//! ```text
//!   class                   what it is                                 starts at
//!   Formats.ParquetSource   reads the columns that a job asks for      parquet/source.rs
//!   Formats.ParquetWriter   writes a part as a Parquet file            parquet/writer.rs
//!   Formats.ArrowSource     reads the columns that a job asks for      arrow/source.rs
//!   Formats.ArrowWriter     writes a part as an Arrow file             arrow/writer.rs
//!   Formats.ArrowStreamWriter  the same as a stream                    arrow/writer.rs
//!   Formats.OrcSource       reads the columns that a job asks for      orc/source.rs
//!   Formats.OrcWriter       writes a part as an ORC file               orc/writer.rs
//!   Formats.AvroSource      reads the columns that a job asks for      avro/source.rs
//!   Formats.AvroWriter      writes a part as an Avro file              avro/writer.rs
//!   Formats.SequenceSource  reads keys and values                      sequence/source.rs
//!   Formats.SequenceWriter  writes a part as a SequenceFile            sequence/writer.rs
//! ```

mod arrow;
mod avro;
mod block;
mod bounds;
mod cells;
mod emit;
mod failure;
mod file;
mod orc;
mod parquet;
mod rows;
mod scan;
mod sequence;

use arrow::source::ArrowSource;
use arrow::writer::{ArrowStreamWriter, ArrowWriter};
use avro::source::AvroSource;
use avro::writer::AvroWriter;
use orc::source::OrcSource;
use orc::writer::OrcWriter;
use parquet::source::ParquetSource;
use parquet::writer::ParquetWriter;
use sequence::source::SequenceSource;
use sequence::writer::SequenceWriter;

/// Checks of any bytes as files, for the targets of `fuzz/`: values or an error, within the memory that is held.
#[cfg(fuzzing)]
pub mod checks {
    pub use crate::avro::check::check as avro;
    pub use crate::orc::check::check as orc;
    pub use crate::parquet::check_snappy as parquet_snappy;
    pub use crate::sequence::check::check as sequence;
}

yunti_api::library! {
    c"Formats", c"0.1.0",
    yunti_api::source::<ParquetSource>(c"Formats.ParquetSource"),
    yunti_api::writer::<ParquetWriter>(c"Formats.ParquetWriter"),
    yunti_api::source::<ArrowSource>(c"Formats.ArrowSource"),
    yunti_api::writer::<ArrowWriter>(c"Formats.ArrowWriter"),
    yunti_api::writer::<ArrowStreamWriter>(c"Formats.ArrowStreamWriter"),
    yunti_api::source::<OrcSource>(c"Formats.OrcSource"),
    yunti_api::writer::<OrcWriter>(c"Formats.OrcWriter"),
    yunti_api::source::<AvroSource>(c"Formats.AvroSource"),
    yunti_api::writer::<AvroWriter>(c"Formats.AvroWriter"),
    yunti_api::source::<SequenceSource>(c"Formats.SequenceSource"),
    yunti_api::writer::<SequenceWriter>(c"Formats.SequenceWriter"),
}
