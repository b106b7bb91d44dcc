//! ext4 with and without its journal.

use yunti_engine::base::Result;

use super::comparison::Better::More;
use super::comparison::{Metric, compare};
use super::{Bench, MIB, Measured, Published, Subject, files, seconds};
use crate::scratch::image::Image;

pub const SUBJECT: Subject = Subject {
    name: "no-journal",
    what: "ext4 without a journal",
    needs_root: true,
    tools: &["mkfs.ext4", "losetup", "mount", "umount"],
    published: &[Published {
        figure: "iozone, O_DIRECT: first writes 15.4 -> 15.7 MB/s, rewrites 15.6 -> 15.9, reads 16.9 -> 17.2, random writes 5.3 -> 5.4",
        source: "Linux, commit 0390131ba84f (Frank Mayhar, January 2009, in 2.6.29)",
    }],
    measure,
};

const METRICS: [Metric; 4] = [
    Metric::timed("files made with fsync", "/s", More),
    Metric::timed("files made", "/s", More),
    Metric::timed("files removed", "/s", More),
    Metric::timed("one large file, with fsync", "MB/s", More),
];

fn measure(bench: &Bench) -> Result<Measured> {
    let (synced, made, large) = bench.pick((1000, 10_000, 256 * MIB), (50, 300, 4 * MIB));
    let bytes = bench.pick(2048 * MIB, 256 * MIB);
    let with = Image::make(bench.scratch.file("with"), bytes, &[])?;
    let without = Image::make(bench.scratch.file("without"), bytes, &["-O", "^has_journal"])?;
    let (at_with, at_without) = (bench.scratch.file("at-with"), bench.scratch.file("at-without"));
    let (with, without) = (with.mount(&at_with)?, without.mount(&at_without)?);
    let comparisons = compare(bench, ("with a journal", "without"), &METRICS, |side| {
        let at = if side.is_new() { &without.at } else { &with.at };
        let folder = at.join("files");
        let sync = seconds(|| files::create(bench, &folder, synced, 4096, true))?;
        files::remove(bench, &folder, synced)?;
        let create = seconds(|| files::create(bench, &folder, made, 4096, false))?;
        let remove = seconds(|| files::remove(bench, &folder, made))?;
        let write = seconds(|| files::write_large(bench, &at.join("large"), large))?;
        let _ = std::fs::remove_file(at.join("large"));
        Ok(vec![synced as f64 / sync, made as f64 / create, made as f64 / remove, large as f64 / 1e6 / write])
    })?;
    with.end()?;
    without.end()?;
    Ok(Measured {
        comparisons,
        notes: vec!["after a crash a file system without a journal must be checked, or made again".to_owned()],
    })
}
