//! Word count as a class library in Rust: mapper, combiner and reducer as in MapReduce, or a folder, which is faster.

use yunti_api::{Bytes, Count, Form, KnownFold, Out, Result, Span, SpanMapper, StepReducer, View};

/// Mapper that emits each word of the text with a 1. The engine finds the words.
#[derive(Default)]
struct Tokenizer;

impl SpanMapper for Tokenizer {
    type Key = Bytes;
    type Value = i64;
    // A word is a slice of the text and its value is 1, so the engine copies neither.
    const KEYS_ARE_SLICES: bool = true;
    const VALUE_IS_ONE: bool = true;

    fn map_span<F: Form>(&mut self, span: Span<'_>, out: &mut Out<'_, Bytes, i64, F>) -> Result<()> {
        out.words(span.text)
    }
}

/// The same by the iterator over words, which leaves room for code of yours.
#[derive(Default)]
struct LoopTokenizer;

impl SpanMapper for LoopTokenizer {
    type Key = Bytes;
    type Value = i64;
    const KEYS_ARE_SLICES: bool = true;
    const VALUE_IS_ONE: bool = true;

    fn map_span<F: Form>(&mut self, span: Span<'_>, out: &mut Out<'_, Bytes, i64, F>) -> Result<()> {
        for word in yunti_api::words(span.text) {
            out.one(word)?;
        }
        Ok(())
    }
}

/// Reducer and combiner: the sum of a word's values, one value at a time, since a word may have billions of them.
#[derive(Default)]
struct SumReducer {
    sum: i64,
}

impl StepReducer for SumReducer {
    type InKey = Bytes;
    type InValue = i64;
    type Key = Bytes;
    type Value = i64;
    const PURE: bool = true;
    // The class computes this fold, so as a combiner the engine may fold instead of calling it.
    const FOLD: Option<KnownFold> = Some(KnownFold::SumI64);

    fn begin(&mut self, _: View<'_, Bytes>) -> Result<()> {
        self.sum = 0;
        Ok(())
    }
    fn add(&mut self, _: &[u8], value: i64) -> Result<()> {
        self.sum += value;
        Ok(())
    }
    fn end(&mut self, word: &[u8], out: &mut Out<'_, Bytes, i64>) -> Result<()> {
        out.emit(word, self.sum)
    }
}

yunti_api::library! {
    c"RustWordCount", c"1.0",
    yunti_api::span_mapper::<Tokenizer>(c"RustWordCount.Tokenizer"),
    yunti_api::span_mapper::<LoopTokenizer>(c"RustWordCount.LoopTokenizer"),
    yunti_api::step_reducer::<SumReducer>(c"RustWordCount.SumReducer"),
    yunti_api::step_combiner::<SumReducer>(c"RustWordCount.SumCombiner"),
    yunti_api::folder::<Count<i64>>(c"RustWordCount.Count"),
}
