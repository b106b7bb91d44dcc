//! Approximate number of different values of each group, by the engine's sketch.

use yunti_engine::columns::aggregate::distinct_sketch::DistinctSketch;
use yunti_engine::columns::grouping::{hash_bytes, mix};
use yunti_engine::columns::normal::ordered_float;
use yunti_engine::columns::vector::{Data, Vector};

use super::{Argument, Rows, State, same};

#[derive(Default)]
pub struct Sketches {
    sketches: Vec<DistinctSketch>,
    bytes: usize,
}

/// Returns the bytes that a sketch takes beside its own, about.
fn bytes_of(sketch: &DistinctSketch) -> usize {
    match sketch {
        DistinctSketch::Exact(hashes) => 16 * hashes.len(),
        DistinctSketch::Registers(registers) => registers.len(),
    }
}

impl Sketches {
    #[inline]
    fn change(&mut self, group: usize, f: impl FnOnce(&mut DistinctSketch)) {
        let sketch = &mut self.sketches[group];
        let before = bytes_of(sketch);
        f(sketch);
        self.bytes = self.bytes + bytes_of(sketch) - before;
    }
}

/// Hashes of equal numbers are equal in every shape; mixed twice, since the sketch takes the leading bits.
fn hash_of(number: i128) -> u64 {
    mix(mix(number as u64) ^ (number >> 64) as u64)
}

impl State for Sketches {
    fn resize(&mut self, groups: usize) {
        self.sketches.resize(groups, DistinctSketch::default());
    }

    fn reserve(&mut self, groups: usize) {
        self.sketches.reserve_exact(groups - self.sketches.len());
    }

    fn clear(&mut self) {
        self.sketches.clear();
        self.bytes = 0;
    }

    fn group_bytes(&self) -> usize {
        size_of::<DistinctSketch>()
    }

    fn other_bytes(&self) -> usize {
        self.bytes
    }

    fn update(&mut self, rows: &Rows<'_>, argument: Option<&Argument>) {
        let Some(Argument { vector, .. }) = argument else { return };
        let nulls = vector.nulls.as_ref();
        let mut put = |group: usize, hash: u64| self.change(group, |sketch| sketch.add(hash));
        match &vector.data {
            Data::Bools(values) => rows.each(nulls, |group, row| put(group, hash_of(values[row].into()))),
            Data::Ints(values) | Data::SmallDecimals(values) => {
                rows.each(nulls, |group, row| put(group, hash_of(values[row].into())));
            }
            Data::Decimals(values) => rows.each(nulls, |group, row| put(group, hash_of(values[row]))),
            Data::Floats(values) => {
                rows.each(nulls, |group, row| put(group, hash_of(ordered_float(values[row]).into())));
            }
            Data::Bytes(values) => rows.each(nulls, |group, row| put(group, hash_bytes(values.get(row)))),
            Data::Codes(codes, values) => {
                rows.each(nulls, |group, row| put(group, hash_bytes(values.get(codes[row] as usize))));
            }
            Data::NumberCodes(..) => {}
        }
    }

    fn merge(&mut self, from: &dyn State, groups: &[u32], to: &[u32]) {
        let from = same::<Sketches>(from);
        for (&group, &to) in groups.iter().zip(to) {
            self.change(to as usize, |sketch| sketch.merge(&from.sketches[group as usize]));
        }
    }

    fn encode(&self, group: usize, out: &mut Vec<u8>) {
        self.sketches[group].encode(out);
    }

    fn decode(&mut self, group: usize, from: &mut &[u8]) -> Option<()> {
        let other = DistinctSketch::decode(from)?;
        self.change(group, |sketch| sketch.merge(&other));
        Some(())
    }

    fn results(&self, groups: &[u32]) -> Vector {
        Vector::of(Data::Ints(groups.iter().map(|&group| self.sketches[group as usize].estimate() as i64).collect()))
    }
}
