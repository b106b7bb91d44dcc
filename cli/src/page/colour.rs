//! Colours by the kind of work: the same one in all drawings. Names and values are in `style.css`, for light and for dark.

/// Kinds of spans and stages that have a colour of their own.
const KINDS: [&str; 17] = [
    "read",
    "map",
    "collect",
    "fold",
    "spill",
    "sort",
    "merge",
    "reduce",
    "encode",
    "write",
    "commit",
    "wait",
    "launch",
    "jvm-start",
    "shuffle",
    "lost",
    "other",
];

/// As a style. A kind that is not known has the colour of `other`; a name from a file never gets into a style.
pub fn of(kind: &str) -> String {
    let known = KINDS.iter().find(|k| **k == kind).unwrap_or(&"other");
    format!("var(--{known})")
}

pub fn fill(kind: &str) -> String {
    format!("fill:{}", of(kind))
}

pub fn background(kind: &str) -> String {
    format!("background:{}", of(kind))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_has_a_colour_in_both_schemes() {
        let style = [yunti_program::page::STYLE, super::super::STYLE].concat();
        for kind in KINDS {
            assert!(style.matches(&format!("--{kind}:")).count() >= 2, "{kind}");
        }
        assert_eq!(of("x;} body{display:none"), "var(--other)");
    }
}
