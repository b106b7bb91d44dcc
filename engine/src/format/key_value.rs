//! Key/value lines: the key ends at the first separator, the value follows. A line without a separator is all key (as
//! in Hadoop's KeyValueTextInputFormat).

use super::text::LineSplitter;

/// Columns of a batch; keys begin with their lines.
#[derive(Default)]
pub struct KeyValueSplitter {
    /// Length of each key in bytes.
    pub key_lengths: Vec<u32>,
    /// Offset of each value in the batch.
    pub value_offsets: Vec<u32>,
    /// Length of each value in bytes.
    pub value_lengths: Vec<u32>,
}

impl KeyValueSplitter {
    /// Sets the columns to the lines of `bytes` that `lines` found.
    pub fn split(&mut self, bytes: &[u8], lines: &LineSplitter, separator: u8) {
        self.key_lengths.clear();
        self.value_offsets.clear();
        self.value_lengths.clear();
        for (&offset, &length) in lines.offsets.iter().zip(&lines.lengths) {
            let line = &bytes[offset as usize..(offset + length) as usize];
            let key = memchr::memchr(separator, line).map_or(length, |at| at as u32);
            let value = (key + 1).min(length);
            self.key_lengths.push(key);
            self.value_offsets.push(offset + value);
            self.value_lengths.push(length - value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::text::LineEnd;
    use super::*;

    #[test]
    fn cuts_at_the_first_separator() {
        let text = b"a\tb\n\tv\nk\t\nnone\na\tb\tc\n\n";
        let mut lines = LineSplitter::default();
        lines.split(text, &LineEnd::Any);
        let mut kv = KeyValueSplitter::default();
        kv.split(text, &lines, b'\t');
        let got: Vec<(&[u8], &[u8])> = (0..lines.offsets.len())
            .map(|i| {
                let (k, v) = (lines.offsets[i] as usize, kv.value_offsets[i] as usize);
                (&text[k..k + kv.key_lengths[i] as usize], &text[v..v + kv.value_lengths[i] as usize])
            })
            .collect();
        let expect: [(&[u8], &[u8]); 6] =
            [(b"a", b"b"), (b"", b"v"), (b"k", b""), (b"none", b""), (b"a", b"b\tc"), (b"", b"")];
        assert_eq!(got, expect);
    }
}
