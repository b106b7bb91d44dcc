//! Dictionaries of the wanted columns, by their numbers: read once a file, or as a stream replaces them.

use std::collections::HashMap;

use arrow_array::{Array, ArrayRef};
use arrow_ipc::MetadataVersion;
use arrow_schema::SchemaRef;
use yunti_api::{Result, SourceFile};

use super::body::{of_arrow, read_whole};
use super::messages::{Message, Place, at, damaged, of_text};
use crate::failure::guarded;

/// Dictionaries that were read.
pub struct Dictionaries {
    schema: SchemaRef,
    version: MetadataVersion,
    values: HashMap<i64, ArrayRef>,
}

/// Place of a dictionary that is wanted.
pub struct Entry {
    id: i64,
    is_delta: bool,
    place: Place,
}

impl Dictionaries {
    /// Begins without a dictionary. `schema`: of the wanted columns.
    pub fn new(schema: &SchemaRef, version: MetadataVersion) -> Dictionaries {
        Dictionaries { schema: schema.clone(), version, values: HashMap::new() }
    }

    /// Returns the dictionaries by their numbers.
    pub fn values(&self) -> &HashMap<i64, ArrayRef> {
        &self.values
    }

    /// Returns the memory of all.
    pub fn memory(&self) -> u64 {
        self.values.values().map(|values| values.get_array_memory_size() as u64).sum()
    }

    /// Returns the entry of a message, if a wanted column has its number.
    pub fn entry(&self, message: &Message) -> Result<Option<Entry>> {
        let parsed = message.parsed()?;
        let Some(batch) = parsed.header_as_dictionary_batch() else { return Err(damaged("a dictionary is none")) };
        #[expect(deprecated, reason = "the crate has no other way to the numbers of dictionaries")]
        let is_wanted = !self.schema.fields_with_dict_id(batch.id()).is_empty();
        Ok(is_wanted.then(|| Entry { id: batch.id(), is_delta: batch.isDelta(), place: message.place }))
    }

    /// Reads dictionaries in their order, without the ones that a later one replaces. `held`: other memory.
    pub fn read_all(&mut self, file: &SourceFile, entries: &[Entry], held: u64) -> Result<()> {
        for (number, entry) in entries.iter().enumerate() {
            let replaces = |later: &Entry| later.id == entry.id && !later.is_delta;
            if !entries[number + 1..].iter().any(replaces) {
                self.read(file, entry, held)?;
            }
        }
        Ok(())
    }

    /// Reads a dictionary.
    pub fn read(&mut self, file: &SourceFile, entry: &Entry, held: u64) -> Result<()> {
        let message = at(file, entry.place)?;
        let parsed = message.parsed()?;
        let batch = parsed.header_as_dictionary_batch().ok_or_else(|| damaged("a dictionary is none"))?;
        let data = batch.data().ok_or_else(|| damaged("a dictionary has no data"))?;
        let buffers: Vec<arrow_ipc::Buffer> = data.buffers().iter().flatten().copied().collect();
        let held = held + self.memory();
        let body = read_whole(file, message.place, &buffers, data.compression().is_some(), held)?;
        guarded(of_text, || {
            let (schema, version) = (&self.schema, &self.version);
            arrow_ipc::reader::read_dictionary(&body, batch, schema, &mut self.values, version)
                .map_err(|e| of_arrow(&e))
        })?;
        file.hold(held + self.memory())
    }
}
