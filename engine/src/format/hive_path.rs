//! Directories that name values of columns, as Hive and Spark write and read them: `day=2026-11-01/city=New York`.
//!
//! ```text
//!   bytes 00 to 1f, 7f    " # % ' * / : = ? \ { [ ] ^      bytes that are no UTF-8      %XX, as in URLs
//!   null, empty text                                                                    __HIVE_DEFAULT_PARTITION__
//! ```

/// Text that stands for a null, and for the empty text, which cannot be the end of a directory's name.
pub const NOTHING: &str = "__HIVE_DEFAULT_PARTITION__";

/// Appends `name=value` for a column; None: a null.
pub fn put_pair(name: &[u8], value: Option<&[u8]>, out: &mut Vec<u8>) {
    put_escaped(name, out);
    out.push(b'=');
    match value {
        Some(value) if !value.is_empty() => put_escaped(value, out),
        _ => out.extend_from_slice(NOTHING.as_bytes()),
    }
}

/// Returns the name and the value of a directory's name, without escapes; the value is None for a null. Returns None
/// for a name without `=`.
pub fn pair_of(directory: &[u8]) -> Option<(Vec<u8>, Option<Vec<u8>>)> {
    let at = directory.iter().position(|&byte| byte == b'=').filter(|&at| at > 0)?;
    let (name, value) = (&directory[..at], &directory[at + 1..]);
    let is_nothing = value.is_empty() || value == NOTHING.as_bytes();
    Some((unescaped(name), (!is_nothing).then(|| unescaped(value))))
}

fn put_escaped(text: &[u8], out: &mut Vec<u8>) {
    for chunk in text.utf8_chunks() {
        for &byte in chunk.valid().as_bytes() {
            if is_plain(byte) { out.push(byte) } else { put_hex(byte, out) }
        }
        chunk.invalid().iter().for_each(|&byte| put_hex(byte, out));
    }
}

fn put_hex(byte: u8, out: &mut Vec<u8>) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    out.extend([b'%', DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]);
}

/// Returns true for a byte that Hive's `FileUtils.escapePathName` keeps.
fn is_plain(byte: u8) -> bool {
    byte > 0x1f && byte != 0x7f && !b"\"#%'*/:=?\\{[]^".contains(&byte)
}

fn unescaped(text: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(text.len());
    let mut rest = text;
    while let [byte, tail @ ..] = rest {
        let code = match rest {
            [b'%', a, b, ..] => {
                let digit = |byte: &u8| char::from(*byte).to_digit(16);
                digit(a).zip(digit(b)).map(|(a, b)| (16 * a + b) as u8)
            }
            _ => None,
        };
        // A percent sign before anything else stands for itself.
        plain.push(code.unwrap_or(*byte));
        rest = if code.is_some() { &rest[3..] } else { tail };
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(name: &str, value: Option<&[u8]>) -> String {
        let mut out = Vec::new();
        put_pair(name.as_bytes(), value, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn names_as_hive_writes_them() {
        for (value, expect) in [
            (Some(&b"2026-11-01"[..]), "c=2026-11-01"),
            (Some(b"New York"), "c=New York"),
            (Some(b"a/b=c%d"), "c=a%2Fb%3Dc%25d"),
            (Some(b"10:30"), "c=10%3A30"),
            (Some(b"\t\n\x01\x1f\x7f\0"), "c=%09%0A%01%1F%7F%00"),
            (Some(b"\"#'*?\\{[]^"), "c=%22%23%27%2A%3F%5C%7B%5B%5D%5E"),
            (Some(b"}<>|&+~.."), "c=}<>|&+~.."),
            (Some("Zürich 云".as_bytes()), "c=Zürich 云"),
            (Some(b"\xffa\xc3"), "c=%FFa%C3"),
            (Some(b""), "c=__HIVE_DEFAULT_PARTITION__"),
            (None, "c=__HIVE_DEFAULT_PARTITION__"),
        ] {
            assert_eq!(pair("c", value), expect);
        }
        assert_eq!(pair("a=b/c", Some(b"1")), "a%3Db%2Fc=1");
    }

    #[test]
    fn all_bytes_come_back() {
        let all: Vec<u8> = (0..=255).collect();
        let written = pair("a/b", Some(&all));
        assert!(!written.contains('/'), "{written}");
        assert_eq!(pair_of(written.as_bytes()), Some((b"a/b".to_vec(), Some(all))));
        assert_eq!(pair_of(pair("c", None).as_bytes()), Some((b"c".to_vec(), None)));
    }

    #[test]
    fn names_of_others() {
        for (directory, expect) in [
            ("day", None),
            ("=1", None),
            ("a=b=c", Some(("a", Some("b=c")))),
            ("a=", Some(("a", None))),
            ("a=5%", Some(("a", Some("5%")))),
            ("a=%4", Some(("a", Some("%4")))),
            ("a=%zz%41%2f", Some(("a", Some("%zzA/")))),
        ] {
            let expect: Option<(Vec<u8>, Option<Vec<u8>>)> =
                expect.map(|(name, value): (&str, Option<&str>)| (name.into(), value.map(Into::into)));
            assert_eq!(pair_of(directory.as_bytes()), expect, "{directory}");
        }
    }
}
