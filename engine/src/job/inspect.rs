//! Inspection of an input: how a job would read it, its first records, and on request a count of all.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use crate::env::Env;
use crate::format::emit_buffer::EmitBuffer;
use crate::library;
use crate::memory::Budget;
use crate::operator::context::{JobContext, Settings};
use crate::operator::{Class, Form, SourceFile, TaskContext};
use crate::read::reader::READ_BYTES;
use crate::read::{ReadSetup, SplitReader};
use yunti_base::{Cancel, Code, Error, Result};

use super::plan::Plan;
use super::spec::{InputFormat, JobSpec, Mode};

/// Bytes of memory for buffers and a decoder.
const MEMORY_BYTES: u64 = 512 << 20;
/// Bytes of a description, at first.
const DESCRIPTION_BYTES: u64 = 64 << 10;
/// Parts into which `inspect` tries to cut a file.
const PARTS: u64 = 3;

/// Properties of an input, and its first records.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inspection {
    /// Stored bytes.
    pub bytes: u64,
    pub codec: Option<&'static str>,
    /// True if several workers could read the file at once.
    pub divisible: bool,
    pub records: Vec<InspectedRecord>,
    /// Count of the whole file, if it was read to its end.
    pub counted: Option<RecordCount>,
}

/// One record of the input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InspectedRecord {
    /// Empty for a record without a key.
    pub key: Vec<u8>,
    pub value: Vec<u8>,
}

/// Records and bytes of a whole input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordCount {
    pub records: u64,
    /// Decompressed bytes.
    pub bytes: u64,
}

/// Returns what a source class says about a file: a JSON document.
///
/// Errors: `Corrupt` and `Input` of the file; those of the class.
pub fn describe(path: &Path, class: &Arc<dyn Class>, env: &Env) -> Result<String> {
    let budget = Budget::new(MEMORY_BYTES);
    let file = Arc::new(SourceFile::open(&*env.files, path, 0, &budget)?);
    if file.is_empty() {
        let error = Error::new(Code::Input, "the file is empty, so it has no columns").at_path(path.to_string_lossy());
        return Err(error.hint("name a file with columns"));
    }
    let job = JobContext::new(Settings::new(), BTreeMap::new(), vec![path.to_string_lossy().into_owned()]);
    let mut source = class.source(&TaskContext::new(job, false, 0, 1))?;
    let grant = budget.grant(DESCRIPTION_BYTES, "a description")?;
    let mut made = EmitBuffer::emitter(Form::Bytes, grant, "a description")?;
    made.run(&[], |out| source.describe(&file, out))?;
    made.hand_over()?;
    Ok(String::from_utf8_lossy(made.sink().bytes()).into_owned())
}

/// Reads the first `n` records of `path`. With `to_end` the whole file is read and counted, which finds damage anywhere
/// in it.
///
/// Errors: `Input` for a file that cannot be read, `Corrupt` for damage in the part that was read.
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
