//! ext4 with and without its journal.

use yunti_base::Result;

use super::comparison::Better::More;
use super::comparison::{Metric, compare};
use super::{Bench, MIB, Measurement, OF_2012, Published, Subject, failed, files, seconds};
use crate::scratch::image::Image;

/// Description of this comparison.
pub const SUBJECT: Subject = Subject {
    name: "no-journal",
    what: "ext4 without a journal",
    needs_root: true,
    tools: &["mkfs.ext4", "losetup", "mount", "umount"],
    published: &[
        Published {
            figure: "all changes of ext4 together, bigalloc and no journal among them: twice the I/O throughput, half the IOPS",
            source: OF_2012,
            ratio: None,
        },
        Published {
            figure: "iozone, O_DIRECT: first writes 15.4 -> 15.7 MB/s, rewrites 15.6 -> 15.9, reads 16.9 -> 17.2, random \
            writes 5.3 -> 5.4",
            source: "Linux, commit 0390131ba84f (Frank Mayhar, January 2009, in 2.6.29)",
            ratio: None,
        },
    ],
    measure,
};

const METRICS: [Metric; 5] = [
    Metric::timed("files created", "/s", More),
    Metric::timed("files removed", "/s", More),
    Metric::timed("files created after others were removed", "/s", More),
    Metric::timed("files created with fsync", "/s", More),
    Metric::timed("one large file, with fsync", "MB/s", More),
];

fn measure(bench: &Bench) -> Result<Measurement> {
    let (synced, made, large) = bench.pick((1000, 10_000, 256 * MIB), (50, 300, 4 * MIB));
    let bytes = bench.pick(2048 * MIB, 256 * MIB);
    let at = bench.scratch.file("at");
    let comparisons = compare(bench, ("with a journal", "without"), &METRICS, |side| {
        // A new image for each turn: without a journal, inodes of recently removed files are skipped one by one for
        // some seconds.
        let options: &[&str] = if side.is_new() { &["-O", "^has_journal"] } else { &[] };
        let image = Image::make(bench.scratch.file("image"), bytes, options)?;
        let mount = image.mount(&at)?;
        let folder = at.join("files");
        let create = seconds(|| files::create(bench, &folder, made, 4096, false))?;
        let remove = seconds(|| files::remove(bench, &folder, made))?;
        let again = seconds(|| files::create(bench, &folder, made / 5, 4096, false))?;
        let sync = seconds(|| files::create(bench, &at.join("synced"), synced, 4096, true))?;
        let write = seconds(|| files::write_large(bench, &at.join("large"), large))?;
        mount.end()?;
        std::fs::remove_file(&image.file).map_err(failed)?;
        Ok(vec![
            made as f64 / create,
            made as f64 / remove,
            (made / 5) as f64 / again,
            synced as f64 / sync,
            large as f64 / 1e6 / write,
        ])
    })?;
    Ok(Measurement {
        comparisons,
        notes: vec![
            "without a journal, an inode is not reused for some seconds after its file was removed, so that a crash \
             mixes up no files: creating files skips these inodes one by one"
                .to_owned(),
            "after a crash a file system without a journal must be checked or created again".to_owned(),
        ],
    })
}
