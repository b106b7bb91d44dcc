//! A look at an input: how a job would read it, and its first records, or all of them, counted.

use crate::env::Env;
use crate::library;
use crate::memory::Budget;
use crate::read::reader::READ_BYTES;
use crate::read::{ReadSetup, SplitReader};
use yunti_base::Cancel;
use yunti_base::Result;

use super::plan::Plan;
use super::spec::{InputFormat, JobSpec, Mode};

/// Memory for buffers and a decoder.
const MEMORY_BYTES: u64 = 512 << 20;
/// Into so many parts a file is tried to be divided.
const PARTS: u64 = 3;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inspection {
    /// As stored.
    pub bytes: u64,
    pub codec: Option<&'static str>,
    /// Whether several workers could read it at a time.
    pub divisible: bool,
    pub records: Vec<InspectedRecord>,
    /// What there is in all, where it was read to its end.
    pub counted: Option<RecordCount>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InspectedRecord {
    /// Empty where a record has none.
    pub key: Vec<u8>,
    pub value: Vec<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordCount {
    pub records: u64,
    /// Decompressed.
    pub bytes: u64,
}

/// The first `n` records of `path`. `to_end` reads all of it, which is how damage is found wherever it is.
///
/// Errors: `Input` for what cannot be read, `Corrupt` for what is damaged as far as it was read.
pub fn inspect(
    path: &str,
    format: &InputFormat,
    n: usize,
    to_end: bool,
    env: &Env,
    cancel: &Cancel,
) -> Result<Inspection> {
    let plan = |split_bytes: u64| {
        let spec = JobSpec {
            inputs: vec![path.into()],
            input_format: format.clone(),
            mode: Mode::None,
            split_bytes,
            ..JobSpec::default()
        };
        Plan::make(&spec, env, &[library::builtin_classes()])
    };
    let whole = plan(u64::MAX / 2)?;
    let bytes = whole.input_bytes;
    let divisible = bytes >= PARTS && plan(bytes / PARTS)?.splits.len() > 1;
    let codec = whole.files.first().and_then(|f| f.codec).map(|c| c.name());
    let mut found = Inspection { bytes, codec, divisible, ..Inspection::default() };
    let setup = ReadSetup {
        files: env.files.clone(),
        budget: Budget::new(MEMORY_BYTES),
        inputs: whole.files.clone(),
        format: whole.sources[0].format.clone(),
        spans: false,
        read_bytes: READ_BYTES,
        read_ahead: None,
        reader: None,
    };
    let mut reader = SplitReader::new(setup)?;
    let mut counted = RecordCount { records: 0, bytes: 0 };
    for split in &whole.splits {
        reader.begin(split);
        while to_end || found.records.len() < n {
            cancel.check()?;
            let Some(batch) = reader.next_batch()? else { break };
            for i in 0..batch.len().min(n - found.records.len()) {
                let (key, value) = batch.record(i);
                found.records.push(InspectedRecord { key: key.to_vec(), value: value.to_vec() });
            }
            counted.records += batch.len() as u64;
            counted.bytes += batch.data().len() as u64;
        }
    }
    found.counted = to_end.then_some(counted);
    Ok(found)
}
