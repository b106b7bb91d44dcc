//! Kinds of messages between the engine and a worker, and the classes that a worker reports.

use super::wire::{Put, Take};
use crate::operator::{ClassInfo, Flags, FoldShape, Kind, KnownFold, Type};
use yunti_base::{Code, Error, Result};

/// Version of the protocol: the number of the first request, and of the reply to it.
pub const VERSION: u64 = 1;

/// Requests of the engine.
pub mod ask {
    /// Context of a job, for the instances that follow.
    pub const JOB: u32 = 1;
    /// Make an instance.
    pub const CREATE: u32 = 2;
    pub const MAP: u32 = 3;
    pub const FLUSH: u32 = 4;
    pub const REDUCE: u32 = 5;
    pub const PARTITION: u32 = 6;
    pub const ORDER_KEYS: u32 = 7;
    pub const FIND: u32 = 8;
    pub const READ: u32 = 9;
    pub const BEGIN: u32 = 10;
    pub const WRITE: u32 = 11;
    pub const END: u32 = 12;
    /// End the instance; its counters come back.
    pub const DESTROY: u32 = 13;
    /// The message of the worker was taken: go on.
    pub const CONTINUE: u32 = 14;
}

/// Replies of a worker. Bytes of `PART` come before each that has more bytes than a reply.
pub mod reply {
    /// A full block of emitted records, in the form of the request. The last block of a call comes with its `DONE`.
    pub const BLOCK: u32 = 101;
    /// Bytes of the next message.
    pub const PART: u32 = 102;
    /// One record; the number is the length of its key.
    pub const LARGE: u32 = 103;
    /// The call has ended.
    pub const DONE: u32 = 104;
    /// The call has failed.
    pub const FAILED: u32 = 105;
    /// Records for a named output.
    pub const OUTPUT: u32 = 106;
    /// A named output ends.
    pub const CLOSE: u32 = 107;
    /// Status of the task.
    pub const STATUS: u32 = 108;
    /// Emitted records as columns (`columns.rs`).
    pub const COLUMNS: u32 = 109;
    /// The words of the span are the records, in form ONE.
    pub const WORDS: u32 = 110;
}

/// A class of a worker.
#[derive(Clone, Debug)]
pub struct RemoteClass {
    pub info: ClassInfo,
    pub look_back: u32,
    pub extension: String,
    /// Shape of a folder's states.
    pub shape: Option<FoldShape>,
    /// True for a folder that the worker's mappers can fold by.
    pub folds_early: bool,
}

/// Returns the kind with this number.
pub fn kind_of(number: u32) -> Result<Kind> {
    Kind::from_abi(number).ok_or_else(unknown)
}

fn unknown() -> Error {
    Error::new(Code::UserCode, "a message of a worker process holds an unknown number")
}

impl RemoteClass {
    pub fn put(&self, put: Put) -> Put {
        let RemoteClass { info, look_back, extension, shape, folds_early } = self;
        let f = &info.flags;
        let flags = [f.pure, f.emits_refs, f.emits_one, f.wants_span, f.groups, f.finds, f.whole_part];
        let more = [info.is_fold, info.is_identity, info.selects, *folds_early];
        let bits = |flags: &[bool]| flags.iter().rev().fold(0, |bits, &flag| bits << 1 | u32::from(flag));
        let put = put.text(&info.name).u32(info.kind as u32).u32(bits(&flags)).u32(bits(&more));
        let put = put.u32(info.key_type as u32).u32(info.value_type as u32).u32(info.in_value_type as u32);
        let put = put.u32(*look_back).text(extension);
        match shape {
            None => put.u64(0),
            Some(shape) => {
                let known = shape.known.map_or(0, KnownFold::to_abi);
                put.u64(shape.state_bytes as u64).u32(known).u32(bits(&[shape.exact, shape.eight]))
            }
        }
    }

    /// Fails with `Code::UserCode` for bytes that no worker of this version writes.
    pub fn take(take: &mut Take<'_>) -> Result<RemoteClass> {
        let name = take.text()?;
        let kind = kind_of(take.u32()?)?;
        let (flags, more) = (take.u32()?, take.u32()?);
        let mut ty = || Type::from_abi(take.u32()?).ok_or_else(unknown);
        let (key_type, value_type, in_value_type) = (ty()?, ty()?, ty()?);
        let (look_back, extension) = (take.u32()?, take.text()?);
        let bit = |bits: u32, i: u32| bits >> i & 1 == 1;
        let shape = match take.u64()? as usize {
            0 => None,
            state_bytes => {
                let (known, bits) = (take.u32()?, take.u32()?);
                Some(FoldShape {
                    state_bytes,
                    known: KnownFold::from_abi(known),
                    exact: bit(bits, 0),
                    eight: bit(bits, 1),
                })
            }
        };
        let flags = Flags {
            pure: bit(flags, 0),
            emits_refs: bit(flags, 1),
            emits_one: bit(flags, 2),
            wants_span: bit(flags, 3),
            groups: bit(flags, 4),
            finds: bit(flags, 5),
            whole_part: bit(flags, 6),
            starts_process: false,
            ignores_values: false,
            takes_blocks: false,
            gives_blocks: false,
        };
        let (is_fold, is_identity, selects, folds_early) = (bit(more, 0), bit(more, 1), bit(more, 2), bit(more, 3));
        let info = ClassInfo { name, kind, flags, key_type, value_type, in_value_type, is_fold, is_identity, selects };
        Ok(RemoteClass { info, look_back, extension, shape, folds_early })
    }
}

/// Writes an error.
pub fn put_error(error: &Error, put: Put) -> Put {
    let put = put.u32(error.code() as u32).text(error.what());
    let put = put.text(error.path().unwrap_or("")).u64(error.offset().map_or(u64::MAX, |at| at));
    put.text(error.hint_text().unwrap_or("")).text(error.detail_text().unwrap_or(""))
}

/// Reads an error. An unknown code becomes `Code::UserCode`.
pub fn take_error(take: &mut Take<'_>) -> Result<Error> {
    let codes = [Code::Internal, Code::Usage, Code::Input, Code::Corrupt, Code::Output, Code::Memory, Code::Cancelled];
    let number = take.u32()?;
    let code = codes.into_iter().find(|code| *code as u32 == number).unwrap_or(Code::UserCode);
    let mut error = Error::new(code, take.text()?);
    let (path, offset, hint) = (take.text()?, take.u64()?, take.text()?);
    if !path.is_empty() {
        error = error.at_path(path);
    }
    if offset != u64::MAX {
        error = error.at_offset(offset);
    }
    if !hint.is_empty() {
        error = error.hint(hint);
    }
    // A worker may leave the detail out.
    let detail = if take.0.is_empty() { String::new() } else { take.text()? };
    Ok(if detail.is_empty() { error } else { error.detail(detail) })
}
