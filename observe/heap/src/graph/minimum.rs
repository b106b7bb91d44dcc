//! Minimum of any range of an array in constant time: a scan within blocks, a table of powers of two across them.

/// Entries of a block.
const BLOCK: usize = if cfg!(debug_assertions) { 4 } else { 128 };

/// Table over the blocks of an array, which the caller keeps.
pub struct Minimum {
    /// Minimum of `1 << level` blocks from each block on.
    levels: Vec<Vec<u32>>,
}

impl Minimum {
    /// Returns the table of an array.
    pub fn of(array: &[u32]) -> Minimum {
        let mut levels: Vec<Vec<u32>> = Vec::new();
        let mut level: Vec<u32> = array.chunks(BLOCK).map(least).collect();
        let mut width = 1;
        while level.len() > 1 {
            let next = level.iter().zip(level.get(width..).unwrap_or_default()).map(|(a, b)| *a.min(b)).collect();
            levels.push(level);
            level = next;
            width *= 2;
        }
        levels.push(level);
        Minimum { levels }
    }

    /// Returns the minimum of `array[from..to]`, which has at least one entry.
    pub fn within(&self, array: &[u32], from: usize, to: usize) -> u32 {
        let (first, last) = (from.div_ceil(BLOCK), to / BLOCK);
        if first >= last {
            return least(&array[from..to]);
        }
        let level = (last - first).ilog2() as usize;
        let blocks = &self.levels[level];
        let middle = blocks[first].min(blocks[last - (1 << level)]);
        middle.min(least(&array[from..first * BLOCK])).min(least(&array[last * BLOCK..to]))
    }
}

fn least(entries: &[u32]) -> u32 {
    entries.iter().fold(u32::MAX, |least, &entry| least.min(entry))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_minimum_of_every_range() {
        for length in [1, 3, 4, 5, 8, 37, 130] {
            let array: Vec<u32> = (0..length).map(|i| i * 7919 % 101 + 3).collect();
            let minimum = Minimum::of(&array);
            for from in 0..array.len() {
                for to in from + 1..=array.len() {
                    assert_eq!(Some(&minimum.within(&array, from, to)), array[from..to].iter().min(), "{from}..{to}");
                }
            }
        }
    }
}
