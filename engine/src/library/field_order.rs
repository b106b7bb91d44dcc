//! Yunti.FieldOrder: keys in the order of some of their fields, as `sort -k` orders lines; groups by the first of these
//! fields.
//!
//! `order.fields` = `2nr,1`: by the second field as a number, largest first, then by the first as text. A missing field
//! is empty. Keys that agree in all these fields stay in the order of emission.

use crate::bytes::escape::unescape;
use crate::bytes::ordered_bytes::OrderedBytes;
use crate::library::settings;
use crate::operator::{Batch, KeyOrderer, Out, TaskContext};
use yunti_base::{Code, Error, Result};

const FIELDS: &str = "order.fields";
const GROUP: &str = "order.group";
const SEPARATOR: &str = "order.separator";

/// Key order by fields. Settings: `order.fields`, `order.group`, `order.separator`.
pub struct FieldOrder {
    fields: Vec<Field>,
    /// Number of leading fields that distinguish groups.
    group: usize,
    separator: u8,
    /// Start and end of the key's fields.
    ends: Vec<(usize, usize)>,
    form: Vec<u8>,
}

struct Field {
    /// Index from 0.
    index: usize,
    numeric: bool,
    descending: bool,
}

impl FieldOrder {
    /// Reads the settings. Errors: `Usage` for a missing or bad setting.
    pub fn new(context: &TaskContext) -> Result<FieldOrder> {
        let text = settings::required(context, FIELDS, "2nr,1")?;
        let fields = text.split(',').map(|item| field(item.trim())).collect::<Result<Vec<_>>>()?;
        let group = settings::ordinal(context, GROUP, fields.len())?;
        if group > fields.len() {
            return Err(Error::new(Code::Usage, format!("the setting {GROUP} is {group}"))
                .hint(format!("{FIELDS} has {} fields", fields.len())));
        }
        let separator = match context.setting(SEPARATOR).map(unescape).transpose()?.as_deref() {
            None => b'\t',
            Some([byte]) => *byte,
            Some(_) => return Err(Error::new(Code::Usage, format!("the setting {SEPARATOR} is not one byte"))),
        };
        Ok(FieldOrder { fields, group, separator, ends: Vec::new(), form: Vec::new() })
    }
}

fn field(text: &str) -> Result<Field> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, letters) = text.split_at(digits);
    match number.parse::<usize>() {
        Ok(number) if number > 0 && letters.bytes().all(|b| matches!(b, b'n' | b'r')) => {
            Ok(Field { index: number - 1, numeric: letters.contains('n'), descending: letters.contains('r') })
        }
        _ => Err(Error::new(Code::Usage, format!("the setting {FIELDS} has the field '{text}'"))
            .hint("a field is a number from 1, with n: as a number, r: the largest first; as in 2nr,1")),
    }
}

impl KeyOrderer for FieldOrder {
    fn order_keys(&mut self, batch: &Batch<'_>, out: &mut Out, group: &mut [u32]) -> Result<()> {
        let last = self.fields.iter().map(|f| f.index).max().unwrap_or(0);
        for (i, group) in group.iter_mut().enumerate() {
            let (key, _) = batch.record(i);
            self.ends.clear();
            let mut start = 0;
            while self.ends.len() <= last && start <= key.len() {
                let end = memchr::memchr(self.separator, &key[start..]).map_or(key.len(), |at| start + at);
                self.ends.push((start, end));
                start = end + 1;
            }
            self.form.clear();
            for (number, field) in self.fields.iter().enumerate() {
                let text = self.ends.get(field.index).map_or(&[][..], |&(start, end)| &key[start..end]);
                let mut form = OrderedBytes(&mut self.form);
                if field.numeric {
                    form.decimal(text, field.descending);
                } else {
                    form.text(text, field.descending);
                }
                if number + 1 == self.group {
                    *group = self.form.len() as u32;
                }
            }
            out.emit(&self.form, &[])?;
        }
        Ok(())
    }
}
