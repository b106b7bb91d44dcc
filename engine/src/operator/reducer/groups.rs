//! A batch of groups for reducers and combiners (yt_groups of the C ABI).
//! One of the listed files with `unsafe`: it reads through the ABI's pointers.

use std::marker::PhantomData;

use crate::operator::batch::Slices;

/// Flag: the last group goes on in the next batch.
pub const GROUP_MORE: u32 = 1;
/// Flag: the first group began in the batch before.
pub const GROUP_CONT: u32 = 2;

/// Groups of records as slices of one buffer, in the layout of yt_groups.
#[repr(C)]
pub struct Groups<'a> {
    size: u32,
    n: u32,
    base: *const u8,
    koff: *const u32,
    klen: *const u32,
    first: *const u32,
    voff: *const u32,
    vlen: *const u32,
    v8: *const u64,
    flags: u32,
    pad: u32,
    vkoff: *const u32,
    vklen: *const u32,
    lives: PhantomData<&'a [u8]>,
}

/// The values of a batch of groups: slices of the data, or packed numbers of eight bytes.
#[derive(Clone, Copy)]
pub enum Values<'a> {
    /// Values of any length.
    Slices { offsets: &'a [u32], lengths: &'a [u32] },
    /// Values of eight bytes.
    Eight(&'a [u64]),
}

/// Columns of a batch of groups.
pub struct GroupColumns<'a> {
    pub data: &'a [u8],
    /// Key of each group.
    pub keys: Slices<'a>,
    /// Number of the first value of each group, and the number of values.
    pub first: &'a [u32],
    pub values: Values<'a>,
    /// Key of each value, for groups by a part of the key.
    pub value_keys: Option<Slices<'a>>,
    /// `GROUP_MORE` and `GROUP_CONT`.
    pub flags: u32,
}

impl Values<'_> {
    /// Returns the number of values.
    pub fn len(&self) -> usize {
        match self {
            Values::Slices { offsets, .. } => offsets.len(),
            Values::Eight(v) => v.len(),
        }
    }
    /// Returns true if there are no values.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<'a> Groups<'a> {
    /// Returns groups in which group `i` has the key `koff[i], klen[i]` and the values `first[i]..first[i + 1]`.
    /// `flags` are GROUP_MORE and GROUP_CONT.
    ///
    /// # Panics
    /// Panics if the columns do not fit together: an error of the driver.
    pub fn new(
        data: &'a [u8],
        koff: &'a [u32],
        klen: &'a [u32],
        first: &'a [u32],
        values: Values<'a>,
        flags: u32,
    ) -> Groups<'a> {
        assert!(koff.len() == klen.len() && first.len() == koff.len() + 1);
        assert!(first.last().is_some_and(|&end| end as usize == values.len()));
        let (voff, vlen, v8) = match values {
            Values::Slices { offsets, lengths } => {
                assert!(offsets.len() == lengths.len());
                (offsets.as_ptr(), lengths.as_ptr(), std::ptr::null())
            }
            Values::Eight(v) => (std::ptr::null(), std::ptr::null(), v.as_ptr()),
        };
        Groups {
            size: size_of::<Groups<'static>>() as u32,
            n: koff.len() as u32,
            base: data.as_ptr(),
            koff: koff.as_ptr(),
            klen: klen.as_ptr(),
            first: first.as_ptr(),
            voff,
            vlen,
            v8,
            flags,
            pad: 0,
            vkoff: std::ptr::null(),
            vklen: std::ptr::null(),
            lives: PhantomData,
        }
    }

    /// Sets the key of each value, for groups by a part of the key.
    ///
    /// # Panics
    /// Panics if there are not as many keys as values.
    pub fn with_value_keys(mut self, keys: Slices<'a>) -> Groups<'a> {
        let values = self.range(self.len() - 1).end;
        assert!(keys.offsets.len() == values && keys.lengths.len() == values);
        (self.vkoff, self.vklen) = (keys.offsets.as_ptr(), keys.lengths.as_ptr());
        self
    }

    /// Returns the columns. The data are the bytes that the columns name, from the base of their offsets on.
    pub fn columns(&self) -> GroupColumns<'a> {
        let n = self.len();
        // SAFETY: `new` took the columns from slices of these numbers of elements, which 'a keeps alive.
        let (keys, first) = unsafe {
            let keys = Slices {
                offsets: std::slice::from_raw_parts(self.koff, n),
                lengths: std::slice::from_raw_parts(self.klen, n),
            };
            (keys, std::slice::from_raw_parts(self.first, n + 1))
        };
        let values = first[n] as usize;
        // SAFETY: as above; `new` and `with_value_keys` checked the number of values.
        let (slices, value_keys) = unsafe {
            let of = |offsets: *const u32, lengths: *const u32| Slices {
                offsets: std::slice::from_raw_parts(offsets, values),
                lengths: std::slice::from_raw_parts(lengths, values),
            };
            let slices = (!self.voff.is_null()).then(|| of(self.voff, self.vlen));
            (slices, (!self.vkoff.is_null()).then(|| of(self.vkoff, self.vklen)))
        };
        let end = |s: &Slices<'_>| s.offsets.iter().zip(s.lengths).map(|(&o, &l)| o as usize + l as usize).max();
        let ends = [Some(keys), slices, value_keys].into_iter().flatten().filter_map(|s| end(&s)).max();
        // SAFETY: the slices are within the data, so the data reach to the end of the last.
        let data = unsafe { std::slice::from_raw_parts(self.base, ends.unwrap_or(0)) };
        let values = match (slices, self.eights()) {
            (Some(Slices { offsets, lengths }), _) => Values::Slices { offsets, lengths },
            (None, numbers) => Values::Eight(numbers.unwrap_or_default()),
        };
        GroupColumns { data, keys, first, values, value_keys, flags: self.flags }
    }

    /// Returns the number of groups.
    pub fn len(&self) -> usize {
        self.n as usize
    }
    /// Returns true if there are no groups.
    pub fn is_empty(&self) -> bool {
        self.n == 0
    }
    /// Returns true if the last group goes on in the next batch.
    pub fn goes_on(&self) -> bool {
        self.flags & GROUP_MORE != 0
    }
    /// Returns true if the first group began in the batch before.
    pub fn continues(&self) -> bool {
        self.flags & GROUP_CONT != 0
    }

    /// Returns true if no more values of group `i` follow.
    pub fn completes(&self, i: usize) -> bool {
        i + 1 < self.len() || !self.goes_on()
    }

    /// Returns the key of group `i`. Panics if there is no such group.
    pub fn key(&self, i: usize) -> &'a [u8] {
        assert!(i < self.len());
        // SAFETY: i is in bounds, and `new` took the columns from slices of n elements whose ranges are within the
        // data.
        unsafe { std::slice::from_raw_parts(self.base.add(*self.koff.add(i) as usize), *self.klen.add(i) as usize) }
    }

    /// Returns the numbers of the values of group `i`.
    pub fn range(&self, i: usize) -> std::ops::Range<usize> {
        assert!(i < self.len());
        // SAFETY: `first` has n + 1 elements.
        unsafe { *self.first.add(i) as usize..*self.first.add(i + 1) as usize }
    }

    /// Returns the key of value number `v` (in the batch), or None if all values of a group share its key.
    pub fn value_key(&self, v: usize) -> Option<&'a [u8]> {
        if self.vkoff.is_null() {
            return None;
        }
        // SAFETY: `with_value_keys` checked that there is a key for each value; the slices are within the data.
        unsafe {
            assert!(v < *self.first.add(self.n as usize) as usize);
            let (offset, len) = (*self.vkoff.add(v) as usize, *self.vklen.add(v) as usize);
            Some(std::slice::from_raw_parts(self.base.add(offset), len))
        }
    }

    /// Returns all values as packed numbers, or None if values do not have eight bytes.
    pub fn eights(&self) -> Option<&'a [u64]> {
        if self.v8.is_null() {
            return None;
        }
        // SAFETY: `new` checked that first[n] values are there.
        unsafe { Some(std::slice::from_raw_parts(self.v8, *self.first.add(self.n as usize) as usize)) }
    }

    /// Returns value number `v` in the batch (not in the group).
    pub fn value(&self, v: usize) -> &'a [u8] {
        // SAFETY: `new` checked the number of values; the slices are within the data.
        unsafe {
            assert!(v < *self.first.add(self.n as usize) as usize);
            if self.v8.is_null() {
                std::slice::from_raw_parts(self.base.add(*self.voff.add(v) as usize), *self.vlen.add(v) as usize)
            } else {
                std::slice::from_raw_parts(self.v8.add(v).cast(), 8)
            }
        }
    }
}
