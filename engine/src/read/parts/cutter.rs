//! The choice of cuts among the starts of members: parts of about the wanted size.

use super::part::Part;

/// Bytes of the last part at most, in wanted sizes in tenths, as for splits of other files.
const SLOP_TENTHS: u64 = 11;

/// Collector of the parts of a file whose members come in order.
pub struct Cutter {
    target_bytes: u64,
    file_bytes: u64,
    parts: Vec<Part>,
    open: Part,
}

impl Cutter {
    /// Begins the first part. `target_bytes`: the wanted size, at least 1.
    pub fn new(target_bytes: u64, file_bytes: u64) -> Cutter {
        Cutter { target_bytes: target_bytes.max(1), file_bytes, parts: Vec::new(), open: Part::default() }
    }

    /// Returns true if a cut at `at` would end a part of the wanted size, with enough left for another.
    pub fn wants(&self, at: u64) -> bool {
        let is_enough = at.saturating_sub(self.open.start) >= self.target_bytes;
        let rest = self.file_bytes.saturating_sub(at);
        is_enough && rest > 0 && rest.saturating_mul(10) > self.target_bytes.saturating_mul(SLOP_TENTHS - 10)
    }

    /// Returns the first place for the next cut; None if the rest of the file is one part.
    pub fn next_place(&self) -> Option<u64> {
        let rest = self.file_bytes.saturating_sub(self.open.start);
        let is_last = rest.saturating_mul(10) <= self.target_bytes.saturating_mul(SLOP_TENTHS);
        (!is_last).then(|| self.open.start + self.target_bytes)
    }

    /// Ends the open part. `data_end`, `behind`: see `Part`. `before`: bytes that the next part, which begins at `at`,
    /// decodes first.
    pub fn cut(&mut self, at: u64, data_end: u64, behind: Vec<u8>, before: Vec<u8>) {
        let next = Part { start: at, before, ..Part::default() };
        let done = std::mem::replace(&mut self.open, next);
        self.parts.push(Part { data_end, end: at, behind, ..done });
    }

    /// Ends the open part before the member at `at`, if it is large enough.
    pub fn member(&mut self, at: u64) {
        if self.wants(at) {
            self.cut(at, at, Vec::new(), Vec::new());
        }
    }

    /// Returns all parts; the last one ends with the file.
    pub fn finish(mut self) -> Vec<Part> {
        let end = self.file_bytes;
        if self.open.start < end {
            self.parts.push(Part { data_end: end, end, ..self.open });
        }
        self.parts
    }
}
