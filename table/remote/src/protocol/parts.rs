//! Numbers and strings of a payload.

use yunti_table::format::row::read_number;

/// The rest of a payload.
#[derive(Clone, Copy)]
pub struct Parts<'a>(pub &'a [u8]);

impl<'a> Parts<'a> {
    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.0.split_off(..N)?.try_into().ok()
    }

    pub fn u8(&mut self) -> Option<u8> {
        self.array().map(|[byte]| byte)
    }

    pub fn u16(&mut self) -> Option<u16> {
        self.array().map(u16::from_le_bytes)
    }

    pub fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    pub fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    /// Returns bytes behind their length of 2 bytes.
    pub fn string(&mut self) -> Option<&'a [u8]> {
        let length = self.u16()?;
        self.0.split_off(..usize::from(length))
    }

    pub fn text(&mut self) -> Option<String> {
        String::from_utf8(self.string()?.to_vec()).ok()
    }

    /// Returns a number in LEB128.
    #[inline]
    pub fn number(&mut self) -> Option<usize> {
        read_number(&mut self.0)
    }

    /// Returns bytes behind their length in LEB128.
    #[inline]
    pub fn bytes(&mut self) -> Option<&'a [u8]> {
        let length = self.number()?;
        self.0.split_off(..length)
    }

    /// Returns true if nothing is left.
    pub fn is_at_end(self) -> bool {
        self.0.is_empty()
    }
}

/// Appends a string of at most 65,535 bytes; a longer one is cut.
pub fn put_string(text: &[u8], out: &mut Vec<u8>) {
    let text = &text[..text.len().min(usize::from(u16::MAX))];
    out.extend_from_slice(&(text.len() as u16).to_le_bytes());
    out.extend_from_slice(text);
}
