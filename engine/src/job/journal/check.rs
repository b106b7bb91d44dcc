//! Checks of what a journal names: the blocks of its runs, the bytes of its part files.

use std::collections::BTreeMap;
use std::path::Path;

use super::frame::RunRecord;
use super::kept::Kept;
use crate::env::{Env, Files};
use crate::run::{Block, ScratchSpace};

/// Drops the runs whose scratch files are gone or too short. If data may be missing, it reads each block too.
pub fn runs(kept: &mut Kept, env: &Env) {
    let len = |path: &std::path::PathBuf| env.files.meta(path).map_or(0, |meta| meta.len);
    let lens: Vec<u64> = kept.scratch_files.iter().map(len).collect();
    let is_there = |record: &RunRecord| {
        record.blocks.iter().all(|b| lens.get(b.file as usize).is_some_and(|len| b.offset + u64::from(b.len) <= *len))
    };
    kept.drop_lost(|record| !is_there(record));
    if kept.is_doubtful {
        let scratch = ScratchSpace::of_files(env.files.clone(), env.clock.clone(), &kept.scratch_files, 0);
        kept.drop_lost(|record| !is_whole(record, &scratch));
    }
}

fn is_whole(record: &RunRecord, scratch: &ScratchSpace) -> bool {
    let (mut block, mut spare) = (Block::default(), Vec::new());
    record.entries().is_some_and(|entries| {
        entries.iter().all(|entry| {
            let len = entry.extent.len as usize;
            scratch.read(entry.extent, block.buffer(len)).is_ok()
                && block.open(len, &mut spare).is_ok_and(|found| found == (entry.partition, entry.raw_len))
        })
    })
}

/// Drops the progress of parts whose files in `directory` are gone or too short; all of it if data may be missing.
pub fn parts(kept: &mut Kept, files: &dyn Files, directory: &Path, name: &dyn Fn(usize) -> String) {
    let mut lens = BTreeMap::new();
    let mut is_there = |number: u32, bytes: u64| {
        let len = lens
            .entry(number)
            .or_insert_with(|| files.meta(&directory.join(name(number as usize))).map(|meta| meta.len).ok());
        len.is_some_and(|len| bytes <= len)
    };
    let before = kept.splits_len();
    let sound = !kept.is_doubtful;
    kept.reduced.retain(|number, reduced| sound && is_there(*number, reduced.bytes));
    kept.parts.retain(|number, part| sound && is_there(*number, part.bytes));
    kept.mapped_again += before - kept.splits_len();
}
