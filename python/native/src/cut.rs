//! Where words, lines and fields are: pairs of an offset and a length.

use memchr::memchr;
use yunti_engine::bytes::masks::mask_any;
use yunti_engine::bytes::words::Edges;

use crate::slices::Slices;

/// Bytes whose ends are found at a time; the masks stay in the first-level cache.
const STEP_BYTES: usize = 4096;

/// Writes the words of a text, as `yunti run wordcount` divides them, while there is room. Returns their number.
pub fn words(data: &[u8], to: &mut [u32]) -> usize {
    let mut pairs = Pairs { to, count: 0 };
    let _ = Edges::new().words(data, 0, |edges| {
        edges.chunks_exact(2).for_each(|word| pairs.push(word[0], word[1] - word[0]));
        Ok::<(), ()>(())
    });
    pairs.count
}

/// Writes the lines of a text, which end with LF, CR or CR LF, while there is room. Returns their number.
pub fn lines(data: &[u8], to: &mut [u32]) -> usize {
    let mut pairs = Pairs { to, count: 0 };
    let mut bits = [0u64; STEP_BYTES / 64];
    let mut start = 0;
    for (step, chunk) in data.chunks(STEP_BYTES).enumerate() {
        let words = chunk.len().div_ceil(64);
        mask_any(chunk, b"\n\r", &mut bits[..words]);
        for (word, &mask) in bits[..words].iter().enumerate() {
            let mut left = mask;
            while left != 0 {
                let end = step * STEP_BYTES + word * 64 + left.trailing_zeros() as usize;
                left &= left - 1;
                if end > 0 && end == start && data[end] == b'\n' && data[end - 1] == b'\r' {
                    // The second byte of CR LF.
                    start = end + 1;
                    continue;
                }
                pairs.push(start as u32, (end - start) as u32);
                start = end + 1;
            }
        }
    }
    if start < data.len() {
        pairs.push(start as u32, (data.len() - start) as u32);
    }
    pairs.count
}

/// Writes field `number` (from 0) of each slice; empty, at the slice's end, where a slice has fewer.
pub fn fields(slices: &Slices<'_>, number: usize, separator: u8, to: &mut [u32]) {
    for ((item, (at, len)), pair) in slices.items().zip(slices.places()).zip(to.chunks_exact_mut(2)) {
        let mut begin = 0;
        for _ in 0..number {
            begin = memchr(separator, &item[begin..]).map_or(len + 1, |n| begin + n + 1);
            if begin > len {
                break;
            }
        }
        let begin = begin.min(len);
        let end = memchr(separator, &item[begin..]).map_or(len, |n| begin + n);
        (pair[0], pair[1]) = ((at + begin) as u32, (end - begin) as u32);
    }
}

/// Pairs that are counted beyond the room for them.
struct Pairs<'t> {
    to: &'t mut [u32],
    count: usize,
}

impl Pairs<'_> {
    #[inline(always)]
    fn push(&mut self, at: u32, len: u32) {
        if let Some(pair) = self.to.get_mut(2 * self.count..2 * self.count + 2) {
            (pair[0], pair[1]) = (at, len);
        }
        self.count += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::slices::Columns;

    fn cut(data: &[u8], cut: fn(&[u8], &mut [u32]) -> usize) -> Vec<Vec<u8>> {
        let mut pairs = vec![0; 2 * cut(data, &mut [])];
        assert_eq!(2 * cut(data, &mut pairs), pairs.len());
        Slices::new(data, Columns::Pairs(&pairs)).unwrap().items().map(<[u8]>::to_vec).collect()
    }

    #[test]
    fn lines_end_with_lf_cr_or_both() {
        let texts: [(&str, &[&str]); 9] = [
            ("", &[]),
            ("a", &["a"]),
            ("\n", &[""]),
            ("a\nb", &["a", "b"]),
            ("a\r\nb\r", &["a", "b"]),
            ("\r\r\n\n", &["", "", ""]),
            ("\n\r", &["", ""]),
            ("\r\n\r\n", &["", ""]),
            ("a\n\rb\n", &["a", "", "b"]),
        ];
        for (text, expect) in texts {
            assert_eq!(
                cut(text.as_bytes(), lines),
                expect.iter().map(|l| l.as_bytes().to_vec()).collect::<Vec<_>>(),
                "{text:?}"
            );
        }
        for n in STEP_BYTES - 3..STEP_BYTES + 3 {
            let text = format!("{}\r\nz", "w".repeat(n));
            assert_eq!(cut(text.as_bytes(), lines), [&text.as_bytes()[..n], b"z"], "{n}");
        }
    }

    #[test]
    fn words_and_fields_are_found() {
        assert_eq!(cut(b" to be\tor\n", words), [b"to".as_slice(), b"be", b"or"]);
        let data = b"a,bb,,c";
        let slices = Slices::new(data, Columns::Apart(&[0, 2, 7], &[7, 2, 0])).unwrap();
        for (number, expect) in [(0, ["a", "bb", ""]), (1, ["bb", "", ""]), (2, ["", "", ""]), (3, ["c", "", ""])] {
            let mut to = [9; 6];
            fields(&slices, number, b',', &mut to);
            let found = Slices::new(data, Columns::Pairs(&to)).unwrap();
            assert_eq!(found.items().collect::<Vec<_>>(), expect.map(str::as_bytes), "{number}");
        }
        assert!(Slices::new(data, Columns::Pairs(&[6, 2])).is_none());
    }
}
