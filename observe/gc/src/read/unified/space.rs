//! Sizes of the heap and its parts in messages of unified logging.

use crate::model::event::{Change, Space};
use crate::scan::Scan;

/// Numbers of regions before and after a pause, and of regions that a space may grow to, by [`Space`].
pub type Regions = [Option<(u64, u64, u64)>; Space::ALL.len()];

/// Takes a change: `24M->4M(256M)`, `8703K(78656K)->0K(78656K)`, `26M(10%)->20M(8%)`.
pub fn change(scan: &mut Scan) -> Option<Change> {
    let mut rest = *scan;
    let before = rest.size()?;
    parenthesis(&mut rest);
    if !rest.eat(b"->") {
        return None;
    }
    let after = rest.size()?;
    let total = parenthesis(&mut rest).unwrap_or(0);
    *scan = rest;
    Some(Change { before, after, total })
}

/// Takes a parenthesis, and returns its size, if it is one.
fn parenthesis(scan: &mut Scan) -> Option<u64> {
    if !scan.eat(b"(") {
        return None;
    }
    let mut inside = Scan(scan.until(b')')?);
    inside.size().filter(|_| inside.0.is_empty())
}

/// Splits a text at the change that ends it.
pub fn split_change(text: &[u8]) -> (&[u8], Option<Change>) {
    let text = text.trim_ascii_end();
    let at = memchr::memrchr(b' ', text).map_or(0, |at| at + 1);
    let mut scan = Scan(&text[at..]);
    match change(&mut scan) {
        Some(change) if scan.0.is_empty() => (text[..at].trim_ascii_end(), Some(change)),
        _ => (text, None),
    }
}

/// Removes the times that JDK 9 to 11 append: `Concurrent Mark (0.336s, 0.341s)`.
pub fn without_times(text: &[u8]) -> &[u8] {
    let text = text.trim_ascii_end();
    if !text.ends_with(b"s)") {
        return text;
    }
    let Some(at) = memchr::memrchr(b'(', text) else { return text };
    let mut scan = Scan(&text[at + 1..]);
    if scan.number().is_some() && scan.eat(b"s") { text[..at].trim_ascii_end() } else { text }
}

/// Takes a line about a part of the heap. Returns false if it is none.
pub fn take(text: &[u8], spaces: &mut [Change; Space::ALL.len()], regions: &mut Regions) -> bool {
    let mut scan = Scan(text);
    let Some(name) = scan.until(b':') else { return false };
    let space = match name {
        b"Eden regions" => return counts(scan, Space::Eden, regions),
        b"Survivor regions" => return counts(scan, Space::Survivor, regions),
        b"Old regions" => return counts(scan, Space::Old, regions),
        b"Humongous regions" => return counts(scan, Space::Humongous, regions),
        b"DefNew" | b"ParNew" | b"PSYoungGen" => Space::Young,
        b"Tenured" | b"ParOldGen" | b"PSOldGen" | b"CMS" => Space::Old,
        b"Metaspace" => Space::Metaspace,
        _ => return false,
    };
    let mut take = |space: Space, scan: &mut Scan| {
        if let Some(change) = change(scan.spaces()) {
            spaces[space as usize] = change;
        }
    };
    take(space, &mut scan);
    if space == Space::Young {
        if scan.spaces().eat(b"Eden:") {
            take(Space::Eden, &mut scan);
        }
        if scan.spaces().eat(b"From:") {
            take(Space::Survivor, &mut scan);
        }
    }
    true
}

/// Takes `23->0(20)`.
fn counts(mut scan: Scan, space: Space, regions: &mut Regions) -> bool {
    let before = scan.spaces().integer();
    let after = before.filter(|_| scan.eat(b"->")).and_then(|_| scan.integer());
    if let (Some(before), Some(after)) = (before, after) {
        let most = if scan.eat(b"(") { scan.integer() } else { None };
        regions[space as usize] = Some((before, after, most.unwrap_or(0)));
    }
    true
}

/// Returns the size of a region: the smallest power of two with which the regions hold the heap.
pub fn region_bytes(regions: &Regions, heap: &Change) -> Option<u64> {
    let count = regions.iter().flatten().fold(0u64, |sum, (before, ..)| sum.saturating_add(*before));
    let bytes = heap.before.checked_div(count).filter(|bytes| *bytes > 0)?;
    Some(bytes.max(1 << 20).checked_next_power_of_two()?.min(512 << 20))
}

/// Writes numbers of regions as bytes.
pub fn fill(spaces: &mut [Change; Space::ALL.len()], regions: &Regions, region_bytes: u64) {
    for (change, counts) in spaces.iter_mut().zip(regions) {
        if let Some((before, after, most)) = counts {
            let bytes = |count: u64| count.saturating_mul(region_bytes);
            *change = Change { before: bytes(*before), after: bytes(*after), total: bytes(*most) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const K: u64 = 1024;

    #[test]
    fn changes_have_three_forms() {
        for (text, expect) in [
            ("24K->4K(256K)", Some((24 * K, 4 * K, 256 * K))),
            ("24K(30K)->4K(32K)", Some((24 * K, 4 * K, 32 * K))),
            ("26K(10%)->20K(8%)", Some((26 * K, 20 * K, 0))),
            ("26K", None),
            ("26K->", None),
        ] {
            let found = change(&mut Scan(text.as_bytes())).map(|c| (c.before, c.after, c.total));
            assert_eq!(found, expect, "{text}");
        }
    }

    #[test]
    fn spaces_are_taken() {
        let (mut spaces, mut regions) = Default::default();
        let line = b"DefNew: 7K(8K)->1K(8K) Eden: 6K(6K)->0K(6K) From: 1K(1K)->1K(1K)";
        assert!(take(line, &mut spaces, &mut regions));
        assert!(take(b"Metaspace: 138K(320K)->138K(320K) NonClass: 1K(2K)->1K(2K)", &mut spaces, &mut regions));
        assert!(take(b"Eden regions: 23->0(20)", &mut spaces, &mut regions));
        assert!(!take(b"Something: 23->0(20)", &mut spaces, &mut regions));
        assert_eq!(spaces[Space::Survivor as usize], Change { before: K, after: K, total: K });
        assert_eq!(spaces[Space::Metaspace as usize].total, 320 * K);
        assert_eq!(regions[Space::Eden as usize], Some((23, 0, 20)));
        assert_eq!(region_bytes(&regions, &Change { before: 40 << 20, after: 0, total: 0 }), Some(2 << 20));
    }

    #[test]
    fn times_are_removed() {
        assert_eq!(without_times(b"Concurrent Mark (0.336s, 0.341s)"), b"Concurrent Mark");
        assert_eq!(without_times(b"Pause Young (Allocations)"), b"Pause Young (Allocations)");
    }
}
