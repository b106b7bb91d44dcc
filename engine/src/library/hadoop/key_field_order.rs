//! Yunti.KeyFieldOrder: keys in the order of Hadoop's KeyFieldBasedComparator, by options such as `-k2,2nr -k1,1`.
//!
//! Keys that agree in all fields are one group. A missing field comes before all others, after them if it is
//! descending. A number begins at the first character of its field, and a field without a number counts as 0.
//! Limitation: Hadoop also orders numbers of equal value by how they are written, such as `07` and `7`.

use super::key_fields::KeyFields;
use crate::bytes::ordered_bytes::OrderedBytes;
use crate::operator::{Batch, KeyOrderer, Out, TaskContext};
use yunti_base::Result;

const OPTIONS: &str = "mapreduce.partition.keycomparator.options";

/// Key order by fields. Setting: `mapreduce.partition.keycomparator.options`.
pub struct KeyFieldOrder {
    fields: KeyFields,
    form: Vec<u8>,
}

impl KeyFieldOrder {
    /// Reads the settings. Errors: `Usage`.
    pub fn new(context: &TaskContext) -> Result<KeyFieldOrder> {
        Ok(KeyFieldOrder { fields: KeyFields::of(context, OPTIONS)?, form: Vec::new() })
    }
}

impl KeyOrderer for KeyFieldOrder {
    fn order_keys(&mut self, batch: &Batch<'_>, out: &mut Out, _: &mut [u32]) -> Result<()> {
        for i in 0..batch.len() {
            let (key, _) = batch.record(i);
            let KeyFieldOrder { fields, form } = self;
            form.clear();
            if fields.fields.is_empty() {
                form.extend_from_slice(key);
            }
            fields.each(key, |field, stretch| {
                form.push(u8::from(stretch.is_some() != field.descending));
                let Some(text) = stretch else { return };
                let mut form = OrderedBytes(form);
                match (field.numeric, text.first()) {
                    (false, _) => form.text(text, field.descending),
                    (true, Some(b' ' | b'\t')) => form.decimal(b"", field.descending),
                    (true, _) => form.decimal(text, field.descending),
                }
            });
            out.emit(form, &[])?;
        }
        Ok(())
    }
}
