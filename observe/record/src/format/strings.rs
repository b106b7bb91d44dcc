//! String table of a profile: each text once, the empty text first.

use std::collections::HashMap;
use std::sync::Arc;

use yunti_base::Result;

use super::wire::damaged;

/// String table that is being written.
#[derive(Debug)]
pub struct StringTable {
    places: HashMap<Arc<str>, u64>,
    texts: Vec<Arc<str>>,
}

impl Default for StringTable {
    fn default() -> Self {
        let empty: Arc<str> = "".into();
        StringTable { places: HashMap::from([(empty.clone(), 0)]), texts: vec![empty] }
    }
}

impl StringTable {
    /// Returns the place of a text, which is added if it is new.
    pub fn place(&mut self, text: &str) -> u64 {
        if let Some(place) = self.places.get(text) {
            return *place;
        }
        let (place, text): (u64, Arc<str>) = (self.texts.len() as u64, text.into());
        self.texts.push(text.clone());
        self.places.insert(text, place);
        place
    }

    /// Returns all texts by their place.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        self.texts.iter().map(|text| &**text)
    }
}

/// String table that was read.
#[derive(Debug, Default)]
pub struct Strings<'a>(pub Vec<&'a [u8]>);

impl<'a> Strings<'a> {
    /// Returns the text at a place; bytes that are no UTF-8 become replacement characters.
    pub fn text(&self, place: u64) -> Result<Arc<str>> {
        Ok(String::from_utf8_lossy(self.bytes(place)?).into())
    }

    /// Returns the bytes at a place.
    pub fn bytes(&self, place: u64) -> Result<&'a [u8]> {
        let found = usize::try_from(place).ok().and_then(|place| self.0.get(place));
        found.copied().ok_or_else(|| damaged("a text is outside of the string table"))
    }
}
