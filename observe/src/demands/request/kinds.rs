//! Kinds of requests: method and path without ids and values, or the Java method that is the request.
//!
//! ```text
//!   GET /item/4711?size=2   ->   GET /item/*
//!   GET /wiki/Lemon, GET /wiki/Apple, .. (if there are too many)   ->   GET /wiki/*
//! ```

use std::collections::{BTreeMap, HashMap};

use yunti_base::path_pattern::pattern;

/// Kinds that a document lists, with the one of all others.
const KINDS_MAX: usize = 30;
/// Names that a measurement keeps apart.
const NAMES_MAX: usize = 10_000;
/// Names that differ in one segment of the path, from which on this segment is a value.
const VALUES_MIN: usize = 10;
const NAME_MAX: usize = 120;
/// Kind of the requests that are none of the listed ones.
const OTHER: &str = "other";

/// Names of requests by number.
#[derive(Clone, Debug, Default)]
pub struct Names {
    names: Vec<String>,
    numbers: HashMap<String, u32>,
}

impl Names {
    /// Returns the number of a request's name; `None` for a text that is none, or beyond the limit.
    pub fn number(&mut self, text: &str) -> Option<u32> {
        let name = name(text)?;
        if let Some(number) = self.numbers.get(&name) {
            return Some(*number);
        }
        if self.names.len() == NAMES_MAX {
            return None;
        }
        let number = self.names.len() as u32;
        self.names.push(name.clone());
        self.numbers.insert(name, number);
        Some(number)
    }
}

/// Returns a request's name without ids, values and query: `GET /item/*`. A text without a blank is a method's name.
fn name(text: &str) -> Option<String> {
    let is_token = |method: &str| method.len() <= 16 && method.bytes().all(|b| b.is_ascii_uppercase() || b == b'-');
    let name = match text.split_once(' ') {
        Some((method, uri)) if is_token(method) && !method.is_empty() => format!("{method} {}", path(uri)),
        Some(_) => return None,
        None => text.to_owned(),
    };
    let name: String = name.chars().filter(|c| !c.is_control()).take(NAME_MAX).collect();
    Some(name).filter(|name| !name.is_empty())
}

/// Returns the pattern of a URI's path.
fn path(uri: &str) -> String {
    let without_host = match uri.split_once("://") {
        Some((scheme, rest)) if !scheme.contains('/') => rest.find('/').map_or("/", |at| &rest[at..]),
        _ => uri,
    };
    let path = without_host.split(['?', '#']).next().unwrap_or_default();
    let segments: Vec<&str> = path.split('/').map(|segment| segment.split(';').next().unwrap_or_default()).collect();
    pattern(&segments.join("/"))
}

/// Kinds of a document.
#[derive(Debug, Default, PartialEq)]
pub struct Kinds {
    /// Name and count of each, the most frequent first.
    pub list: Vec<(String, u64)>,
    /// Place in the list by number of the name.
    places: HashMap<u32, usize>,
    other: usize,
}

impl Kinds {
    /// Returns the kinds of requests, of which each has the number of its name, if it has one.
    pub fn of(names: &Names, requests: impl Iterator<Item = Option<u32>>) -> Kinds {
        let (mut counts, mut unnamed) = (HashMap::<u32, u64>::new(), 0);
        for number in requests {
            match number {
                Some(number) => *counts.entry(number).or_default() += 1,
                None => unnamed += 1,
            }
        }
        let text = |number: &u32| names.names.get(*number as usize).map_or(OTHER, String::as_str);
        let mut shown: BTreeMap<u32, String> = counts.keys().map(|number| (*number, text(number).to_owned())).collect();
        shorten(&mut shown);
        let mut sums: BTreeMap<&str, u64> = BTreeMap::new();
        shown.iter().for_each(|(number, name)| *sums.entry(name).or_default() += counts[number]);
        let mut list: Vec<(String, u64)> = sums.into_iter().map(|(name, count)| (name.to_owned(), count)).collect();
        list.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        let has_other = unnamed > 0 || list.len() > KINDS_MAX;
        let rest = if has_other { list.split_off(list.len().min(KINDS_MAX - 1)) } else { Vec::new() };
        let other = list.len();
        if has_other {
            list.push((OTHER.to_owned(), unnamed + rest.iter().map(|(_, count)| count).sum::<u64>()));
        }
        let at: HashMap<&str, usize> = list.iter().enumerate().map(|(at, (name, _))| (name.as_str(), at)).collect();
        let places = shown.iter().map(|(number, name)| (*number, at.get(name.as_str()).copied().unwrap_or(other)));
        Kinds { places: places.collect(), other, list }
    }

    /// Returns the place in the list of a request.
    pub fn place(&self, number: Option<u32>) -> usize {
        number.and_then(|number| self.places.get(&number)).copied().unwrap_or(self.other)
    }
}

/// Replaces segments of paths that are values, while there are too many names: these that differ from most others in
/// one segment alone. The first segment of a path is never one.
fn shorten(names: &mut BTreeMap<u32, String>) {
    loop {
        let mut groups: BTreeMap<String, Vec<u32>> = BTreeMap::new();
        let mut distinct: Vec<&String> = names.values().collect();
        distinct.sort_unstable();
        distinct.dedup();
        if distinct.len() <= KINDS_MAX {
            return;
        }
        for (number, name) in names.iter() {
            let segments: Vec<&str> = name.split('/').collect();
            for at in 2..segments.len() {
                let mut shorter = segments.clone();
                shorter[at] = "*";
                groups.entry(shorter.join("/")).or_default().push(*number);
            }
        }
        let Some((name, members)) = groups.into_iter().max_by_key(|(_, members)| members.len()) else { return };
        let is_news = members.iter().any(|number| names[number] != name);
        if members.len() < VALUES_MIN || !is_news {
            return;
        }
        for number in members {
            names.insert(number, name.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_no_values() {
        for (text, expected) in [
            ("GET /search?q=shoes", Some("GET /search")),
            ("GET /item/4711/photo", Some("GET /item/*/photo")),
            ("POST http://shop:80/cart;jsessionid=1A2B?x#y", Some("POST /cart")),
            ("GET http://shop", Some("GET /")),
            ("shop.Catalog/Find", Some("shop.Catalog/Find")),
            ("OPTIONS *", Some("OPTIONS *")),
            ("get /x", None),
            ("", None),
        ] {
            assert_eq!(name(text).as_deref(), expected, "{text}");
        }
    }

    fn kinds(texts: &[&str]) -> Kinds {
        let mut names = Names::default();
        let numbers: Vec<Option<u32>> = texts.iter().map(|text| names.number(text)).collect();
        Kinds::of(&names, numbers.into_iter())
    }

    #[test]
    fn counts_kinds() {
        let found = kinds(&["GET /b", "GET /a/1", "GET /a/2", "?? x"]);
        let expected = [("GET /a/*", 2), ("GET /b", 1), ("other", 1)];
        assert_eq!(found.list, expected.map(|(name, count)| (name.to_owned(), count)));
        assert_eq!((found.place(Some(0)), found.place(Some(1)), found.place(None)), (1, 0, 2));
    }

    #[test]
    fn values_become_stars_if_there_are_many() {
        let word = |n: u8| format!("{}{}", char::from(b'a' + n / 26), char::from(b'a' + n % 26));
        let texts: Vec<String> = (0..60).map(|n| format!("GET /wiki/{}", word(n))).collect();
        let mut texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        texts.extend(["GET /search", "GET /search"]);
        let expected = [("GET /wiki/*", 60), ("GET /search", 2)];
        assert_eq!(kinds(&texts).list, expected.map(|(name, count)| (name.to_owned(), count)));
        // First segments are names of the program: the rarest are one kind.
        let texts: Vec<String> = (0..40).map(|n| format!("GET /{}", word(n))).collect();
        let found = kinds(&texts.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!((found.list.len(), found.list.last().unwrap()), (KINDS_MAX, &("other".to_owned(), 11)));
    }
}
