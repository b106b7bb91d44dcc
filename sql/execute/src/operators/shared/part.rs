//! Shares of a table's places: tasks of a cluster that scan one table map the same file, and each reads its own share.

use std::ops::Range;

use super::EXTENSION;

/// A share of a table's places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// From 0.
    pub number: u32,
    pub count: u32,
}

impl Part {
    /// All places.
    pub const WHOLE: Part = Part { number: 0, count: 1 };

    pub fn is_whole(self) -> bool {
        self.count == 1
    }

    /// Returns the name of the format of a table's file that is read in parts: `ytab`, or `ytab 2/8`.
    pub fn format(self) -> String {
        match self {
            Part::WHOLE => EXTENSION.into(),
            Part { number, count } => format!("{EXTENSION} {}/{count}", number + 1),
        }
    }

    /// Returns the part that the name of a format says; None for another format.
    pub fn of_format(name: &str) -> Option<Part> {
        if name == EXTENSION {
            return Some(Part::WHOLE);
        }
        let (number, count) = name.strip_prefix(EXTENSION)?.strip_prefix(' ')?.split_once('/')?;
        let (number, count): (u32, u32) = (number.parse().ok()?, count.parse().ok()?);
        (1..=count).contains(&number).then(|| Part { number: number - 1, count })
    }

    /// Returns the share of a range. The shares of all parts are the range.
    pub fn of(self, range: &Range<u64>) -> Range<u64> {
        let length = u128::from(range.end.saturating_sub(range.start));
        let at = |number: u32| range.start + (length * u128::from(number) / u128::from(self.count)) as u64;
        at(self.number)..at(self.number + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_have_every_place_once() {
        for (range, count) in [(0..0, 3), (5..6, 4), (0..1000, 7), (3..u64::MAX, 64), (10..20, 1)] {
            let mut next = range.start;
            for number in 0..count {
                let part = Part { number, count };
                assert_eq!(Part::of_format(&part.format()), Some(part));
                let own = part.of(&range);
                assert_eq!(own.start, next);
                next = own.end;
            }
            assert_eq!(next, range.end);
        }
    }

    #[test]
    fn other_formats_are_no_parts() {
        for name in ["", "csv", "ytab ", "ytab 0/2", "ytab 3/2", "ytab 1/0", "ytab 1", "ytab2/3", "ytab x/3"] {
            assert_eq!(Part::of_format(name), None, "{name}");
        }
    }
}
