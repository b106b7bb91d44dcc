//! Random writes to a mapped file: latency of a one-byte write that dirties its page, under the machine's limits and
//! under limits of its own device. `vm.dirty_*` apply to the whole machine and are not changed.

use std::fs::{self, File};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use yunti_base::Result;

use super::comparison::Better::{Less, More};
use super::comparison::{Metric, compare, percentile};
use super::mapped_file::MappedFile;
use super::{Bench, MIB, Measurement, OF_2012, Published, PublishedRatio, Subject, failed, files};
use crate::scratch::image::{Image, Mount};

/// Description of this comparison.
pub const SUBJECT: Subject = Subject {
    name: "mapped-writes",
    what: "random writes to a mapped file, under writeback limits",
    needs_root: true,
    tools: &["mkfs.ext4", "losetup", "mount", "umount"],
    published: &[
        Published {
            figure: "2.5 thousand million random writes of 8 bytes to a mapped file of 256 MB: 805 s, with a write-back that does not start over 390 s",
            source: OF_2012,
            ratio: Some(PublishedRatio { metric: "writes", new: "", value: 805.0 / 390.0 }),
        },
        Published {
            figure: "a page under write-back made writers wait in 3.0 to 3.8, on every device",
            source: "stable pages: LWN 442355 (2011), for all devices from Linux 3.0, for devices that need them from 3.9 \
            (commit 1d1d1a767206)",
            ratio: None,
        },
    ],
    measure,
};

const METRICS: [Metric; 4] = [
    Metric::timed("writes", "/s", More),
    Metric::timed("p99 of a write", "us", Less),
    Metric::timed("p99.9 of a write", "us", Less),
    Metric::timed("longest write", "ms", Less),
];

fn measure(bench: &Bench) -> Result<Measurement> {
    let (bytes, time) = bench.pick((256 * MIB, Duration::from_secs(2)), (16 * MIB, Duration::from_millis(150)));
    let image = Image::make(bench.scratch.file("image"), bytes + 128 * MIB, &[])?;
    let mount = image.mount(&bench.scratch.file("at"))?;
    let path = mount.at.join("file");
    files::write_large(bench, &path, bytes)?;
    let mut measured = Measurement::default();
    let setting = |name: &str| bdi(&mount).join(name);
    let stable = fs::read_to_string(setting("stable_pages_required")).unwrap_or_default();
    measured.notes.push(format!(
        "this device needs stable pages: {}",
        if stable.trim() == "1" { "yes, a write waits for writeback of its page" } else { "no" }
    ));
    // Limits of the device alone, which is removed at the end.
    let limit = if setting("max_bytes").exists() {
        ("max_bytes", (8 * MIB).to_string())
    } else {
        ("max_ratio", "1".to_owned())
    };
    let name = if limit.0 == "max_bytes" { "at most 8 MiB dirty" } else { "at most 1 % dirty" };
    measured.comparisons = compare(bench, ("limits of the machine", name), &METRICS, |side| {
        // The default ratio of 100 also removes a limit in bytes.
        let (strict, name, value) =
            if side.is_new() { ("1", limit.0, limit.1.as_str()) } else { ("0", "max_ratio", "100") };
        fs::write(setting("strict_limit"), strict).map_err(failed)?;
        fs::write(setting(name), value).map_err(failed)?;
        let file = File::options().read(true).write(true).open(&path).map_err(failed)?;
        file.sync_all().map_err(failed)?;
        let mut took = dirty(bench, &file, bytes, time)?;
        file.sync_all().map_err(failed)?;
        took.sort_unstable();
        let at = |share| percentile(&took, share) as f64 / 1e3;
        Ok(vec![took.len() as f64 / time.as_secs_f64(), at(0.99), at(0.999), at(1.0) / 1e3])
    })?;
    measured.notes.push(
        "a limit below vm.dirty_background_* makes writers wait sooner, and limits the data that a \
        crash would lose; vm.dirty_* were not changed"
            .to_owned(),
    );
    mount.end()?;
    Ok(measured)
}

fn dirty(bench: &Bench, file: &File, bytes: u64, time: Duration) -> Result<Vec<u64>> {
    let mut mapped = MappedFile::new(file, bytes as usize).map_err(failed)?;
    let mut random = fastrand::Rng::with_seed(7);
    let mut took = Vec::with_capacity(1 << 20);
    let end = Instant::now() + time;
    let mut begun = Instant::now();
    while begun < end {
        mapped.write(random.usize(0..bytes as usize), took.len() as u8);
        let now = Instant::now();
        took.push((now - begun).as_nanos() as u64);
        if took.len() % 65_536 == 0 {
            bench.check_cancelled()?;
        }
        begun = now;
    }
    Ok(took)
}

fn bdi(mount: &Mount) -> PathBuf {
    mount.sys("bdi")
}
