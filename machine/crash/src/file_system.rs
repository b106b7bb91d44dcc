//! Reports from lines of the kernel's log in which file systems report errors; each line is a report of its own.

use std::time::SystemTime;

use super::stack::{clean, without_numbers};
use super::{Kind, Report};

/// Removes the name of the process (` comm ls:`) and names of files (` path /a/b: ..`, `'name'`).
fn without_names(text: &str) -> String {
    let mut out = text.to_owned();
    if let Some(at) = out.find(" comm ") {
        let end = out[at..].find(": ").map_or(out.len(), |n| at + n + 1);
        out.replace_range(at..end, "");
    }
    // File names may hold blanks and colons, so the end of a path is unknown and the rest is removed.
    if let Some(at) = out.find(" path ") {
        out.replace_range(at.., " ..");
    }
    for quote in ['\'', '"'] {
        if let (Some(from), Some(to)) = (out.find(quote), out.rfind(quote))
            && from < to
        {
            out.replace_range(from..=to, "..");
        }
    }
    out
}

/// Returns the report of a file system's error line, else `None`.
pub fn report(text: &str, time: SystemTime) -> Option<Report> {
    let text = without_names(text);
    let text = text.as_str();
    let report = |class: String, device: &str, title: &str, distinguishing: &str| {
        let report = Report::new(Kind::FileSystem, class, clean(title), time, Vec::new(), &[device, distinguishing]);
        Some(report.fact("device", clean(device)))
    };
    for name in ["EXT4", "EXT3", "EXT2", "F2FS", "FAT", "BTRFS", "exFAT", "NTFS3", "UDF"] {
        let Some(rest) = text.strip_prefix(name).map(|rest| rest.strip_prefix("-fs").unwrap_or(rest)) else { continue };
        let system = name.to_ascii_lowercase();
        // EXT4-fs error (device sda1): function:123: .. and EXT4-fs error (device sda1) in function:123: ..
        if let Some(rest) = [" error (device ", " critical (device "].iter().find_map(|mark| rest.strip_prefix(mark)) {
            let (device, what) = rest.split_once(')')?;
            let place = what.trim_start_matches([':', ' ']).trim_start_matches("in ");
            let function = place.split_once(':').map_or("", |(function, _)| function);
            let is_function = !function.is_empty() && function.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
            let class = if is_function { format!("{system}: {function}") } else { format!("{system}: an error") };
            return report(class, device, text, &without_numbers(what));
        }
        // EXT4-fs (sda1): the file system's reaction; FAT-fs (sdb1): error, ..
        let (device, what) = rest.strip_prefix(" (")?.split_once("): ")?;
        let is_error = what.starts_with("error")
            || what.contains("Remounting filesystem read-only")
            || what.contains("previous I/O error")
            || what.contains("shut down");
        return is_error.then(|| report(format!("{system}: {}", without_numbers(&clean(what))), device, text, ""))?;
    }
    if let Some(rest) = text.strip_prefix("XFS (") {
        let (device, what) = rest.split_once("): ")?;
        const ERRORS: [&str; 7] =
            ["orruption", "Internal error", "CRC error", "I/O error", "Shutting down", "shut down", "shutdown"];
        let is_error = ERRORS.iter().any(|mark| what.contains(mark));
        return is_error.then(|| report("xfs: an error".to_owned(), device, text, &without_numbers(what)))?;
    }
    if let Some(rest) = text.strip_prefix("Aborting journal on device ") {
        let device = rest.trim_end_matches('.');
        return report("jbd2: the journal is given up".to_owned(), device, text, "");
    }
    if let Some(rest) = text.strip_prefix("SQUASHFS error: ") {
        return report("squashfs: an error".to_owned(), "", text, &without_numbers(rest));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Option<Report> {
        report(text, SystemTime::UNIX_EPOCH)
    }

    #[test]
    fn reports_errors_of_file_systems() {
        for (text, class, device) in [
            (
                "EXT4-fs error (device loop0): ext4_lookup:1858: inode #2: comm ls: deleted inode referenced: 12",
                "ext4: ext4_lookup",
                "loop0",
            ),
            (
                "EXT4-fs error (device sda1) in ext4_reserve_inode_write:5900: IO failure",
                "ext4: ext4_reserve_inode_write",
                "sda1",
            ),
            ("EXT4-fs (sda1): Remounting filesystem read-only", "ext4: Remounting filesystem read-only", "sda1"),
            ("BTRFS critical (device sdb): corrupt leaf: root=5", "btrfs: an error", "sdb"),
            (
                "XFS (dm-0): Metadata CRC error detected at xfs_agf_read_verify+0x1/0x2, xfs_agf block 0x1",
                "xfs: an error",
                "dm-0",
            ),
            ("Aborting journal on device loop0-8.", "jbd2: the journal is given up", "loop0-8"),
            (
                "FAT-fs (sdb1): error, corrupted directory (invalid entries)",
                "fat: error, corrupted directory (invalid entries)",
                "sdb1",
            ),
        ] {
            let report = parse(text).unwrap();
            assert_eq!(
                (report.kind, report.class.as_str(), report.facts[0].1.as_str()),
                (Kind::FileSystem, class, device)
            );
        }
        for text in [
            "EXT4-fs (sda1): mounted filesystem 1-2 r/w with ordered data mode. Quota mode: none.",
            "EXT4-fs (sda1): unmounting filesystem",
            "EXT4-fs warning (device sda1): ext4_x:1: y",
            "XFS (dm-0): Mounting V5 Filesystem",
            "EXT4",
            "EXT4-fs error (device ",
            "XFS (",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }

    #[test]
    fn leaves_out_names_of_files_and_processes() {
        for (text, title) in [
            (
                "EXT4-fs error (device sda1): ext4_lookup:1858: inode #2: comm ls: deleted inode referenced: 12",
                "EXT4-fs error (device sda1): ext4_lookup:1858: inode #2: deleted inode referenced: 12",
            ),
            (
                "EXT4-fs error (device sda1): htree_dirblock_to_tree:1083: inode #5: block 9: comm a: b: path \
                 /data/of: secret: bad entry",
                "EXT4-fs error (device sda1): htree_dirblock_to_tree:1083: inode #5: block 9: b: ..",
            ),
            (
                "EXT4-fs error (device sda1): ext4_lookup:1867: inode #2: comm ls: 'it's secret' linked to parent dir",
                "EXT4-fs error (device sda1): ext4_lookup:1867: inode #2: .. linked to parent dir",
            ),
            ("EXT4-fs error (device sda1): f:1: comm x", "EXT4-fs error (device sda1): f:1:"),
        ] {
            assert_eq!(parse(text).unwrap().title, title);
        }
        let of = |comm: &str| {
            parse(&format!("EXT4-fs error (device sda1): f:1: inode #2: comm {comm}: bad")).unwrap().signature
        };
        assert_eq!(of("ls"), of("find"));
    }
}
