//! Runs of equal values and of bit-packed values, the "RLE / Bit-Packing Hybrid" of Parquet: codes and levels.
//!
//! ```text
//!   run     header: LEB128
//!   n << 1      then one value, in whole bytes: it occurs n times
//!   n << 1 | 1  then n groups of eight values, `width` bits each, the lowest bits first
//! ```

use bytes::Bytes;

use crate::file::varint;

/// Largest header of a run: five groups of seven bits.
const HEADER_MAX: u64 = (1 << 35) - 1;

/// Values of one page.
pub struct Hybrid {
    bytes: Bytes,
    at: usize,
    width: u32,
    run: Run,
}

enum Run {
    Same {
        value: u32,
        left: usize,
    },
    /// Packed values from `start` on.
    Packed {
        start: usize,
        next: usize,
        left: usize,
    },
}

impl Hybrid {
    /// Returns a reader of values of `width` bits; None if none has that many.
    pub fn new(bytes: Bytes, width: u32) -> Option<Hybrid> {
        (width <= 32).then_some(Hybrid { bytes, at: 0, width, run: Run::Same { value: 0, left: 0 } })
    }

    /// Opens the next run; None at the end of the bytes.
    fn next_run(&mut self) -> Option<()> {
        let header = varint::take(&self.bytes, &mut self.at).filter(|header| *header <= HEADER_MAX)?;
        let n = (header >> 1) as usize;
        if header & 1 == 0 {
            let len = self.width.div_ceil(8) as usize;
            let stored = self.bytes.get(self.at..self.at + len)?;
            let mut value = [0; 4];
            value[..len].copy_from_slice(stored);
            self.at += len;
            self.run = Run::Same { value: u32::from_le_bytes(value), left: n };
            return Some(());
        }
        let len = n.checked_mul(self.width as usize)?;
        let there = len.min(self.bytes.len() - self.at);
        // Some writers leave out the bytes of values behind the last one.
        let left = if self.width == 0 { 8 * n } else { (there * 8 / self.width as usize).min(8 * n) };
        if left == 0 && n > 0 {
            return None;
        }
        self.run = Run::Packed { start: self.at, next: 0, left };
        self.at += there;
        Some(())
    }

    /// Sets `to` to the next values. Returns None if there are fewer.
    pub fn read(&mut self, mut to: &mut [u32]) -> Option<()> {
        while !to.is_empty() {
            match &mut self.run {
                Run::Same { left: 0, .. } | Run::Packed { left: 0, .. } => self.next_run()?,
                Run::Same { value, left } => {
                    let n = to.len().min(*left);
                    let (now, rest) = to.split_at_mut(n);
                    now.fill(*value);
                    *left -= n;
                    to = rest;
                }
                Run::Packed { start, next, left } => {
                    let n = to.len().min(*left);
                    let (now, rest) = to.split_at_mut(n);
                    unpack(&self.bytes[*start..], self.width, *next, now);
                    *next += n;
                    *left -= n;
                    to = rest;
                }
            }
        }
        Some(())
    }

    /// Passes over values. Returns None if there are fewer.
    pub fn skip(&mut self, mut n: usize) -> Option<()> {
        while n > 0 {
            match &mut self.run {
                Run::Same { left: 0, .. } | Run::Packed { left: 0, .. } => self.next_run()?,
                Run::Same { left, .. } => {
                    let m = n.min(*left);
                    *left -= m;
                    n -= m;
                }
                Run::Packed { next, left, .. } => {
                    let m = n.min(*left);
                    *next += m;
                    *left -= m;
                    n -= m;
                }
            }
        }
        Some(())
    }

    /// Returns true if the next `n` values are one run of 1.
    pub fn is_all_ones(&mut self, n: usize) -> bool {
        if matches!(self.run, Run::Same { left: 0, .. }) && self.next_run().is_none() {
            return false;
        }
        matches!(self.run, Run::Same { value: 1, left } if left >= n)
    }
}

/// Sets `to` to the values from number `first` on.
fn unpack(bytes: &[u8], width: u32, first: usize, to: &mut [u32]) {
    // Values of whole groups of eight, whose bits begin with a byte.
    let before = (first.next_multiple_of(8) - first).min(to.len());
    let (head, rest) = to.split_at_mut(before);
    one_by_one(bytes, width, first, head);
    let first = first + before;
    let (groups, _) = rest.as_chunks_mut::<8>();
    // A load of eight bytes has each value.
    let readable = bytes.len().saturating_sub(8 + first / 8 * width as usize) / width.max(1) as usize;
    let n = groups.len().min(readable);
    let from = bytes.get(first / 8 * width as usize..).unwrap_or_default();
    macro_rules! widths {
        ($($width:literal)*) => {
            match width {
                $($width => eight_by_eight::<$width>(from, &mut groups[..n]),)*
                _ => return one_by_one(bytes, width, first, rest),
            }
        };
    }
    widths!(1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24);
    one_by_one(bytes, width, first + 8 * n, &mut rest[8 * n..]);
}

/// Sets groups of values of `W` bits, with shifts that the compiler knows.
fn eight_by_eight<const W: usize>(bytes: &[u8], groups: &mut [[u32; 8]]) {
    let mask = (1u64 << W) - 1;
    for (n, group) in groups.iter_mut().enumerate() {
        let Some(from) = bytes.get(n * W..n * W + W + 8) else { return };
        for (at, value) in group.iter_mut().enumerate() {
            let bit = at * W;
            let word = from[bit / 8..].first_chunk::<8>().map_or(0, |word| u64::from_le_bytes(*word));
            *value = (word >> (bit % 8) & mask) as u32;
        }
    }
}

fn one_by_one(bytes: &[u8], width: u32, first: usize, to: &mut [u32]) {
    let (mask, width) = ((1u64 << width) - 1, width as usize);
    let mut bit = first * width;
    for value in to {
        let mut word = [0; 8];
        let rest = &bytes[(bit / 8).min(bytes.len())..];
        let n = rest.len().min(8);
        word[..n].copy_from_slice(&rest[..n]);
        *value = (u64::from_le_bytes(word) >> (bit % 8) & mask) as u32;
        bit += width;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packed(values: &[u32], width: u32) -> Vec<u8> {
        let mut bits = vec![0u8; (values.len() * width as usize).div_ceil(8)];
        for (n, value) in values.iter().enumerate() {
            for bit in 0..width as usize {
                let at = n * width as usize + bit;
                bits[at / 8] |= ((value >> bit & 1) as u8) << (at % 8);
            }
        }
        bits
    }

    #[test]
    fn reads_both_kinds_of_runs_at_each_width() {
        for width in 0..=32u32 {
            let most = if width == 32 { u32::MAX } else { (1 << width) - 1 };
            let values: Vec<u32> = (0..64u32).map(|n| n.wrapping_mul(2_654_435_761) & most).collect();
            let mut bytes = vec![(8 << 1) | 1];
            bytes.extend(packed(&values, width));
            bytes.extend([200 | 0x80, 1]);
            bytes.extend(&most.to_le_bytes()[..width.div_ceil(8) as usize]);
            let expect: Vec<u32> = values.iter().copied().chain([most; 100]).collect();
            for step in [1, 7, 64, 164] {
                let mut hybrid = Hybrid::new(bytes.clone().into(), width).unwrap();
                let mut all = Vec::new();
                while all.len() < 164 {
                    let mut some = vec![0; step.min(164 - all.len())];
                    hybrid.read(&mut some).unwrap();
                    all.extend(some);
                }
                assert_eq!(all, expect, "width {width}, step {step}");
                assert!(hybrid.read(&mut [0]).is_none());
            }
            let mut hybrid = Hybrid::new(bytes.into(), width).unwrap();
            let mut one = [0];
            hybrid.skip(60).unwrap();
            hybrid.read(&mut one).unwrap();
            assert_eq!(one[0], expect[60]);
            hybrid.skip(20).unwrap();
            hybrid.read(&mut one).unwrap();
            assert_eq!(one[0], expect[81]);
        }
    }

    #[test]
    fn bytes_of_no_run_are_refused() {
        assert!(Hybrid::new(Bytes::new(), 33).is_none());
        for bytes in [&[][..], &[0x80], &[0xff; 6], &[3], &[2]] {
            assert!(Hybrid::new(bytes.to_vec().into(), 9).unwrap().read(&mut [0; 3]).is_none(), "{bytes:?}");
        }
    }
}
