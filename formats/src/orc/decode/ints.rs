//! Integers in runs, version 1 and version 2.
//!
//! ```text
//!   version 1   head 0..127     head + 3 numbers: i8 difference, varint of the first
//!               head 128..255   256 - head varints
//!   version 2   00 width:3 n:3              short repeat   n + 3 times one number of width + 1 bytes
//!               01 width:5 n:9              direct         n + 1 numbers of `width` bits
//!               10 width:5 n:9 ..           patched base   n + 1 numbers above a base, some with further bits
//!               11 width:5 n:9              delta          varints of the first and its difference, then differences
//! ```
//!
//! Sums wrap around, as in the other readers: a damaged number is a number.

use yunti_api::Result;

use crate::file::varint;
use crate::orc::failure::damaged;
use crate::orc::store::Stream;

/// Numbers of a run, at most.
const RUN_MAX: usize = 512;

/// Integers of a stream.
pub struct Ints {
    stream: Stream,
    is_signed: bool,
    is_version_2: bool,
    run: Vec<i64>,
    at: usize,
    packed: Vec<u8>,
}

impl Ints {
    pub fn new(stream: Stream, is_signed: bool, is_version_2: bool) -> Ints {
        let run = Vec::with_capacity(RUN_MAX);
        Ints { stream, is_signed, is_version_2, run, at: 0, packed: Vec::new() }
    }

    /// Returns the next `n` numbers.
    pub fn take(&mut self, n: usize) -> Result<Vec<i64>> {
        let mut to = Vec::with_capacity(n);
        while to.len() < n {
            if self.at == self.run.len() {
                self.next_run()?;
            }
            let some = (self.run.len() - self.at).min(n - to.len());
            to.extend_from_slice(&self.run[self.at..self.at + some]);
            self.at += some;
        }
        Ok(to)
    }

    /// Returns the next `n` numbers, each of which is a length; and their sum.
    pub fn lengths(&mut self, n: usize) -> Result<(Vec<i64>, u64)> {
        let lengths = self.take(n)?;
        let mut sum = 0u64;
        for &length in &lengths {
            let length = u64::try_from(length).map_err(|_| damaged("a length is negative"))?;
            sum = sum.checked_add(length).ok_or_else(|| damaged("lengths are too large"))?;
        }
        Ok((lengths, sum))
    }

    fn next_run(&mut self) -> Result<()> {
        self.run.clear();
        self.at = 0;
        let head = self.stream.byte()?;
        match (self.is_version_2, head >> 6) {
            (false, _) => self.version_1(head),
            (true, 0) => self.short_repeat(head),
            (true, 1) => self.direct(head),
            (true, 2) => self.patched_base(head),
            (true, _) => self.delta(head),
        }
    }

    fn version_1(&mut self, head: u8) -> Result<()> {
        if head < 128 {
            let difference = i64::from(self.stream.byte()? as i8);
            let mut n = self.number()?;
            for _ in 0..usize::from(head) + 3 {
                self.run.push(n);
                n = n.wrapping_add(difference);
            }
            return Ok(());
        }
        for _ in 0..256 - usize::from(head) {
            let n = self.number()?;
            self.run.push(n);
        }
        Ok(())
    }

    fn short_repeat(&mut self, head: u8) -> Result<()> {
        let n = self.big_endian(usize::from(head >> 3 & 7) + 1)?;
        let n = self.plain(n);
        self.run.resize(usize::from(head & 7) + 3, n);
        Ok(())
    }

    fn direct(&mut self, head: u8) -> Result<()> {
        let (width, n) = (width(head >> 1 & 31), self.count(head)?);
        self.unpack(width, n)?;
        if self.is_signed {
            self.run.iter_mut().for_each(|n| *n = varint::unzigzag(*n as u64));
        }
        Ok(())
    }

    fn patched_base(&mut self, head: u8) -> Result<()> {
        let (width, n) = (width(head >> 1 & 31), self.count(head)?);
        let (third, fourth) = (self.stream.byte()?, self.stream.byte()?);
        let base_bytes = usize::from(third >> 5) + 1;
        let patch_width = self::width(third & 31);
        let gap_width = u32::from(fourth >> 5) + 1;
        let patches = usize::from(fourth & 31);
        if patch_width + gap_width > 64 {
            return Err(damaged("a patch of more than 64 bits"));
        }
        let base = self.big_endian(base_bytes)?;
        let sign = 1u64 << (8 * base_bytes - 1);
        let base = if base & sign == 0 { base as i64 } else { ((base & !sign) as i64).wrapping_neg() };
        self.unpack(width, n)?;
        let numbers = std::mem::replace(&mut self.run, Vec::with_capacity(RUN_MAX));
        self.unpack(closest_width(patch_width + gap_width), patches)?;
        let list = std::mem::replace(&mut self.run, numbers);
        let mut at = 0;
        for entry in list {
            let entry = entry as u64;
            let gap = if patch_width == 64 { 0 } else { entry >> patch_width };
            let patch = if patch_width == 64 { entry } else { entry & ((1 << patch_width) - 1) };
            at += gap as usize;
            let number = self.run.get_mut(at).ok_or_else(|| damaged("a patch beyond its run"))?;
            *number |= patch.checked_shl(width).unwrap_or(0) as i64;
        }
        self.run.iter_mut().for_each(|n| *n = n.wrapping_add(base));
        Ok(())
    }

    fn delta(&mut self, head: u8) -> Result<()> {
        let code = head >> 1 & 31;
        let width = if code == 0 { 0 } else { width(code) };
        let n = self.count(head)?;
        let first = self.number()?;
        let difference = varint::unzigzag(self.varint()?);
        if n > 2 && width > 0 {
            self.unpack(width, n - 2)?;
        } else {
            self.run.resize(n.saturating_sub(2), difference.wrapping_abs());
        }
        let differences = std::mem::replace(&mut self.run, Vec::with_capacity(RUN_MAX));
        self.run.push(first);
        let mut last = first.wrapping_add(difference);
        if n > 1 {
            self.run.push(last);
        }
        for each in differences {
            last = if difference < 0 { last.wrapping_sub(each) } else { last.wrapping_add(each) };
            self.run.push(last);
        }
        Ok(())
    }

    /// Returns the numbers of a run, from the last bit of its head and the next byte.
    fn count(&mut self, head: u8) -> Result<usize> {
        Ok((usize::from(head & 1) << 8 | usize::from(self.stream.byte()?)) + 1)
    }

    fn plain(&self, n: u64) -> i64 {
        if self.is_signed { varint::unzigzag(n) } else { n as i64 }
    }

    fn number(&mut self) -> Result<i64> {
        let n = self.varint()?;
        Ok(self.plain(n))
    }

    fn varint(&mut self) -> Result<u64> {
        let n = varint::read(|| self.stream.byte())?;
        n.ok_or_else(|| damaged("a number of more than 64 bits"))
    }

    fn big_endian(&mut self, bytes: usize) -> Result<u64> {
        let mut n = 0;
        for _ in 0..bytes {
            n = n << 8 | u64::from(self.stream.byte()?);
        }
        Ok(n)
    }

    /// Makes the run `n` numbers of `width` bits each.
    fn unpack(&mut self, width: u32, n: usize) -> Result<()> {
        self.packed.resize((width as usize * n).div_ceil(8), 0);
        self.stream.fill(&mut self.packed)?;
        self.run.clear();
        let (mut bits, mut have) = (0u128, 0);
        let mut bytes = self.packed.iter();
        let mask = if width == 64 { u64::MAX } else { (1 << width) - 1 };
        for _ in 0..n {
            while have < width {
                bits = bits << 8 | u128::from(*bytes.next().unwrap_or(&0));
                have += 8;
            }
            have -= width;
            self.run.push(((bits >> have) as u64 & mask) as i64);
        }
        Ok(())
    }
}

/// Returns the width in bits that 5 bits stand for.
fn width(code: u8) -> u32 {
    match code {
        0..24 => u32::from(code) + 1,
        24 => 26,
        25 => 28,
        26 => 30,
        27 => 32,
        28 => 40,
        29 => 48,
        30 => 56,
        _ => 64,
    }
}

/// Returns the least width that 5 bits can stand for.
fn closest_width(bits: u32) -> u32 {
    (0..32).map(width).find(|&width| width >= bits).unwrap_or(64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::orc::decode::tests::stream;

    #[test]
    fn runs_of_the_specification() {
        let check = |bytes: &[u8], is_version_2: bool, expect: &[i64]| {
            let mut ints = Ints::new(stream(bytes), false, is_version_2);
            assert_eq!(ints.take(expect.len()).ok().as_deref(), Some(expect));
            assert!(ints.take(1).is_err());
            for cut in 0..bytes.len() {
                assert!(Ints::new(stream(&bytes[..cut]), false, is_version_2).take(expect.len()).is_err());
            }
        };
        check(b"\x61\x00\x07", false, &[7; 100]);
        check(b"\x61\xff\x64", false, &(1..=100).rev().collect::<Vec<_>>());
        check(b"\xfb\x02\x03\x06\x07\x0b", false, &[2, 3, 6, 7, 11]);
        check(b"\x0a\x27\x10", true, &[10000; 5]);
        check(b"\x5e\x03\x5c\xa1\xab\x1e\xde\xad\xbe\xef", true, &[23713, 43806, 57005, 48879]);
        check(b"\xc6\x09\x02\x02\x22\x42\x42\x46", true, &[2, 3, 5, 7, 11, 13, 17, 19, 23, 29]);
        let patched = [
            0x8e, 0x13, 0x2b, 0x21, 0x07, 0xd0, 0x1e, 0x00, 0x14, 0x70, 0x28, 0x32, 0x3c, 0x46, 0x50, 0x5a, 0x64, 0x6e,
            0x78, 0x82, 0x8c, 0x96, 0xa0, 0xaa, 0xb4, 0xbe, 0xfc, 0xe8,
        ];
        let mut expect = vec![2030, 2000, 2020, 1000000];
        expect.extend((0..16).map(|n| 2040 + 10 * n));
        check(&patched, true, &expect);
    }

    #[test]
    fn any_bytes_give_numbers_or_an_error() {
        let mut state = 1u64;
        for _ in 0..20_000 {
            let bytes: Vec<u8> = (0..24)
                .map(|_| {
                    state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                    (state >> 33) as u8
                })
                .collect();
            for (is_signed, is_version_2) in [(true, true), (false, true), (true, false)] {
                let mut ints = Ints::new(stream(&bytes), is_signed, is_version_2);
                while ints.take(1).is_ok() {}
            }
        }
    }
}
