//! `like`: the simplest test for a pattern, with the engine's patterns for the rest.

use memchr::memmem::Finder;
use yunti_engine::columns::expression::pattern::{Form, Pattern};

/// A pattern made ready.
pub struct Matcher {
    test: Test,
    ignore_case: bool,
}

enum Test {
    Equal(Vec<u8>),
    Prefix(Vec<u8>),
    Suffix(Vec<u8>),
    Infix(Box<Finder<'static>>),
    Pattern(Pattern),
}

impl Matcher {
    /// Returns the test of a pattern; its escape character is the backslash if there is none.
    pub fn of(pattern: &str, escape: Option<char>, ignore_case: bool) -> Matcher {
        let escape = escape.unwrap_or('\\');
        let folded = if ignore_case {
            pattern.chars().map(|c| if c == escape { c } else { lower(c) }).collect()
        } else {
            pattern.to_string()
        };
        let pattern = Pattern::escaped(&folded, escape);
        let test = match pattern.form() {
            Form::Equal(text) => Test::Equal(text.to_vec()),
            Form::Prefix(text) => Test::Prefix(text.to_vec()),
            Form::Suffix(text) => Test::Suffix(text.to_vec()),
            Form::Infix(text) => Test::Infix(Box::new(Finder::new(text).into_owned())),
            Form::Other => Test::Pattern(pattern),
        };
        Matcher { test, ignore_case }
    }

    /// Calls `run` with the test, so that each kind of test gets a loop of its own.
    pub fn each<R>(&self, run: impl Loop<R>) -> R {
        if self.ignore_case {
            let mut folded = Vec::new();
            return match &self.test {
                Test::Equal(want) => run.run(|text| fold(text, &mut folded) == want),
                Test::Prefix(want) => run.run(|text| fold(text, &mut folded).starts_with(want)),
                Test::Suffix(want) => run.run(|text| fold(text, &mut folded).ends_with(want)),
                Test::Infix(finder) => run.run(|text| finder.find(fold(text, &mut folded)).is_some()),
                Test::Pattern(pattern) => run.run(|text| pattern.matches(fold(text, &mut folded))),
            };
        }
        match &self.test {
            Test::Equal(want) => run.run(|text| text == want),
            Test::Prefix(want) => run.run(|text| text.starts_with(want)),
            Test::Suffix(want) => run.run(|text| text.ends_with(want)),
            Test::Infix(finder) => run.run(|text| finder.find(text).is_some()),
            Test::Pattern(pattern) => run.run(|text| pattern.matches(text)),
        }
    }
}

/// A loop over texts.
pub trait Loop<R> {
    /// Runs the loop with a test of a text.
    fn run(self, test: impl FnMut(&[u8]) -> bool) -> R;
}

/// Returns a character in lower case, if that is one character.
fn lower(c: char) -> char {
    let mut lower = c.to_lowercase();
    match (lower.next(), lower.next()) {
        (Some(one), None) => one,
        _ => c,
    }
}

/// Returns a text in lower case, character by character, so that `_` still stands for one of them.
fn fold<'a>(text: &[u8], folded: &'a mut Vec<u8>) -> &'a [u8] {
    folded.clear();
    if text.is_ascii() {
        folded.extend(text.iter().map(u8::to_ascii_lowercase));
        return folded;
    }
    for chunk in text.utf8_chunks() {
        for c in chunk.valid().chars() {
            folded.extend_from_slice(lower(c).encode_utf8(&mut [0; 4]).as_bytes());
        }
        folded.extend_from_slice(chunk.invalid());
    }
    folded
}
