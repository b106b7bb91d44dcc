//! Lists of numbers as the kernel writes them, such as `0-3,8`: cpuset(7), "List format".

use std::ops::RangeInclusive;

/// Returns the ranges of a list, such as `0-3,8`; `None` for text in another form.
pub fn ranges(list: &str) -> Option<Vec<RangeInclusive<u32>>> {
    let range = |text: &str| {
        let (first, last) = text.split_once('-').unwrap_or((text, text));
        let (first, last): (u32, u32) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
        (first <= last).then_some(first..=last)
    };
    list.split(',').map(range).collect()
}

/// Returns how many numbers a list has; `None` for text in another form.
pub fn len(list: &str) -> Option<usize> {
    Some(ranges(list)?.into_iter().map(Iterator::count).sum())
}

/// Returns true if a list contains a number.
pub fn contains(list: &str, number: u32) -> bool {
    ranges(list).is_some_and(|ranges| ranges.iter().any(|range| range.contains(&number)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_and_finds_numbers() {
        for (list, n) in [("0", Some(1)), ("0-3,8\n", Some(5)), ("3-0", None), ("", None), ("a", None)] {
            assert_eq!(len(list), n, "{list}");
        }
        for (list, number, found) in [("0-3,8", 3, true), ("0-3,8", 8, true), ("0-3,8", 4, false), ("", 0, false)] {
            assert_eq!(contains(list, number), found, "{list} {number}");
        }
    }
}
