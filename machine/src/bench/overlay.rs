//! N overlay mounts of one file compared with N copies. The page cache filled is counted as bytes read from the
//! device, which no other process affects.

use std::fs;

use yunti_base::Result;

use super::comparison::Better::{Less, More};
use super::comparison::{Metric, compare};
use super::{Bench, MIB, Measurement, OF_2012, Published, PublishedRatio, Subject, failed, files, seconds};
use crate::scratch::image::{Image, chill, unmount};
use crate::scratch::tool;

/// Description of this comparison.
pub const SUBJECT: Subject = Subject {
    name: "overlay",
    what: "overlay mounts that share the page cache of one file",
    needs_root: true,
    tools: &["mkfs.ext4", "losetup", "mount", "umount"],
    published: &[
        Published {
            figure: "page cache of 32 writable copies of one tree, 1 GB read in each, 24 GB machine: 21,181 MB as copies, 1,037 MB as overlay mounts (a twentieth)",
            source: OF_2012,
            ratio: Some(PublishedRatio {
                metric: "page cache filled from the device",
                new: "",
                value: 1037.0 / 21181.0,
            }),
        },
        Published {
            figure: "the kernel had no overlays then",
            source: "overlayfs came with Linux 3.18; kernel 2.6.32 needed patches for it",
            ratio: None,
        },
    ],
    measure,
};

const METRICS: [Metric; 2] = [
    Metric::timed("all paths read, cold", "MB/s", More),
    Metric::counted("page cache filled from the device", "MiB", Less),
];

/// Mounted overlays, unmounted when dropped.
struct Overlays(Vec<std::path::PathBuf>);

impl Drop for Overlays {
    fn drop(&mut self) {
        for at in &self.0 {
            let _ = unmount(at);
        }
    }
}

fn measure(bench: &Bench) -> Result<Measurement> {
    let (count, bytes) = bench.pick((32, 16 * MIB), (8, 2 * MIB));
    let image = Image::make(bench.scratch.file("image"), (count as u64 + 4) * bytes + 128 * MIB, &[])?;
    let mount = image.mount(&bench.scratch.file("at"))?;
    let base = mount.at.clone();
    for folder in ["lower", "copies"] {
        fs::create_dir(base.join(folder)).map_err(failed)?;
    }
    let lower = base.join("lower/file");
    files::write_large(bench, &lower, bytes)?;
    let mut copies = Vec::new();
    let mut overlays = Overlays(Vec::new());
    for i in 0..count {
        bench.check_cancelled()?;
        let copy = base.join(format!("copies/{i}"));
        fs::copy(&lower, &copy).map_err(failed)?;
        copies.push(copy);
        let [upper, work, at] = ["upper", "work", "merged"].map(|name| base.join(format!("{name}{i}")));
        for folder in [&upper, &work, &at] {
            fs::create_dir(folder).map_err(failed)?;
        }
        let options = format!(
            "lowerdir={},upperdir={},workdir={}",
            base.join("lower").display(),
            upper.display(),
            work.display()
        );
        let words = ["-t", "overlay", "-o", &options, "overlay"].map(std::ffi::OsStr::new);
        tool::run("mount", words.into_iter().chain([at.as_os_str()]))?;
        overlays.0.push(at);
    }
    let merged: Vec<_> = overlays.0.iter().map(|at| at.join("file")).collect();
    let comparisons = compare(bench, (&format!("{count} copies"), &format!("{count} overlays")), &METRICS, |side| {
        let paths = if side.is_new() { &merged } else { &copies };
        for path in copies.iter().chain([&lower]) {
            chill(path)?;
        }
        let before = mount.read_bytes();
        let mut block = vec![0; MIB as usize];
        let took = seconds(|| {
            for path in paths {
                bench.check_cancelled()?;
                let mut file = fs::File::open(path).map_err(failed)?;
                while std::io::Read::read(&mut file, &mut block).map_err(failed)? > 0 {}
            }
            Ok(())
        })?;
        let read = mount.read_bytes() - before;
        Ok(vec![(count as u64 * bytes) as f64 / 1e6 / took, read as f64 / MIB as f64])
    })?;
    drop(overlays);
    mount.end()?;
    Ok(Measurement {
        comparisons,
        notes: vec![format!("one file of {} MiB, read completely through {count} paths", bytes / MIB)],
    })
}
