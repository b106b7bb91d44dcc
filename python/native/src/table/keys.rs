//! Keys in buffers of Python: eight bytes each, or of any length between offsets.

use yunti_base::{Code, Error, Result};

use crate::view;

/// Buffers of keys, or of the values of one key.
#[repr(C)]
pub struct RawKeys {
    data: *const u8,
    data_bytes: usize,
    /// `count + 1` places in `data`.
    offsets: *const u8,
    /// Bytes of an offset: 4 or 8, as in Arrow; 0 for keys of 8 bytes, without offsets.
    offset_bytes: u32,
    count: usize,
}

/// Keys, as lookups take them.
pub enum Keys<'a> {
    Eights(&'a [[u8; 8]]),
    /// Data, and offsets of 4 bytes.
    Short(&'a [u8], &'a [[u8; 4]]),
    /// Data, and offsets of 8 bytes.
    Long(&'a [u8], &'a [[u8; 8]]),
}

impl RawKeys {
    pub fn keys<'a>(&self) -> Result<Keys<'a>> {
        let data = view(self.data, self.data_bytes);
        match self.offset_bytes {
            0 if self.data_bytes == 8 * self.count => Ok(Keys::Eights(data.as_chunks().0)),
            4 => Ok(Keys::Short(data, view(self.offsets.cast(), self.count + 1))),
            8 => Ok(Keys::Long(data, view(self.offsets.cast(), self.count + 1))),
            _ => Err(beyond()),
        }
    }

    /// Returns values as a range takes them.
    pub fn limit(&self) -> Result<Vec<Vec<u8>>> {
        let values = self.keys()?;
        (0..values.len()).map(|at| Ok(values.get(at)?.to_vec())).collect()
    }
}

impl<'a> Keys<'a> {
    pub fn len(&self) -> usize {
        match self {
            Keys::Eights(keys) => keys.len(),
            Keys::Short(_, offsets) => offsets.len() - 1,
            Keys::Long(_, offsets) => offsets.len() - 1,
        }
    }

    pub fn get(&self, at: usize) -> Result<&'a [u8]> {
        let place = |offset: i64| usize::try_from(offset).unwrap_or(usize::MAX);
        let (data, begin, end) = match self {
            Keys::Eights(keys) => return Ok(&keys[at]),
            Keys::Short(data, offsets) => {
                let [begin, end] = [at, at + 1].map(|at| place(i32::from_le_bytes(offsets[at]).into()));
                (data, begin, end)
            }
            Keys::Long(data, offsets) => {
                let [begin, end] = [at, at + 1].map(|at| place(i64::from_le_bytes(offsets[at])));
                (data, begin, end)
            }
        };
        data.get(begin..end).ok_or_else(beyond)
    }
}

fn beyond() -> Error {
    Error::new(Code::Usage, "keys lie beyond their buffer")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_each_form() {
        let numbers = [1_i64, -2];
        let keys = RawKeys {
            data: numbers.as_ptr().cast(),
            data_bytes: 16,
            offsets: std::ptr::null(),
            offset_bytes: 0,
            count: 2,
        };
        assert_eq!(keys.keys().unwrap().get(1).unwrap(), (-2_i64).to_le_bytes());
        assert!(RawKeys { count: 3, ..keys }.keys().is_err());
        let offsets = [1_i32, 3, 4, -1];
        let texts = |offsets: *const u8, offset_bytes, count| RawKeys {
            data: b"abcd".as_ptr(),
            data_bytes: 4,
            offsets,
            offset_bytes,
            count,
        };
        let short = texts(offsets.as_ptr().cast(), 4, 3);
        let keys = short.keys().unwrap();
        assert_eq!((keys.len(), keys.get(0).unwrap(), keys.get(1).unwrap()), (3, &b"bc"[..], &b"d"[..]));
        assert!(keys.get(2).is_err());
        let offsets = [0_i64, 5];
        assert!(texts(offsets.as_ptr().cast(), 8, 1).keys().unwrap().get(0).is_err());
    }
}
