//! The foot of a file: checked before anything else is read.
//!
//! ```text
//!   PAR1 | column chunks .. | metadata | length of the metadata: u32 | PAR1      PARE: encrypted
//! ```

use std::sync::Arc;

use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
use parquet::file::metadata::{FileMetaData, ParquetMetaDataBuilder};
use yunti_api::{Error, Result, SourceFile};

use super::failure::{guarded, of_parquet};
use super::input::Input;

/// Bytes of the tail: the length of the metadata, and the magic number.
const TAIL_BYTES: u64 = 8;
/// Memory of parsed metadata, in its stored bytes.
const PARSED_FACTOR: u64 = 8;

/// Returns the metadata of a file, and the memory that it takes, which the file holds.
pub fn load(file: &SourceFile, options: ArrowReaderOptions) -> Result<(ArrowReaderMetadata, u64)> {
    let magic = "this is not a Parquet file: it does not begin and end with PAR1";
    if file.len() < 4 + TAIL_BYTES {
        return Err(Error::damaged(magic));
    }
    let (mut head, mut tail) = ([0; 4], [0; TAIL_BYTES as usize]);
    file.read_at(&mut head, 0)?;
    file.read_at(&mut tail, file.len() - TAIL_BYTES)?;
    let (length, end) = (u32::from_le_bytes([tail[0], tail[1], tail[2], tail[3]]), &tail[4..]);
    match (&head, end) {
        (b"PAR1", b"PAR1") => {}
        (b"PARE", b"PARE") => return Err(Error::unsupported("the Parquet file is encrypted: decrypt it first")),
        _ => return Err(Error::damaged(magic)),
    }
    if u64::from(length) + TAIL_BYTES + 4 > file.len() {
        return Err(Error::damaged(format!("the Parquet file is damaged: its metadata would have {length} bytes")));
    }
    let memory = u64::from(length) * PARSED_FACTOR;
    file.hold(memory)?;
    let metadata = guarded(|| ArrowReaderMetadata::load(&Input(file.clone()), options).map_err(of_parquet))?;
    check(&metadata, file)?;
    Ok((with_rows_counted(metadata)?, memory))
}

/// Returns the options of all reads. Types come from Parquet's schema, not from Arrow's beside it, so that equal
/// columns of different writers arrive equal.
pub fn options() -> ArrowReaderOptions {
    ArrowReaderOptions::new().with_skip_arrow_metadata(true)
}

/// Returns metadata whose number of rows is the sum over the row groups: some writers leave it 0, and the decoder
/// limits its batches by it.
fn with_rows_counted(foot: ArrowReaderMetadata) -> Result<ArrowReaderMetadata> {
    let metadata = foot.metadata();
    let file = metadata.file_metadata();
    let rows = metadata.row_groups().iter().fold(0i64, |sum, group| sum.saturating_add(group.num_rows()));
    if rows == file.num_rows() {
        return Ok(foot);
    }
    let counted = FileMetaData::new(
        file.version(),
        rows,
        file.created_by().map(str::to_string),
        file.key_value_metadata().cloned(),
        file.schema_descr_ptr(),
        file.column_orders().cloned(),
    );
    let counted = ParquetMetaDataBuilder::new(counted).set_row_groups(metadata.row_groups().to_vec()).build();
    ArrowReaderMetadata::try_new(Arc::new(counted), options()).map_err(of_parquet)
}

/// Checks that counts are possible and column chunks lie within the file.
fn check(metadata: &ArrowReaderMetadata, file: &SourceFile) -> Result<()> {
    for (number, group) in metadata.metadata().row_groups().iter().enumerate() {
        let wrong = |what: &str| Err(Error::damaged(format!("the Parquet file is damaged: row group {number} {what}")));
        if group.num_rows() < 0 {
            return wrong("has a negative number of rows");
        }
        for column in group.columns() {
            if column.file_path().is_some() {
                return Err(Error::unsupported("columns in other files are not supported"));
            }
            let start = column.dictionary_page_offset().unwrap_or(column.data_page_offset());
            let start = start.min(column.data_page_offset());
            let end = start.checked_add(column.compressed_size());
            if start < 0 || column.compressed_size() < 0 || end.is_none_or(|end| end as u64 > file.len()) {
                return wrong("lies outside of the file");
            }
        }
    }
    Ok(())
}
