//! Integers in runs, version 2 (decode/ints.rs has the drawing): repeats, numbers at equal distances, or plain bits.

use super::OutStream;
use crate::file::varint;

/// Numbers of a run, at most.
const RUN_MAX: usize = 512;
/// Numbers of a short repeat, at most.
const SHORT_MAX: usize = 10;
/// Equal distances from which a run of their own pays.
const ALIKE_MIN: usize = 8;

/// Encoder of integers.
pub struct Ints {
    pub out: OutStream,
    is_signed: bool,
    waiting: Vec<i64>,
}

impl Ints {
    pub fn new(is_signed: bool) -> Ints {
        Ints { out: OutStream::default(), is_signed, waiting: Vec::with_capacity(RUN_MAX) }
    }

    pub fn push(&mut self, n: i64) {
        self.waiting.push(n);
        if self.waiting.len() == RUN_MAX {
            self.flush();
        }
    }

    /// Encodes all numbers that wait.
    pub fn flush(&mut self) {
        let waiting = std::mem::take(&mut self.waiting);
        let (mut begin, mut at) = (0, 0);
        while at < waiting.len() {
            let n = alike(&waiting[at..]);
            if n >= ALIKE_MIN || (begin == at && n >= 3 && n == waiting.len() - at) {
                self.direct(&waiting[begin..at]);
                self.run(&waiting[at..at + n]);
                begin = at + n;
            }
            at += n.max(2) - 1;
            at = at.max(begin);
        }
        self.direct(&waiting[begin..]);
        self.waiting = waiting;
        self.waiting.clear();
    }

    /// Appends numbers at equal distances, at least 3.
    fn run(&mut self, run: &[i64]) {
        let (first, distance) = (run[0], run[1].wrapping_sub(run[0]));
        let out = &mut self.out.plain;
        let plain = if self.is_signed { varint::zigzag(first) } else { first as u64 };
        if distance == 0 && run.len() <= SHORT_MAX {
            let bytes = (64 - plain.leading_zeros()).div_ceil(8).max(1) as usize;
            out.push(((bytes - 1) << 3 | (run.len() - 3)) as u8);
            out.extend_from_slice(&plain.to_be_bytes()[8 - bytes..]);
            return;
        }
        let n = run.len() - 1;
        out.extend_from_slice(&[0xc0 | (n >> 8) as u8, n as u8]);
        varint::put(plain, out);
        varint::put(varint::zigzag(distance), out);
    }

    /// Appends any numbers.
    fn direct(&mut self, numbers: &[i64]) {
        if numbers.is_empty() {
            return;
        }
        let plain = |&n: &i64| if self.is_signed { varint::zigzag(n) } else { n as u64 };
        let all = numbers.iter().map(plain).fold(0, |all, n| all | n);
        let (code, width) = width(64 - all.leading_zeros());
        let n = numbers.len() - 1;
        let out = &mut self.out.plain;
        out.extend_from_slice(&[0x40 | code << 1 | (n >> 8) as u8, n as u8]);
        let (mut bits, mut have) = (0u128, 0);
        for n in numbers.iter().map(plain) {
            bits = bits << width | u128::from(n);
            have += width;
            while have >= 8 {
                have -= 8;
                out.push((bits >> have) as u8);
            }
            bits &= (1 << have) - 1;
        }
        if have > 0 {
            out.push((bits << (8 - have)) as u8);
        }
    }
}

/// Returns how many of the first numbers have equal distances, which fit 64 bits.
fn alike(numbers: &[i64]) -> usize {
    let distance = |pair: &[i64]| pair[1].checked_sub(pair[0]);
    let mut pairs = numbers.windows(2).map(distance);
    let Some(Some(first)) = pairs.next() else { return numbers.len().min(1) };
    2 + pairs.take_while(|&distance| distance == Some(first)).count()
}

/// Returns the code and the width that hold `bits`.
fn width(bits: u32) -> (u8, u32) {
    match bits {
        0 | 1 => (0, 1),
        2..=24 => (bits as u8 - 1, bits),
        25..=26 => (24, 26),
        27..=28 => (25, 28),
        29..=30 => (26, 30),
        31..=32 => (27, 32),
        33..=40 => (28, 40),
        41..=48 => (29, 48),
        49..=56 => (30, 56),
        _ => (31, 64),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::orc::decode::tests::ints_of;

    #[test]
    fn numbers_come_back() {
        let mut state = 7u64;
        let mut random = || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            state >> 20
        };
        for round in 0..400 {
            let n = random() as usize % 1500;
            let shift = random() % 63;
            let mut numbers: Vec<i64> = Vec::with_capacity(n);
            while numbers.len() < n {
                let last = numbers.last().copied().unwrap_or(5);
                let some = random() as usize % 20 + 1;
                let step = if random().is_multiple_of(2) { 0 } else { (random() % 9) as i64 - 4 };
                for k in 0..some.min(n - numbers.len()) {
                    numbers.push(match round % 3 {
                        0 => last.wrapping_add(step.wrapping_mul(k as i64 + 1)),
                        1 => (random().wrapping_mul(0x9e37_79b9_7f4a_7c15) >> shift) as i64,
                        _ => [i64::MIN, i64::MAX, 0, -1][random() as usize % 4],
                    });
                }
            }
            for is_signed in [true, false] {
                let numbers: Vec<i64> = numbers.iter().map(|n| if is_signed { *n } else { n & i64::MAX }).collect();
                let mut ints = Ints::new(is_signed);
                numbers.iter().for_each(|&n| ints.push(n));
                ints.flush();
                assert_eq!(ints_of(&ints.out.plain, is_signed, numbers.len()), Some(numbers), "{round}");
            }
        }
        let mut ints = Ints::new(false);
        (0..512).for_each(|n| ints.push(n));
        assert_eq!(ints.out.plain, [0xc1, 0xff, 0, 2]);
    }
}
