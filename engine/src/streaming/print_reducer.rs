//! Yunti.PrintReducer: passes raw and typed bytes of a mapper on as Hadoop's TextOutputFormat prints them. It is the
//! reducer of a streaming job that has none.

use super::protocol::{Form, print};
use crate::operator::{Groups, Out, Reducer, TaskContext};
use yunti_base::Result;

/// Name of the class.
pub const NAME: &str = "Yunti.PrintReducer";

/// Reducer that prints records.
pub struct PrintReducer {
    form: Form,
    key: Vec<u8>,
    value: Vec<u8>,
}

impl PrintReducer {
    /// Reads the setting `stream.map.output`. Errors: `Usage`.
    pub fn new(context: &TaskContext) -> Result<PrintReducer> {
        Ok(PrintReducer { form: Form::of(context, "stream.map.output")?, key: Vec::new(), value: Vec::new() })
    }
}

impl Reducer for PrintReducer {
    fn reduce(&mut self, groups: &Groups<'_>, out: &mut Out) -> Result<()> {
        let PrintReducer { form, key: key_text, value: value_text } = self;
        for i in 0..groups.len() {
            for v in groups.range(i) {
                key_text.clear();
                value_text.clear();
                print(*form, groups.value_key(v).unwrap_or(groups.key(i)), key_text)?;
                print(*form, groups.value(v), value_text)?;
                out.emit(key_text, value_text)?;
            }
        }
        Ok(())
    }
}
