//! Read-ahead sizes of a private loop device: gain for sequential reads, cost for random reads.

use std::fs::File;
use std::os::unix::fs::FileExt;

use yunti_base::Result;

use super::comparison::Better::{Less, More};
use super::comparison::{Metric, compare};
use super::{Bench, MIB, Measurement, Published, Subject, failed, files, seconds};
use crate::scratch::image::{Image, chill};

/// Description of this comparison.
pub const SUBJECT: Subject = Subject {
    name: "read-ahead",
    what: "read-ahead sizes against the default of 128 KiB",
    needs_root: true,
    tools: &["mkfs.ext4", "losetup", "mount", "umount"],
    published: &[Published {
        figure: "100,000 sequential mapped reads: 11.84 s with 128 KiB, 11.98 s with 256 KiB around; 11.61 s with 128 \
            KiB ahead",
        source: "Linux, commit 70ac23cfa31f (Wu Fengguang, 2009, in 2.6.31)",
        ratio: None,
    }],
    measure,
};

const METRICS: [Metric; 3] = [
    Metric::timed("sequential read, cold", "MB/s", More)
        .since("windows that grow during sequential reads (2.6.23 and later), large folios (Linux 5.18)"),
    Metric::timed("random reads of 4 KiB, cold", "/s", More).since("a read at another position starts no read-ahead"),
    Metric::counted("device bytes of a random read", "KiB", Less)
        .since("a read at another position starts no read-ahead"),
];

fn measure(bench: &Bench) -> Result<Measurement> {
    let (bytes, count) = bench.pick((256 * MIB, 4000), (16 * MIB, 200));
    let image = Image::make(bench.scratch.file("image"), bytes + 128 * MIB, &[])?;
    let mount = image.mount(&bench.scratch.file("at"))?;
    let path = mount.at.join("file");
    files::write_large(bench, &path, bytes)?;
    let mut measured = Measurement::default();
    for kib in bench.pick(vec![16, 512, 2048], vec![2048]) {
        measured.comparisons.extend(compare(bench, ("128 KiB", &format!("{kib} KiB")), &METRICS, |side| {
            mount.set("queue/read_ahead_kb", if side.is_new() { kib } else { 128 })?;
            let chilled = || chill(&path).and_then(|()| image.chill());
            chilled()?;
            let mut block = vec![0; 64 << 10];
            // A file keeps the read-ahead size of the moment of its opening.
            let file = File::open(&path).map_err(failed)?;
            let ordered = seconds(|| {
                for at in (0..bytes).step_by(block.len()) {
                    file.read_exact_at(&mut block, at).map_err(failed)?;
                }
                Ok(())
            })?;
            bench.check_cancelled()?;
            chilled()?;
            let file = File::open(&path).map_err(failed)?;
            let mut random = fastrand::Rng::with_seed(3);
            let before = mount.read_bytes();
            let scattered = seconds(|| {
                for _ in 0..count {
                    file.read_exact_at(&mut block[..4096], random.u64(0..bytes / 4096) * 4096).map_err(failed)?;
                }
                Ok(())
            })?;
            let read = mount.read_bytes() - before;
            Ok(vec![bytes as f64 / 1e6 / ordered, count as f64 / scattered, read as f64 / 1024.0 / count as f64])
        })?);
    }
    mount.end()?;
    Ok(measured)
}
