//! Colours by the kind of work, the same in all drawings. `style.css` has their values, light and dark.

/// Kinds of spans and stages that have a colour of their own.
const KINDS: [&str; 18] = [
    "prepare",
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

/// Returns the colour as a style. Unknown kinds get the colour of `other`, so no name from a file gets into a style.
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
