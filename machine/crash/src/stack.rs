//! Names of frames without the parts that differ between runs, and the signature of a stack.

/// Innermost frames in a signature; the outer ones show only how the code was reached.
const SIGNED_FRAMES: usize = 12;
/// Bytes of a name; names of C++ and Java are long.
const NAME_BYTES_MAX: usize = 200;

/// Name of a kernel frame: `nvme_irq+0x1c/0x90 [nvme]` gives `nvme_irq [nvme]`. Guesses of the unwinder (`? name+..`)
/// give `None`.
pub fn kernel_frame(text: &str) -> Option<String> {
    let text = text.trim();
    let (name, rest) = text.split_once("+0x")?;
    let is_name =
        !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'$' | b':'));
    let (offset, rest) = rest.split_once("/0x")?;
    let (size, module) = rest.split_once(' ').unwrap_or((rest, ""));
    let is_hex = |digits: &str| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_hexdigit());
    if !is_name || !is_hex(offset) || !is_hex(size) || text.len() > NAME_BYTES_MAX {
        return None;
    }
    Some(match module_of(module) {
        Some(module) => format!("{} [{module}]", plain(name)),
        None => plain(name).to_owned(),
    })
}

/// Module name: `[nvme 0f3a..]` or `[nvme]` gives `nvme`.
fn module_of(text: &str) -> Option<&str> {
    let inside = text.trim().strip_prefix('[')?.split_once(']')?.0;
    let name = inside.split(' ').next()?;
    let is_name = !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'));
    is_name.then_some(name)
}

/// Name without compiler suffixes for a part of a function: `.isra.0`, `.constprop.1`, `.cold`, `.part.0`.
fn plain(name: &str) -> &str {
    name.split('.').next().filter(|n| !n.is_empty()).unwrap_or(name)
}

/// FNV-1a hash of 64 bits (draft-eastlake-fnv), the same on every machine and in every version.
pub fn signature<'a>(words: impl Iterator<Item = &'a str>, frames: impl Iterator<Item = &'a str>) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325u64;
    let mut add = |byte: u8| hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    for word in words.chain(frames.take(SIGNED_FRAMES)) {
        word.bytes().for_each(&mut add);
        // A byte that occurs in no name.
        add(0xff);
    }
    hash
}

/// Text with `#` for each number, so that texts that differ only in numbers are equal.
pub fn without_numbers(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut was_number = false;
    for c in text.chars() {
        let is_number = c.is_ascii_digit();
        if !is_number {
            out.push(c);
        } else if !was_number {
            out.push('#');
        }
        was_number = is_number;
    }
    out
}

/// Text in one line: control characters become blanks.
pub fn one_line(text: &str) -> String {
    text.replace(|c: char| c.is_control(), " ")
}

/// Text in one line of at most `NAME_BYTES_MAX` bytes and two points.
pub fn clean(text: &str) -> String {
    cut(&one_line(&text.chars().take(NAME_BYTES_MAX + 1).collect::<String>()), NAME_BYTES_MAX)
}

/// First `bytes_max` bytes of the text, with two points if it was longer.
pub fn cut(text: &str, bytes_max: usize) -> String {
    if text.len() <= bytes_max {
        return text.to_owned();
    }
    let end = (0..=bytes_max).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    format!("{}..", &text[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_kernel_frames() {
        for (text, name) in [
            (" ext4_sync_file+0x1ab/0x3c0", Some("ext4_sync_file")),
            ("nvme_irq+0x1c/0x90 [nvme 0f3a99]", Some("nvme_irq [nvme]")),
            ("__x64_sys_read.isra.0+0x1/0x2", Some("__x64_sys_read")),
            ("? guessed+0x1/0x2", None),
            ("secret=hunter2+0x1/0x2", None),
            ("RIP: 0010:x+0x1/0x2", None),
            ("a+0xzz/0x2", None),
            ("+0x1/0x2", None),
            ("no frame", None),
        ] {
            assert_eq!(kernel_frame(text).as_deref(), name, "{text}");
        }
    }

    #[test]
    fn signatures_depend_on_names_only() {
        let of = |words: &[&str], frames: &[&str]| signature(words.iter().copied(), frames.iter().copied());
        assert_eq!(of(&["a"], &["f", "g"]), of(&["a"], &["f", "g"]));
        assert_ne!(of(&["a"], &["f", "g"]), of(&["a"], &["g", "f"]));
        assert_ne!(of(&["ab"], &[]), of(&["a", "b"], &[]));
        let deep = |last| (0..30).map(|n| if n == 29 { last } else { "f" }).collect::<Vec<_>>();
        assert_eq!(of(&[], &deep("x")), of(&[], &deep("y")));
        // The value must not change, because collectors store it.
        assert_eq!(of(&["oops"], &["f"]), 0xb335_ca81_a514_14e0);
    }

    #[test]
    fn cleans_texts() {
        assert_eq!(without_numbers("inode #12: block 9000: comm a1"), "inode ##: block #: comm a#");
        assert_eq!(clean("a\nb\u{7}c"), "a b c");
        assert!(clean(&"ä".repeat(300)).len() <= NAME_BYTES_MAX + 2);
    }
}
