//! Statements of a text, split at semicolons outside quotes and comments.

/// One statement where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    pub text: String,
    /// Line and column of its first character, from 1.
    pub line: usize,
    pub column: usize,
}

/// Returns the statements of a text, and true if the last one ends with a semicolon or there is none.
pub fn split(text: &str) -> (Vec<Statement>, bool) {
    split_escaped(text, false)
}

/// Does the same as [`split`] for a dialect in which a backslash escapes a quote, if `escaped`.
pub fn split_escaped(text: &str, escaped: bool) -> (Vec<Statement>, bool) {
    let bytes = text.as_bytes();
    let (mut found, mut start, mut at) = (Vec::new(), 0, 0);
    let mut is_complete = true;
    while at < bytes.len() {
        match bytes[at] {
            b';' => {
                add(text, start, at, &mut found);
                start = at + 1;
                at += 1;
                is_complete = true;
                continue;
            }
            b'-' if bytes[at..].starts_with(b"--") => {
                at += bytes[at..].iter().position(|&byte| byte == b'\n').unwrap_or(bytes.len() - at);
                continue;
            }
            b'/' if bytes[at..].starts_with(b"/*") => {
                let end = comment_end(&bytes[at..]);
                is_complete &= end.is_some();
                at += end.unwrap_or(bytes.len() - at);
                continue;
            }
            byte if byte.is_ascii_whitespace() => at += 1,
            byte => {
                is_complete = false;
                at += match byte {
                    b'\'' | b'"' | b'`' => {
                        let escapes = escaped || byte == b'\'' && at > 0 && is_escape_prefix(&bytes[..at]);
                        quoted_len(&bytes[at..], byte, escapes)
                    }
                    b'$' if at == 0 || !is_word(bytes[at - 1]) => dollar_len(&bytes[at..]),
                    _ => 1,
                };
            }
        }
    }
    add(text, start, text.len(), &mut found);
    (found, is_complete)
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

/// Returns true behind the `E` of `E'..'`.
fn is_escape_prefix(before: &[u8]) -> bool {
    matches!(before, [.., b'e' | b'E']) && !matches!(before, [.., byte, _] if is_word(*byte))
}

/// Returns the length of a comment, which may have others in it; None if it does not end.
fn comment_end(bytes: &[u8]) -> Option<usize> {
    let (mut depth, mut at) = (0, 0);
    while at + 1 < bytes.len() {
        match &bytes[at..at + 2] {
            b"/*" => {
                depth += 1;
                at += 2;
            }
            b"*/" => {
                depth -= 1;
                at += 2;
                if depth == 0 {
                    return Some(at);
                }
            }
            _ => at += 1,
        }
    }
    None
}

fn quoted_len(bytes: &[u8], quote: u8, escapes: bool) -> usize {
    let mut at = 1;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' if escapes => at += 2,
            byte if byte == quote => {
                // A doubled quote stands for itself; the pair is as good as two strings here.
                return at + 1;
            }
            _ => at += 1,
        }
    }
    bytes.len()
}

/// Returns the length of `$tag$ .. $tag$`, or 1 for any other dollar sign.
fn dollar_len(bytes: &[u8]) -> usize {
    let tag = bytes[1..].iter().take_while(|&&byte| is_word(byte)).count();
    if bytes.get(tag + 1) != Some(&b'$') || bytes.get(1).is_some_and(u8::is_ascii_digit) {
        return 1;
    }
    let mark = &bytes[..tag + 2];
    let rest = &bytes[mark.len()..];
    match rest.windows(mark.len()).position(|window| window == mark) {
        Some(end) => 2 * mark.len() + end,
        None => bytes.len(),
    }
}

fn add(text: &str, start: usize, end: usize, found: &mut Vec<Statement>) {
    let piece = &text[start..end];
    let trimmed = piece.trim_start();
    let from = start + piece.len() - trimmed.len();
    let trimmed = trimmed.trim_end();
    if is_blank(trimmed) {
        return;
    }
    let before = &text[..from];
    let line = before.matches('\n').count() + 1;
    let column = before.chars().rev().take_while(|&c| c != '\n').count() + 1;
    found.push(Statement { text: trimmed.into(), line, column });
}

/// Returns true for comments alone.
fn is_blank(text: &str) -> bool {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        at += match &bytes[at..] {
            [b'-', b'-', ..] => bytes[at..].iter().position(|&byte| byte == b'\n').unwrap_or(bytes.len() - at),
            [b'/', b'*', ..] => match comment_end(&bytes[at..]) {
                Some(len) => len,
                None => return false,
            },
            [byte, ..] if byte.is_ascii_whitespace() => 1,
            _ => return false,
        };
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_end_at_semicolons_outside_of_quotes() {
        for (text, expect, complete) in [
            ("", &[][..], true),
            (" ; ;\n", &[], true),
            ("select 1", &["select 1"], false),
            ("select 1;", &["select 1"], true),
            ("select 1; select ';' ; x", &["select 1", "select ';'", "x"], false),
            ("select 'it''s; so' ;", &["select 'it''s; so'"], true),
            ("select E'a\\';b';c;", &["select E'a\\';b'", "c"], true),
            ("select 'a\\';b;", &["select 'a\\'", "b"], true),
            ("select \"a;b\" -- c;\n, 2;", &["select \"a;b\" -- c;\n, 2"], true),
            ("/* a; /* b; */ c; */ select 1;", &["/* a; /* b; */ c; */ select 1"], true),
            ("-- only; a comment\n", &[], true),
            ("/* open ;", &["/* open ;"], false),
            ("select $$a;b$$;select $t$a;$$;b$t$;", &["select $$a;b$$", "select $t$a;$$;b$t$"], true),
            ("select $1;select $2;", &["select $1", "select $2"], true),
            ("select 'open;", &["select 'open;"], false),
        ] {
            let (found, is_complete) = split(text);
            let found: Vec<&str> = found.iter().map(|statement| &statement.text[..]).collect();
            assert_eq!((&found[..], is_complete), (expect, complete), "{text}");
        }
    }

    #[test]
    fn statements_know_where_they_stand() {
        let (found, _) = split("a;\n\n  böse; c");
        let places: Vec<_> = found.iter().map(|statement| (statement.line, statement.column)).collect();
        assert_eq!(places, [(1, 1), (3, 3), (3, 9)]);
    }
}
