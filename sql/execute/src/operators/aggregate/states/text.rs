//! Least or largest text of each group.
//!
//! ```text
//!   group    first 8 bytes in order, length, place       most comparisons end here
//!   bytes    | text | (replaced) | text | ..             written anew once more than half of them are replaced
//! ```

use yunti_engine::columns::vector::{Bytes, Data, Vector};

use super::{Argument, Rows, State, put_number, same, take_number};

pub struct LeastText {
    largest: bool,
    texts: Vec<Option<Text>>,
    bytes: Vec<u8>,
    /// Bytes of texts that were replaced.
    replaced: usize,
}

#[derive(Clone, Copy)]
struct Text {
    prefix: u64,
    place: usize,
    len: u32,
}

fn prefix(text: &[u8]) -> u64 {
    match text.first_chunk::<8>() {
        Some(bytes) => u64::from_be_bytes(*bytes),
        None => text.iter().enumerate().fold(0, |word, (n, &byte)| word | u64::from(byte) << (56 - 8 * n)),
    }
}

impl LeastText {
    pub fn new(largest: bool) -> LeastText {
        LeastText { largest, texts: Vec::new(), bytes: Vec::new(), replaced: 0 }
    }

    fn get(&self, group: usize) -> Option<&[u8]> {
        self.texts[group].map(|text| &self.bytes[text.place..][..text.len as usize])
    }

    #[inline]
    fn put(&mut self, group: usize, text: &[u8]) {
        let prefix = prefix(text);
        if let Some(before) = self.texts[group] {
            let wins = match (prefix == before.prefix, self.largest) {
                (false, true) => prefix > before.prefix,
                (false, false) => prefix < before.prefix,
                (true, true) => text > &self.bytes[before.place..][..before.len as usize],
                (true, false) => text < &self.bytes[before.place..][..before.len as usize],
            };
            if !wins {
                return;
            }
            self.replaced += before.len as usize;
            if text.len() <= before.len as usize {
                // The new text takes the place of the one before.
                self.replaced -= text.len();
                self.bytes[before.place..][..text.len()].copy_from_slice(text);
                self.texts[group] = Some(Text { prefix, place: before.place, len: text.len() as u32 });
                return;
            }
            self.texts[group] = None;
            if self.replaced > self.bytes.len() / 2 + 4096 {
                self.compact();
            }
        }
        self.texts[group] = Some(Text { prefix, place: self.bytes.len(), len: text.len() as u32 });
        self.bytes.extend_from_slice(text);
    }

    fn compact(&mut self) {
        let mut bytes = Vec::with_capacity(self.bytes.len() - self.replaced);
        for text in self.texts.iter_mut().flatten() {
            let old = &self.bytes[text.place..][..text.len as usize];
            text.place = bytes.len();
            bytes.extend_from_slice(old);
        }
        (self.bytes, self.replaced) = (bytes, 0);
    }
}

impl State for LeastText {
    fn resize(&mut self, groups: usize) {
        self.texts.resize(groups, None);
    }

    fn reserve(&mut self, groups: usize) {
        self.texts.reserve_exact(groups - self.texts.len());
    }

    fn clear(&mut self) {
        self.texts.clear();
        self.bytes = Vec::new();
        self.replaced = 0;
    }

    fn group_bytes(&self) -> usize {
        size_of::<Option<Text>>()
    }

    fn other_bytes(&self) -> usize {
        self.bytes.capacity()
    }

    fn update(&mut self, rows: &Rows<'_>, argument: Option<&Argument>) {
        let Some(Argument { vector, .. }) = argument else { return };
        let nulls = vector.nulls.as_ref();
        match &vector.data {
            Data::Bytes(values) => rows.each(nulls, |group, row| self.put(group, values.get(row))),
            Data::Codes(codes, values) => {
                rows.each(nulls, |group, row| self.put(group, values.get(codes[row] as usize)));
            }
            _ => {}
        }
    }

    fn merge(&mut self, from: &dyn State, groups: &[u32], to: &[u32]) {
        let from = same::<LeastText>(from);
        for (&group, &to) in groups.iter().zip(to) {
            if let Some(text) = from.get(group as usize) {
                self.put(to as usize, text);
            }
        }
    }

    fn encode(&self, group: usize, out: &mut Vec<u8>) {
        let text = self.get(group);
        put_number(text.map_or(-1, |text| text.len() as i128), out);
        out.extend_from_slice(text.unwrap_or(&[]));
    }

    fn decode(&mut self, group: usize, from: &mut &[u8]) -> Option<()> {
        let len = take_number(from)?;
        if len >= 0 {
            let (text, rest) = from.split_at_checked(usize::try_from(len).ok()?)?;
            self.put(group, text);
            *from = rest;
        }
        Some(())
    }

    fn results(&self, groups: &[u32]) -> Vector {
        let nulls: Vec<bool> = groups.iter().map(|&group| self.texts[group as usize].is_none()).collect();
        let mut texts = Bytes::with_capacity(groups.len(), groups.iter().map(|&group| self.result_bytes(group)).sum());
        groups.iter().for_each(|&group| texts.push(self.get(group as usize).unwrap_or(&[])));
        Vector { data: Data::Bytes(texts), nulls: nulls.contains(&true).then_some(nulls) }
    }

    fn has_texts(&self) -> bool {
        true
    }

    fn result_bytes(&self, group: u32) -> usize {
        self.texts[group as usize].map_or(0, |text| text.len as usize)
    }
}
