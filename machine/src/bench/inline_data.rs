//! Small files in their inodes compared with a block each.

use yunti_base::Result;

use super::comparison::Better::{Less, More};
use super::comparison::{Metric, compare};
use super::{Bench, MIB, Measurement, Published, Subject, failed, files, seconds};
use crate::scratch::image::Image;

/// Description of this comparison.
pub const SUBJECT: Subject = Subject {
    name: "inline-data",
    what: "files of 80 bytes in their inodes",
    needs_root: true,
    tools: &["mkfs.ext4", "losetup", "mount", "umount"],
    published: &[Published {
        figure: "up to 156 to 160 bytes in an inode of 256",
        source: "Linux, Documentation/filesystems/ext4/inlinedata.rst; Tao Ma's commit f19d5870cbf7 (in 3.8)",
        ratio: None,
    }],
    measure,
};

const METRICS: [Metric; 4] = [
    Metric::timed("files created and written back", "/s", More),
    Metric::timed("files read, cold", "/s", More),
    Metric::counted("space of a file beside its inode", "KiB", Less),
    Metric::counted("read from the device for a file", "KiB", Less),
];

fn measure(bench: &Bench) -> Result<Measurement> {
    let count = bench.pick(20_000, 500);
    let bytes = bench.pick(1024 * MIB, 128 * MIB);
    let at = bench.scratch.file("at");
    let comparisons = compare(bench, ("a block each", "inline_data"), &METRICS, |side| {
        let feature = if side.is_new() { "inline_data" } else { "^inline_data" };
        let image = Image::make(bench.scratch.file("image"), bytes, &["-I", "256", "-O", feature, "-i", "8192"])?;
        let mount = image.mount(&at)?;
        let free = mount.free_bytes()?;
        let create = seconds(|| {
            files::create(bench, &at, count, 80, false)?;
            let root = std::fs::File::open(&at).map_err(failed)?;
            rustix::fs::syncfs(&root).map_err(|e| failed(e.into()))
        })?;
        let space = (free - mount.free_bytes()?) as f64 / count as f64;
        mount.end()?;
        image.chill()?;
        let mount = image.mount(&at)?;
        let before = mount.read_bytes();
        let read = seconds(|| files::read(bench, &at, count))?;
        let device = (mount.read_bytes() - before) as f64 / count as f64;
        mount.end()?;
        std::fs::remove_file(&image.file).map_err(failed)?;
        Ok(vec![count as f64 / create, count as f64 / read, space / 1024.0, device / 1024.0])
    })?;
    Ok(Measurement { comparisons, notes: Vec::new() })
}
