//! Yunti.KeyFieldPartitioner: the partition by a hash of some fields of the key, the hash of Hadoop's
//! KeyFieldBasedPartitioner.

use super::key_fields::KeyFields;
use crate::library::settings;
use crate::operator::{Batch, Partitioner, TaskContext};
use yunti_base::Result;

const OPTIONS: &str = "mapreduce.partition.keypartitioner.options";
const FIRST_FIELDS: &str = "num.key.fields.for.partition";

/// Partitioner by fields of the key. Settings: `mapreduce.partition.keypartitioner.options`, or
/// `num.key.fields.for.partition`.
pub struct KeyFieldPartitioner(KeyFields);

impl KeyFieldPartitioner {
    /// Reads the settings. Errors: `Usage`.
    pub fn new(context: &TaskContext) -> Result<KeyFieldPartitioner> {
        let fields = match context.setting(FIRST_FIELDS) {
            Some(_) => KeyFields::first(context, settings::value(context, FIRST_FIELDS, 0)?)?,
            None => KeyFields::of(context, OPTIONS)?,
        };
        Ok(KeyFieldPartitioner(fields))
    }

    fn hash(&mut self, key: &[u8]) -> i32 {
        // Hadoop hashes the key as a String, where bytes that are no UTF-8 are replaced.
        let text = String::from_utf8_lossy(key);
        let next = |hash: i32, unit: i32| hash.wrapping_mul(31).wrapping_add(unit);
        if self.0.fields.is_empty() {
            return text.encode_utf16().fold(0, |hash, unit| next(hash, i32::from(unit)));
        }
        let mut hash = 0;
        self.0.each(text.as_bytes(), |_, stretch| {
            hash = stretch.unwrap_or_default().iter().fold(hash, |hash, &byte| next(hash, i32::from(byte as i8)));
        });
        hash
    }
}

impl Partitioner for KeyFieldPartitioner {
    fn partition(&mut self, batch: &Batch<'_>, parts: u32, part: &mut [u32]) -> Result<()> {
        for (i, part) in part.iter_mut().enumerate() {
            let hash = self.hash(batch.record(i).0);
            *part = (hash & i32::MAX) as u32 % parts;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operator::context::JobContext;

    #[test]
    fn hashes_are_hadoops() {
        let hash = |settings: &[(&str, &str)], key: &str| {
            let settings = settings.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect();
            let context = TaskContext::new(JobContext::new(settings, Default::default(), Vec::new()), false, 0, 4);
            KeyFieldPartitioner::new(&context).unwrap().hash(key.as_bytes())
        };
        // "ab".hashCode() and "é".hashCode() in Java.
        assert_eq!((hash(&[], "ab"), hash(&[], "é")), (97 * 31 + 98, 233));
        assert_eq!(hash(&[(OPTIONS, "-k1,1")], "ab\tx"), 97 * 31 + 98);
        assert_eq!(hash(&[(OPTIONS, "-k2,2 -k1,1")], "a\tb"), 98 * 31 + 97);
        assert_eq!(hash(&[(FIRST_FIELDS, "2")], "a\tb\tc"), (97 * 31 + 9) * 31 + 98);
        assert_eq!(hash(&[(OPTIONS, "-k1,1")], "é"), -61 * 31 - 87);
    }
}
