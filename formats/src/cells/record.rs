//! Key and value of a record from its cells, as all columns of Yunti stand in records (docs/formats/columns.md).
//!
//! ```text
//!   one column       its bytes as they are
//!   several          a TAB b TAB c      with \t \n \r \\ for these bytes in a column
//!   marked nulls     the same, also of one column, and \N for a null
//! ```

/// Appends a column of several.
pub fn put_escaped(column: &[u8], to: &mut Vec<u8>) {
    let mut rest = column;
    while let Some(at) = rest.iter().position(|byte| matches!(byte, b'\t' | b'\n' | b'\r' | b'\\')) {
        to.extend_from_slice(&rest[..at]);
        to.extend_from_slice(match rest[at] {
            b'\t' => b"\\t",
            b'\n' => b"\\n",
            b'\r' => b"\\r",
            _ => b"\\\\",
        });
        rest = &rest[at + 1..];
    }
    to.extend_from_slice(rest);
}

/// Returns the columns of a text that `put_escaped` wrote; None for a marked null.
pub fn split(text: &[u8]) -> impl Iterator<Item = Option<std::borrow::Cow<'_, [u8]>>> {
    text.split(|&byte| byte == b'\t').map(|column| match column {
        b"\\N" => None,
        column => Some(unescape(column)),
    })
}

/// Returns a column without its escapes.
pub fn unescape(column: &[u8]) -> std::borrow::Cow<'_, [u8]> {
    if !column.contains(&b'\\') {
        return column.into();
    }
    let mut bytes = column.iter();
    let mut plain = Vec::with_capacity(column.len());
    while let Some(&byte) = bytes.next() {
        plain.push(match byte {
            b'\\' => match bytes.next() {
                Some(b't') => b'\t',
                Some(b'n') => b'\n',
                Some(b'r') => b'\r',
                Some(&other) => other,
                None => b'\\',
            },
            other => other,
        });
    }
    plain.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_come_back() {
        let columns: [&[u8]; 6] = [b"", b"a\tb", b"\\", b"\\N", b"line\r\n", b"plain"];
        let mut text = Vec::new();
        for (number, column) in columns.iter().enumerate() {
            if number > 0 {
                text.push(b'\t');
            }
            put_escaped(column, &mut text);
        }
        text.extend_from_slice(b"\t\\N");
        let back: Vec<_> = split(&text).map(|column| column.map(|c| c.into_owned())).collect();
        let expect: Vec<_> = columns.iter().map(|c| Some(c.to_vec())).chain([None]).collect();
        assert_eq!(back, expect);
    }
}
