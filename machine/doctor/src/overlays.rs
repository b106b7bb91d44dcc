//! Overlay mounts. A file in a layer that several mounts share is in the page cache once; equal files in different
//! layers are cached once each.

use std::collections::HashMap;

use yunti_base::mounts::{self, Mount};
use yunti_settings::System;

use super::finding::{Finding, Level};

/// Mounts. Fewer gain little from shared layers.
const MANY: usize = 4;

/// Returns the finding about shared layers of the mounted overlays.
pub fn findings(system: &System) -> Vec<Finding> {
    let table = system.text("proc/self/mountinfo").unwrap_or_default();
    let table = mounts::parse(&table);
    let mounts: Vec<Vec<&str>> = table.iter().filter_map(layers).collect();
    let why = "the page cache holds a file of a shared layer once, and copies in different layers once each: N \
        containers of one image read its files once (yunti machine bench overlay)";
    let finding = |seen: String| Finding::new("disks", "overlay", seen, why);
    if mounts.is_empty() {
        return vec![finding("no overlay is mounted".to_owned())];
    }
    let mut users: HashMap<&str, usize> = HashMap::new();
    mounts.iter().flatten().for_each(|layer| *users.entry(layer).or_default() += 1);
    let shared = users.values().filter(|n| **n > 1).count();
    let most = users.values().max().copied().unwrap_or(0);
    let seen = format!(
        "counted: {} mounts with {} lower layers; {shared} of them shared, by at most {most} mounts",
        mounts.len(),
        users.len()
    );
    let alone = shared == 0 && mounts.len() >= MANY;
    vec![
        finding(seen)
            .level(if alone { Level::Note } else { Level::Ok })
            .change(
                "build images on one base, with the JDK and libraries in layers of their own below the \
                application; use no storage driver that copies (vfs)",
            )
            .cost("a rebuild of the images; each change of the base rebuilds all of them")
            .undo("use the previous images"),
    ]
}

/// Returns the lower layers of an overlay mount, from options such as `lowerdir=/a:/b` or `lowerdir+=/a`.
fn layers(mount: &Mount) -> Option<Vec<&str>> {
    if mount.fs_type != "overlay" {
        return None;
    }
    let lower = mount
        .fs_options
        .iter()
        .filter_map(|option| option.strip_prefix("lowerdir").map(|rest| rest.trim_start_matches('+')));
    Some(
        lower
            .filter_map(|rest| rest.strip_prefix('='))
            .flat_map(|paths| paths.split(':'))
            .filter(|path| !path.is_empty())
            .collect(),
    )
}

#[cfg(test)]
mod tests {
    use super::super::tests::machine;
    use super::*;

    #[test]
    fn notes_mounts_that_share_no_layer() {
        let of = |lower: &[&str]| {
            let lines = lower.iter().enumerate().map(|(n, lower)| {
                format!("2{n} 1 0:{n} / /m{n} rw shared:1 - overlay overlay rw,lowerdir={lower},upperdir=/u\n")
            });
            let text: String = lines.collect();
            findings(&machine(&[("proc/self/mountinfo", &text)]).system()).remove(0)
        };
        let shared = of(&["/a:/b", "/c:/b", "/d:/b", "/e:/b"]);
        assert!(
            shared.level == Level::Ok && shared.seen.contains("4 mounts with 5 lower layers; 1 of them"),
            "{shared:?}"
        );
        let alone = of(&["/a", "/b", "/c", "/d"]);
        assert!(alone.level == Level::Note && alone.cost.is_some() && alone.undo.is_some(), "{alone:?}");
        assert_eq!(of(&["/a", "/b"]).level, Level::Ok);
        assert!(of(&[]).seen.contains("no overlay"));
        let of = |text: &str| mounts::parse(text).remove(0);
        let added = of("9 1 0:9 / /m rw - overlay o rw,lowerdir+=/a,lowerdir+=/b");
        assert_eq!(layers(&added), Some(vec!["/a", "/b"]));
    }
}
