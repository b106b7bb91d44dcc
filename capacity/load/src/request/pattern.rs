//! Patterns of the paths of a run, by number.

use std::collections::HashMap;

use yunti_base::path_pattern::pattern;

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

#[cfg(test)]
mod tests {
    use super::*;

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
