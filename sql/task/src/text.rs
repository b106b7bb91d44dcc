//! A file of text, as the engine lends it, as blocks of columns.

use std::path::Path;
use std::sync::Arc;

use yunti_api::SourceFile;
use yunti_base::{Code, Error, Result};
use yunti_engine::codec::CodecKind;
use yunti_engine::env::Env;
use yunti_engine::memory::Budget;
use yunti_sql_arrow::text::{self, Format, MORSEL_BYTES};
use yunti_sql_execute::spill::block;
use yunti_sql_plan::wire::Input;
use yunti_sql_plan::{Morsel, MorselReader, Table};

use crate::one_file::OneFile;
use crate::stage;

/// A file of text with the columns that a fragment reads.
pub struct TextSource {
    table: Table,
    columns: Vec<usize>,
    reader: Option<Box<dyn MorselReader>>,
    block: Vec<u8>,
}

impl TextSource {
    /// Opens a file. Errors: `Corrupt` for a fragment whose columns the file has not.
    pub fn open(
        file: &SourceFile,
        input: &Input,
        (format, codec): (Format, Option<CodecKind>),
        budget: &Arc<Budget>,
    ) -> Result<TextSource> {
        let damaged = || Error::new(Code::Corrupt, "a fragment reads columns that its files lack");
        let place = |name: &str| input.file_fields.iter().position(|of| of.name == name).ok_or_else(damaged);
        let columns = input.fields.iter().map(|of| place(&of.name)).collect::<Result<Vec<_>>>()?;
        let env = Env { files: Arc::new(OneFile(file.clone())), ..Env::real() };
        let name = String::from_utf8_lossy(file.name()).into_owned();
        let own = stage::text_file(&*env.files, Path::new(&name).into(), codec)?;
        let table = text::table(&name, vec![own], format, &text::schema_of(&input.file_fields), (&env, budget));
        Ok(TextSource { table, columns, reader: None, block: Vec::new() })
    }

    /// Returns the units of the file: number, place and bytes of each.
    pub fn units(&self) -> Result<Vec<(u64, u64, u64)>> {
        let morsels = self.table.source.morsels(&self.columns, &[])?;
        Ok(morsels.into_iter().map(|of| (of.unit, of.unit * MORSEL_BYTES, of.bytes)).collect())
    }

    /// Begins a unit.
    pub fn begin(&mut self, unit: u64) -> Result<()> {
        let morsel = Morsel { file: 0, unit, rows: 0, bytes: 0 };
        self.reader = Some(self.table.source.open(&morsel, &self.columns, &[])?);
        Ok(())
    }

    /// Returns the next block of the unit; None at its end.
    pub fn next(&mut self) -> Result<Option<&[u8]>> {
        let Some(reader) = &mut self.reader else { return Ok(None) };
        match reader.next()? {
            Some(batch) => {
                self.block.clear();
                block::put(&batch, &mut self.block)?;
                Ok(Some(&self.block))
            }
            None => {
                self.reader = None;
                Ok(None)
            }
        }
    }
}
