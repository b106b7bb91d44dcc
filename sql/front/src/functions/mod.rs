//! Functions beyond the front end's: some of Hive, and functions that another process serves (`--functions`,
//! docs/formats/sql-functions.md), as Python's.
//!
//! ```text
//!   channel.rs   connections to the process: requests out, answers in
//!   remote.rs    a function as planner and executors know it
//!   json_object.rs   get_json_object
//!   casts.rs     casts of numbers to whole numbers
//!   only_row.rs  values of subqueries, which have one row
//!   whole_groups.rs  aggregates that need all values of a group
//!   extremes.rs  min and max of floats
//!   floats.rs    decimals beside floats
//!   times.rs     parts of dates and of times
//!   settle.rs    the walk of casts.rs, floats.rs and times.rs over a plan
//! ```

pub mod casts;
mod channel;
mod extremes;
pub mod floats;
mod json_object;
pub mod only_row;
mod remote;
mod settle;
pub mod times;
mod whole_groups;

use std::io::Cursor;
use std::path::PathBuf;
use std::sync::Arc;

use datafusion::arrow::ipc::reader::StreamReader;
use datafusion::logical_expr::{ScalarUDF, ScalarUDFImpl};
use datafusion::prelude::SessionContext;
use yunti_base::{Code, Error, Result};

use self::channel::{Answer, Channel, Request};
use self::remote::Remote;

/// Functions that a process may serve, at most.
const FUNCTIONS_MAX: usize = 10_000;

/// A connection by its two files: requests go to the first, answers come from the second.
pub type Ends = (PathBuf, PathBuf);

/// Registers the functions that the process behind these connections serves.
///
/// Errors: `Input` for files that cannot be opened; `UserCode` for a process that breaks the protocol; `Usage` for a
/// name that is taken.
pub fn register(context: &SessionContext, ends: &[Ends]) -> Result<()> {
    context.register_udf(ScalarUDF::new_from_impl(json_object::JsonObject::new()));
    whole_groups::all().for_each(|aggregate| context.register_udaf(aggregate));
    extremes::all().into_iter().for_each(|of| context.register_udaf(of));
    if ends.is_empty() {
        return Ok(());
    }
    let channel = Arc::new(Channel::open(ends)?);
    let bytes = match channel.call(Request::Describe, &[])? {
        Answer::Result(bytes) => bytes,
        Answer::Failed(message, _) => return Err(Error::new(Code::UserCode, message)),
    };
    for (number, schema) in split(&bytes)?.into_iter().enumerate() {
        let reader = StreamReader::try_new(Cursor::new(schema), None).map_err(|e| channel::broken(e.to_string()))?;
        let remote = Remote::new(channel.clone(), number as u32, &reader.schema())?;
        let name = remote.name().to_string();
        let state = context.state();
        let is_taken = state.scalar_functions().contains_key(&name)
            || state.aggregate_functions().contains_key(&name)
            || state.window_functions().contains_key(&name)
            || state.table_functions().contains_key(&name);
        if is_taken {
            let error = Error::new(Code::Usage, format!("there is already a function '{name}'"));
            return Err(error.hint("give the own one another name"));
        }
        context.register_udf(ScalarUDF::new_from_impl(remote));
    }
    Ok(())
}

/// Returns the pieces of an answer: the length of each is before it, in 8 bytes.
fn split(mut bytes: &[u8]) -> Result<Vec<&[u8]>> {
    let mut pieces = Vec::new();
    while let Some((length, rest)) = bytes.split_first_chunk::<8>() {
        let length = usize::try_from(u64::from_le_bytes(*length)).unwrap_or(usize::MAX);
        if length > rest.len() || pieces.len() == FUNCTIONS_MAX {
            return Err(channel::broken("its list of functions is damaged".into()));
        }
        let (piece, rest) = rest.split_at(length);
        pieces.push(piece);
        bytes = rest;
    }
    match bytes.is_empty() {
        true => Ok(pieces),
        false => Err(channel::broken("its list of functions is cut".into())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn damaged_lists_are_errors() {
        let piece = |length: u64, bytes: &[u8]| [&length.to_le_bytes()[..], bytes].concat();
        assert_eq!(split(&[]).unwrap(), Vec::<&[u8]>::new());
        assert_eq!(split(&[piece(2, b"ab"), piece(0, b"")].concat()).unwrap(), [&b"ab"[..], b""]);
        for bytes in [&b"abc"[..], &piece(3, b"ab"), &piece(u64::MAX, b"ab"), &piece(1, b"ab")] {
            assert_eq!(split(bytes).unwrap_err().code(), Code::UserCode, "{bytes:?}");
        }
    }
}
