//! Clusters of 64 KiB compared with blocks of 4 KiB, on an image that is large enough for bitmaps to matter.

use std::fs::File;

use rustix::fs::{FallocateFlags, fallocate};
use yunti_base::Result;

use super::comparison::Better::{Less, More};
use super::comparison::{Metric, compare};
use super::{Bench, Measurement, OF_2012, Published, PublishedRatio, Subject, failed, files, seconds};
use crate::scratch::image::Image;
use crate::scratch::tool;

/// Description of this comparison.
pub const SUBJECT: Subject = Subject {
    name: "bigalloc",
    what: "ext4 with clusters of 64 KiB against blocks of 4 KiB",
    needs_root: true,
    tools: &["mkfs.ext4", "e2fsck", "losetup", "mount", "umount"],
    published: &[
        Published {
            figure: "new files through the page cache: 7,772 ms, with bigalloc 1,658 ms (-78.7 %)",
            source: OF_2012,
            ratio: Some(PublishedRatio { metric: "files of 4 KiB created", new: "", value: 7772.0 / 1658.0 }),
        },
        Published {
            figure: "the same with direct I/O: 15,617 ms, 15,678 ms (no difference)",
            source: OF_2012,
            ratio: None,
        },
        Published {
            figure: "fallocate of new files: 4,198 ms, 1,704 ms (-59.4 %)",
            source: OF_2012,
            ratio: Some(PublishedRatio { metric: "fallocate of 3/4 of the space", new: "", value: 1704.0 / 4198.0 }),
        },
        Published {
            figure: "fsck of a Hadoop node of 12 disks: 1,916 s, 453 s (elsewhere a quarter)",
            source: OF_2012,
            ratio: Some(PublishedRatio { metric: "e2fsck -fn, cold", new: "", value: 453.0 / 1916.0 }),
        },
        Published {
            figure: "space for data of this node: 22,180 GB, 22,312 GB (+132 GB)",
            source: OF_2012,
            ratio: None,
        },
        Published {
            figure: "bitmaps of 2 TB: 64 MB with blocks of 4 KiB, 256 kB with clusters of 1 MiB",
            source: "Linux, Documentation/filesystems/ext4/bigalloc.rst (in Linux since 3.2)",
            ratio: None,
        },
    ],
    measure,
};

const METRICS: [Metric; 6] = [
    Metric::timed("files of 4 KiB created", "/s", More),
    Metric::timed("fallocate of 3/4 of the space", "ms", Less).since(
        "bitmaps of unused groups are not read (uninit_bg); free space is kept in trees by order and size (Linux 5.14)",
    ),
    Metric::timed("e2fsck -fn, cold", "ms", Less)
        .since("unused groups are skipped; bitmaps are trees in memory (e2fsprogs 1.42)"),
    Metric::counted("space of a file of 4 KiB", "KiB", Less),
    Metric::counted("space not available for data", "MiB", Less),
    Metric::counted("metadata read to free 3/4", "KiB", Less),
];

fn measure(bench: &Bench) -> Result<Measurement> {
    let at = bench.scratch.file("at");
    let bytes = bench.image_bytes;
    // Both sides have the same number of inodes; groups of bigalloc have few.
    let inodes = (bytes >> 17).min(131_072);
    let count = bench.pick(20_000, 500).min(inodes as usize / 2);
    let number = inodes.to_string();
    let comparisons = compare(bench, ("blocks of 4 KiB", "bigalloc, 64 KiB"), &METRICS, |side| {
        let options: &[&str] =
            if side.is_new() { &["-O", "bigalloc", "-C", "65536", "-N", &number] } else { &["-N", &number] };
        let image = Image::make(bench.scratch.file("image"), bytes, options)?;
        let mount = image.mount(&at)?;
        let stat = mount.stat()?;
        let overhead = bytes - stat.f_blocks * stat.f_frsize;
        let free = mount.free_bytes()?;
        let create = seconds(|| files::create(bench, &at, count, 4096, false))?;
        // Delayed allocation ends when all data is written.
        let root = File::open(&at).map_err(failed)?;
        rustix::fs::syncfs(&root).map_err(|e| failed(e.into()))?;
        drop(root);
        let each = (free - mount.free_bytes()?) as f64 / count as f64;
        let large = at.join("large");
        let allocate = seconds(|| {
            let file = File::create(&large).map_err(failed)?;
            fallocate(&file, FallocateFlags::empty(), 0, free / 4 * 3).map_err(|e| failed(e.into()))?;
            file.sync_all().map_err(failed)
        })?;
        mount.end()?;
        bench.check_cancelled()?;
        image.chill()?;
        let check = seconds(|| tool::run("e2fsck", ["-fn".as_ref(), image.file.as_os_str()]).map(drop))?;
        image.chill()?;
        let mount = image.mount(&at)?;
        let before = mount.read_bytes();
        std::fs::remove_file(&large).map_err(failed)?;
        let read = mount.read_bytes() - before;
        mount.end()?;
        std::fs::remove_file(&image.file).map_err(failed)?;
        Ok(vec![
            count as f64 / create,
            allocate * 1e3,
            check * 1e3,
            each / 1024.0,
            overhead as f64 / 1048576.0,
            read as f64 / 1024.0,
        ])
    })?;
    let notes = vec![
        format!("a sparse image of {} GiB: parts that were never written keep some figures small", bytes >> 30),
        "the file system was just mounted, and the metadata read stays in memory: the figure is also the memory needed"
            .to_owned(),
    ];
    Ok(Measurement { comparisons, notes })
}
