//! The mapper of a word count.

use std::ops::Range;

use crate::bytes::words::Edges;
use crate::operator::cursor::StopStatus;
use crate::operator::{Batch, Form, Mapper, Out};
use yunti_base::Result;

/// Mapper that emits each word of the values with the number 1. Takes spans, because line ends are delimiters too.
#[derive(Default)]
pub struct Tokenizer {
    edges: Edges,
}

impl Mapper for Tokenizer {
    fn map(&mut self, batch: &Batch<'_>, out: &mut Out) -> Result<()> {
        let data = batch.data();
        if batch.is_span() {
            return Ok(self.stretch(data, 0..data.len(), out)?);
        }
        let values = batch.values();
        for (&offset, &length) in values.offsets.iter().zip(values.lengths) {
            self.stretch(data, offset as usize..(offset + length) as usize, out)?;
        }
        Ok(())
    }
}

impl Tokenizer {
    /// Emits the words of one stretch of a batch.
    fn stretch(&mut self, data: &[u8], stretch: Range<usize>, out: &mut Out) -> std::result::Result<(), StopStatus> {
        let from = stretch.start as u32;
        let text = &data[stretch];
        if out.form() != Form::Copy {
            return self.edges.words(text, from, |edges| out.emit_spans(edges));
        }
        self.edges.words(text, from, |edges| {
            for word in edges.chunks_exact(2) {
                out.emit(&data[word[0] as usize..word[1] as usize], &1u64.to_le_bytes())?;
            }
            Ok(())
        })
    }
}
