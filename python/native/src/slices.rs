//! Slices of a buffer: columns of offsets and lengths, side by side or in pairs.

/// Offsets and lengths of slices, and the buffer that they point into. Every slice lies in the buffer.
#[derive(Clone, Copy)]
pub struct Slices<'a> {
    data: &'a [u8],
    columns: Columns<'a>,
}

/// The two columns.
#[derive(Clone, Copy)]
pub enum Columns<'a> {
    /// Offsets, and lengths, each one behind the other.
    Apart(&'a [u32], &'a [u32]),
    /// An offset and a length in turn.
    Pairs(&'a [u32]),
}

impl<'a> Columns<'a> {
    /// Returns the number of slices.
    pub fn len(&self) -> usize {
        match self {
            Columns::Apart(offsets, _) => offsets.len(),
            Columns::Pairs(pairs) => pairs.len() / 2,
        }
    }

    /// Returns the offset and the length of each slice.
    #[inline(always)]
    pub fn places(self) -> impl Iterator<Item = (usize, usize)> + 'a {
        (0..self.len()).map(move |i| match self {
            Columns::Apart(offsets, lengths) => (offsets[i] as usize, lengths[i] as usize),
            Columns::Pairs(pairs) => (pairs[2 * i] as usize, pairs[2 * i + 1] as usize),
        })
    }
}

impl<'a> Slices<'a> {
    /// Returns the slices, or None if one ends beyond the buffer.
    pub fn new(data: &'a [u8], columns: Columns<'a>) -> Option<Slices<'a>> {
        let slices = Slices { data, columns };
        slices.places().all(|(at, len)| at + len <= data.len()).then_some(slices)
    }

    /// Returns the number of slices.
    pub fn len(&self) -> usize {
        self.columns.len()
    }

    /// Returns the offset and the length of each slice.
    #[inline(always)]
    pub fn places(&self) -> impl Iterator<Item = (usize, usize)> + 'a {
        self.columns.places()
    }

    /// Returns the bytes of each slice.
    #[inline(always)]
    pub fn items(&self) -> impl Iterator<Item = &'a [u8]> + 'a {
        let data = self.data;
        self.places().map(move |(at, len)| &data[at..at + len])
    }
}
