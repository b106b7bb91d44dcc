//! Functions of a Go program by their addresses, with what is inlined into them: the table that the runtime itself uses
//! for its stack traces, which is in stripped programs too. Formats of Go 1.18 and later: `runtime/symtab.go`,
//! `internal/abi/symtab.go`.
//!
//! ```text
//!   header    magic, nfunc, offsets of the parts
//!   names     strings that end with a zero
//!   values    for each function: values by code address, as pairs of steps
//!   list      (entry, offset of the function's record) .., sorted; then the records
//! ```

use super::image::Image;

/// Bytes of the header that are read.
pub const HEADER_BYTES: usize = 72;
/// First words of a table: of Go 1.18 and 1.19, and of later ones.
const MAGICS: [u32; 2] = [0xffff_fff0, 0xffff_fff1];
/// Numbers of the tables of inlined calls: `PCDATA_InlTreeIndex`, `FUNCDATA_InlTree`.
const INLINED_AT: usize = 2;
const INLINED_CALLS: usize = 3;
/// Inlined calls within each other.
const DEPTH_MAX: usize = 32;
/// Steps of one table of values.
const STEPS_MAX: usize = 1 << 20;
const NONE: u32 = u32::MAX;

/// Table of functions.
pub struct GoFunctions {
    bytes: Vec<u8>,
    text: u64,
    /// Smallest step between code addresses.
    quantum: u64,
    number: usize,
    names: usize,
    values: usize,
    list: usize,
    /// Bytes of a function's record.
    record_bytes: usize,
    /// File with the tables of inlined calls, and the address of their begin.
    inlined: Option<(Image, u64)>,
}

/// Returns true for the first eight bytes of a table.
pub fn begins(head: &[u8]) -> bool {
    let Some(magic) = head.get(..4).and_then(|bytes| bytes.try_into().ok()).map(u32::from_le_bytes) else {
        return false;
    };
    MAGICS.contains(&magic)
        && head.get(4..6) == Some(&[0, 0])
        && matches!(head.get(6), Some(1 | 2 | 4))
        && head.get(7) == Some(&8)
}

impl GoFunctions {
    /// Parses a table. `text`: address that the table's addresses count from.
    pub fn parse(bytes: Vec<u8>, text: u64, inlined: Option<(Image, u64)>) -> Option<GoFunctions> {
        begins(&bytes).then_some(())?;
        let word = |at: usize| usize::try_from(u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?)).ok();
        let is_old = bytes[0] == 0xf0;
        let (number, names, values, list) = (word(8)?, word(32)?, word(56)?, word(64)?);
        let ends = list.checked_add(number.checked_mul(8)?)?;
        if number == 0 || ends > bytes.len() || names > bytes.len() || values > bytes.len() {
            return None;
        }
        let quantum = bytes[6].into();
        let record_bytes = if is_old { 40 } else { 44 };
        // The calls of Go 1.18 and 1.19 have another form.
        let inlined = inlined.filter(|_| !is_old);
        Some(GoFunctions { bytes, text, quantum, number, names, values, list, record_bytes, inlined })
    }

    /// Returns the names of the functions at an address, the outermost first, then those inlined into it.
    pub fn names(&self, address: u64) -> Option<Vec<String>> {
        let (entry, record) = self.record(address)?;
        let mut names = vec![self.name(self.number_at(record + 4)?)?];
        names.extend(self.inlined(address, entry, record).unwrap_or_default());
        Some(names)
    }

    /// Returns the name of the function at an address, without inlined ones.
    pub fn function(&self, address: u64) -> Option<String> {
        let (_, record) = self.record(address)?;
        self.name(self.number_at(record + 4)?)
    }

    /// Returns the bytes between the stack pointer and the caller's return address (x86-64), or the caller's stack
    /// pointer (aarch64), at an address.
    pub fn frame_bytes(&self, address: u64) -> Option<u64> {
        let (entry, record) = self.record(address)?;
        let bytes = self.value(self.number_at(record + 16)?, entry, address)?;
        u64::try_from(bytes).ok()
    }

    /// Returns the entry of the function at an address, and the place of its record.
    fn record(&self, address: u64) -> Option<(u64, usize)> {
        let offset = u32::try_from(address.checked_sub(self.text)?).ok()?;
        let entry_of = |i: usize| self.number_at(self.list + i * 8).unwrap_or(NONE);
        let (mut low, mut high) = (0, self.number);
        while low < high {
            let middle = low.midpoint(high);
            if entry_of(middle) <= offset { low = middle + 1 } else { high = middle }
        }
        let i = low.checked_sub(1)?;
        // Behind the last function, its end is in the list.
        if i + 1 == self.number && self.number_at(self.list + self.number * 8).is_some_and(|end| offset >= end) {
            return None;
        }
        let record = self.list + self.number_at(self.list + i * 8 + 4)? as usize;
        Some((self.text + u64::from(entry_of(i)), record))
    }

    fn number_at(&self, at: usize) -> Option<u32> {
        Some(u32::from_le_bytes(self.bytes.get(at..at.checked_add(4)?)?.try_into().ok()?))
    }

    fn name(&self, offset: u32) -> Option<String> {
        let bytes = self.bytes.get(self.names + offset as usize..)?;
        let end = bytes.iter().take(4096).position(|b| *b == 0)?;
        Some(String::from_utf8_lossy(&bytes[..end]).into_owned())
    }

    /// Returns the functions inlined at an address, the outermost first.
    fn inlined(&self, address: u64, entry: u64, record: usize) -> Option<Vec<String>> {
        let (image, begin) = self.inlined.as_ref()?;
        let tables = self.number_at(record + 28)? as usize;
        let calls = usize::from(*self.bytes.get(record + self.record_bytes - 1)?);
        if tables <= INLINED_AT || calls <= INLINED_CALLS {
            return None;
        }
        let behind = record + self.record_bytes;
        let table = self.number_at(behind + INLINED_AT * 4)?;
        let tree = self.number_at(behind + tables * 4 + INLINED_CALLS * 4)?;
        if table == 0 || tree == NONE {
            return None;
        }
        let mut names = Vec::new();
        let mut at = address;
        for _ in 0..DEPTH_MAX {
            let Ok(call) = u64::try_from(self.value(table, entry, at)?) else { break };
            // internal/abi: funcID, padding, name, offset of the call in the function, first line.
            let mut bytes = [0; 16];
            image
                .read(begin.wrapping_add(u64::from(tree)).wrapping_add(call.wrapping_mul(16)), &mut bytes)
                .then_some(())?;
            let number = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
            names.push(self.name(number(4))?);
            at = entry + u64::from(number(8));
        }
        names.reverse();
        Some(names)
    }

    /// Returns the value of a table at an address.
    fn value(&self, table: u32, entry: u64, address: u64) -> Option<i64> {
        let mut bytes = self.bytes.get(self.values + table as usize..)?.iter();
        let mut varint = || {
            let (mut number, mut shift) = (0u32, 0);
            loop {
                let byte = *bytes.next()?;
                number |= u32::from(byte & 0x7f).checked_shl(shift)?;
                shift += 7;
                if byte < 0x80 {
                    return Some(number);
                }
            }
        };
        let (mut value, mut end) = (-1i64, entry);
        for step in 0..STEPS_MAX {
            let change = varint()?;
            if change == 0 && step > 0 {
                return None;
            }
            let half = i64::from(change >> 1);
            value += if change & 1 == 1 { !half } else { half };
            end += u64::from(varint()?) * self.quantum;
            if address < end {
                return Some(value);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: u64 = 0x40_0000;

    /// Two functions: `main.a` of 0x20 bytes, and `main.b` of 0x10.
    fn table() -> Vec<u8> {
        let mut bytes = vec![0xf1, 0xff, 0xff, 0xff, 0, 0, 1, 8];
        let (names, values, list) = (72u64, 96u64, 104u64);
        for word in [2, 0, 0, names, 0, 0, values, list] {
            bytes.extend(word.to_le_bytes());
        }
        bytes.extend(b"\0main.a\0main.b\0");
        bytes.resize(values as usize, 0);
        // -1 for 0x10 bytes, then 0 for 0x10.
        bytes.extend([0, 0x10, 2, 0x10, 0]);
        bytes.resize(list as usize, 0);
        for number in [0u32, 20, 0x20, 64, 0x30] {
            bytes.extend(number.to_le_bytes());
        }
        for (entry, name) in [(0u32, 1u32), (0x20, 8)] {
            let mut record = [entry.to_le_bytes(), name.to_le_bytes()].concat();
            record.resize(44, 0);
            bytes.extend(record);
        }
        bytes
    }

    #[test]
    fn names_of_functions() {
        let functions = GoFunctions::parse(table(), TEXT, None).unwrap();
        let name = |at: u64| functions.function(TEXT + at);
        assert_eq!(name(0).as_deref(), Some("main.a"));
        assert_eq!(name(0x1f).as_deref(), Some("main.a"));
        assert_eq!(name(0x20).as_deref(), Some("main.b"));
        assert_eq!(functions.names(TEXT + 0x2f), Some(vec!["main.b".to_owned()]));
        assert_eq!(name(0x30), None);
        assert_eq!(functions.function(TEXT - 1), None);
    }

    #[test]
    fn values_by_address() {
        let functions = GoFunctions::parse(table(), TEXT, None).unwrap();
        let value = |at: u64| functions.value(0, TEXT, TEXT + at);
        assert_eq!((value(0), value(0xf), value(0x10), value(0x1f)), (Some(-1), Some(-1), Some(0), Some(0)));
        assert_eq!(value(0x20), None);
    }

    #[test]
    fn damaged_tables() {
        let whole = table();
        for end in 0..whole.len() {
            if let Some(functions) = GoFunctions::parse(whole[..end].to_vec(), TEXT, None) {
                let _ = functions.names(TEXT + 0x21);
            }
        }
        for at in 0..whole.len() {
            let mut bytes = whole.clone();
            bytes[at] = 0xff;
            if let Some(functions) = GoFunctions::parse(bytes, TEXT, None) {
                let _ = (functions.names(TEXT + 0x21), functions.value(0, TEXT, TEXT + 0x11));
            }
        }
        assert!(GoFunctions::parse(Vec::new(), TEXT, None).is_none());
    }
}
