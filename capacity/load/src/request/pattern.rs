//! Pattern of a path: segments that look like ids become `*`, and a query keeps only its names.
//!
//! ```text
//!   /item/4711/photo?size=2&x=y   ->   /item/*/photo?size&x
//! ```

use std::collections::HashMap;

/// Patterns that a report lists, at most.
const PATTERNS_MAX: usize = 200;
/// Name of the pattern of all further paths.
pub const OTHERS: &str = "(others)";

/// Patterns of a run, numbered.
#[derive(Clone, Debug, Default)]
pub struct Patterns {
    names: Vec<String>,
    numbers: HashMap<String, u16>,
}

impl Patterns {
    /// Returns the number of a path's pattern; a new one if it is unknown.
    pub fn number(&mut self, path: &str) -> u16 {
        let mut name = pattern(path);
        if self.names.len() >= PATTERNS_MAX && !self.numbers.contains_key(&name) {
            name = OTHERS.into();
        }
        if let Some(&number) = self.numbers.get(&name) {
            return number;
        }
        let number = self.names.len() as u16;
        self.names.push(name.clone());
        self.numbers.insert(name, number);
        number
    }

    /// Returns all names in the order of their numbers.
    pub fn into_names(self) -> Vec<String> {
        self.names
    }
}

/// Returns the pattern of a path with a query.
pub fn pattern(path: &str) -> String {
    let (path, query) = path.split_once('?').map_or((path, None), |(path, query)| (path, Some(query)));
    let segments: Vec<&str> = path.split('/').map(|segment| if is_id(segment) { "*" } else { segment }).collect();
    let mut pattern = segments.join("/");
    if let Some(query) = query {
        let mut names: Vec<&str> = query.split('&').map(|pair| pair.split('=').next().unwrap_or_default()).collect();
        names.sort_unstable();
        names.dedup();
        pattern.push('?');
        pattern += &names.join("&");
    }
    pattern
}

/// Returns true for numbers, UUIDs, hashes and words with three digits or more.
fn is_id(segment: &str) -> bool {
    let digits = segment.bytes().filter(u8::is_ascii_digit).count();
    let is_number = digits > 0 && segment.bytes().all(|b| b.is_ascii_digit() || b"-_.,".contains(&b));
    let is_hex = segment.len() >= 16 && segment.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-');
    is_number || is_hex || digits >= 3
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_become_stars() {
        for (path, expect) in [
            ("/", "/"),
            ("/search", "/search"),
            ("/search?q=shoes&page=2", "/search?page&q"),
            ("/item/4711/photo", "/item/*/photo"),
            ("/v2/user/550e8400-e29b-41d4-a716-446655440000", "/v2/user/*"),
            ("/a/deadbeefdeadbeefdead", "/a/*"),
            ("/order-2024-11/x", "/*/x"),
            ("/x?a&a=1", "/x?a"),
        ] {
            assert_eq!(pattern(path), expect, "{path}");
        }
    }

    #[test]
    fn the_number_of_patterns_has_a_limit() {
        let mut patterns = Patterns::default();
        let letters = |n: u32| (0..3).map(|i| char::from(b'a' + (n / 26u32.pow(i) % 26) as u8)).collect::<String>();
        let first: Vec<u16> = (0..1000).map(|n| patterns.number(&format!("/{}", letters(n)))).collect();
        assert_eq!((first[0], first[199], first[200], first[999]), (0, 199, 200, 200));
        assert_eq!(patterns.number("/baa"), 1);
        assert_eq!(patterns.into_names().last().unwrap(), OTHERS);
    }
}
