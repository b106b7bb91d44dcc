//! Approximate number of distinct values: exact for few, HyperLogLog for many (Flajolet and others, 2007), with the
//! estimator of O. Ertl ("New cardinality estimation algorithms for HyperLogLog sketches", 2017). It needs no tables.
//!
//! With 4,096 registers the standard error is 1.6 %. A sketch depends on the set of values alone.

use std::collections::BTreeSet;

/// Bits of a hash that choose the register.
const REGISTER_BITS: u32 = 12;
const REGISTERS: usize = 1 << REGISTER_BITS;
/// Hashes that are kept as they are, at most.
const EXACT_MAX: usize = 256;

/// A set of hashes.
#[derive(Clone, Debug, PartialEq)]
pub enum DistinctSketch {
    Exact(BTreeSet<u64>),
    /// For each register the most leading zeros, plus one.
    Registers(Box<[u8; REGISTERS]>),
}

impl Default for DistinctSketch {
    fn default() -> Self {
        DistinctSketch::Exact(BTreeSet::new())
    }
}

fn register(registers: &mut [u8; REGISTERS], hash: u64) {
    let place = (hash >> (64 - REGISTER_BITS)) as usize;
    let rank = ((hash << REGISTER_BITS).leading_zeros().min(64 - REGISTER_BITS) + 1) as u8;
    registers[place] = registers[place].max(rank);
}

impl DistinctSketch {
    /// Adds the hash of a value.
    pub fn add(&mut self, hash: u64) {
        match self {
            DistinctSketch::Registers(registers) => register(registers, hash),
            DistinctSketch::Exact(hashes) => {
                hashes.insert(hash);
                if hashes.len() > EXACT_MAX {
                    let mut registers = Box::new([0; REGISTERS]);
                    hashes.iter().for_each(|&hash| register(&mut registers, hash));
                    *self = DistinctSketch::Registers(registers);
                }
            }
        }
    }

    /// Adds all values of another sketch.
    pub fn merge(&mut self, other: &DistinctSketch) {
        match (&mut *self, other) {
            (_, DistinctSketch::Exact(hashes)) => hashes.iter().for_each(|&hash| self.add(hash)),
            (DistinctSketch::Registers(own), DistinctSketch::Registers(theirs)) => {
                own.iter_mut().zip(theirs.iter()).for_each(|(own, &theirs)| *own = (*own).max(theirs));
            }
            (DistinctSketch::Exact(hashes), DistinctSketch::Registers(theirs)) => {
                let mut registers = theirs.clone();
                hashes.iter().for_each(|&hash| register(&mut registers, hash));
                *self = DistinctSketch::Registers(registers);
            }
        }
    }

    /// Returns the estimated number of distinct values.
    pub fn estimate(&self) -> u64 {
        let registers = match self {
            DistinctSketch::Exact(hashes) => return hashes.len() as u64,
            DistinctSketch::Registers(registers) => registers,
        };
        const RANKS: usize = (64 - REGISTER_BITS) as usize;
        let mut counts = [0u32; RANKS + 2];
        registers.iter().for_each(|&rank| counts[usize::from(rank).min(RANKS + 1)] += 1);
        let m = REGISTERS as f64;
        let mut z = m * tau(1.0 - f64::from(counts[RANKS + 1]) / m);
        for rank in (1..=RANKS).rev() {
            z = 0.5 * (z + f64::from(counts[rank]));
        }
        z += m * sigma(f64::from(counts[0]) / m);
        (m * m / (2.0 * std::f64::consts::LN_2 * z)).round() as u64
    }

    /// Appends the state.
    pub fn encode(&self, out: &mut Vec<u8>) {
        match self {
            DistinctSketch::Exact(hashes) => {
                out.extend_from_slice(&(hashes.len() as u16).to_le_bytes());
                hashes.iter().for_each(|hash| out.extend_from_slice(&hash.to_le_bytes()));
            }
            DistinctSketch::Registers(registers) => {
                out.extend_from_slice(&u16::MAX.to_le_bytes());
                out.extend_from_slice(&registers[..]);
            }
        }
    }

    /// Takes a state from the front of `from`; None if it is none.
    pub fn decode(from: &mut &[u8]) -> Option<DistinctSketch> {
        let (n, rest) = from.split_first_chunk::<2>()?;
        let n = u16::from_le_bytes(*n);
        if n == u16::MAX {
            let (registers, rest) = rest.split_first_chunk::<REGISTERS>()?;
            *from = rest;
            return Some(DistinctSketch::Registers(Box::new(*registers)));
        }
        let (hashes, rest) = rest.split_at_checked(8 * usize::from(n))?;
        *from = rest;
        let hashes = hashes.as_chunks::<8>().0.iter().map(|bytes| u64::from_le_bytes(*bytes));
        Some(DistinctSketch::Exact(hashes.collect()))
    }
}

fn sigma(mut x: f64) -> f64 {
    if x == 1.0 {
        return f64::INFINITY;
    }
    let (mut y, mut z) = (1.0, x);
    loop {
        x *= x;
        let before = z;
        z += x * y;
        y += y;
        if z == before {
            return z;
        }
    }
}

fn tau(mut x: f64) -> f64 {
    if x == 0.0 || x == 1.0 {
        return 0.0;
    }
    let (mut y, mut z) = (1.0, 1.0 - x);
    loop {
        x = x.sqrt();
        let before = z;
        y *= 0.5;
        z -= (1.0 - x) * (1.0 - x) * y;
        if z == before {
            return z / 3.0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::columns::grouping::mix;

    #[test]
    fn counts_within_the_error_whatever_the_order_and_parts() {
        for n in [0u64, 1, 255, 256, 257, 1000, 10_000, 300_000] {
            let mut whole = DistinctSketch::default();
            let mut parts = vec![DistinctSketch::default(); 3];
            for value in 0..n {
                let hash = mix(value.wrapping_mul(0x9e37_79b9_7f4a_7c15));
                whole.add(hash);
                parts[value as usize % 3].add(hash);
                parts[value as usize % 2].add(hash);
            }
            let mut merged = DistinctSketch::default();
            for part in parts.iter().rev() {
                let mut bytes = Vec::new();
                part.encode(&mut bytes);
                let mut rest = &bytes[..];
                merged.merge(&DistinctSketch::decode(&mut rest).unwrap());
                assert!(rest.is_empty());
            }
            assert_eq!(merged, whole);
            let error = whole.estimate().abs_diff(n) as f64;
            assert!(if n <= 256 { error == 0.0 } else { error <= 0.05 * n as f64 }, "{n}: {}", whole.estimate());
        }
    }
}
