//! Records of a block with the forms of their keys.

use crate::memory::buffer::SLACK_BYTES;
use crate::operator::arranger::WHOLE_FORM;
use crate::operator::batch::{Batch, Slices};
use crate::operator::cursor::{HEADER_BYTES, Scratch, copied};
use crate::operator::types::wrong_length;
use crate::operator::{Arranger, Emitter, Sink, Type};
use yunti_base::{Code, Error, Result};

pub struct Arranging {
    arranger: Box<dyn Arranger>,
    name: String,
    /// Whether the class may say of a part of the key that it is the group.
    groups: bool,
    /// Of the records as they come.
    types: (Type, Type),
    forms: Emitter<Forms>,
    group: Vec<u32>,
    columns: [Vec<u32>; 4],
}

/// A record, and where it goes.
#[derive(Clone, Copy, Debug)]
pub struct WithForm<'a> {
    pub form: &'a [u8],
    /// Leading bytes of the form that tell groups apart.
    pub group: usize,
    pub key: &'a [u8],
    pub value: &'a [u8],
}

impl Arranging {
    /// `types`: of the keys and values that come. `groups`: `Flags::groups` of the class.
    pub fn new(arranger: Box<dyn Arranger>, name: &str, groups: bool, types: (Type, Type)) -> Result<Arranging> {
        let forms = Emitter::new(Forms::new()?, false, false)?;
        let (group, columns) = Default::default();
        Ok(Arranging { arranger, name: name.into(), groups, types, forms, group, columns })
    }

    /// Gives each record of a block in form COPY (with readable slack behind it) to `each`, with its number.
    pub fn block(&mut self, block: &[u8], each: impl FnMut(usize, WithForm<'_>) -> Result<()>) -> Result<()> {
        let [koff, klen, voff, vlen] = &mut self.columns;
        for column in [&mut *koff, &mut *klen, &mut *voff, &mut *vlen] {
            column.clear();
        }
        for (at, k, v) in copied(block) {
            if !self.types.0.fits(k) || !self.types.1.fits(v) {
                return Err(wrong_length(self.types, k, v));
            }
            koff.push((at + HEADER_BYTES) as u32);
            klen.push(k as u32);
            voff.push((at + HEADER_BYTES + k) as u32);
            vlen.push(v as u32);
        }
        self.arrange(block, each)
    }

    /// The same for one record that is not in a block.
    pub fn one(&mut self, key: &[u8], value: &[u8], each: impl FnMut(usize, WithForm<'_>) -> Result<()>) -> Result<()> {
        if !self.types.0.fits(key.len()) || !self.types.1.fits(value.len()) {
            return Err(wrong_length(self.types, key.len(), value.len()));
        }
        let mut record = Vec::with_capacity(key.len() + value.len() + SLACK_BYTES);
        record.extend_from_slice(key);
        record.extend_from_slice(value);
        self.columns = [vec![0], vec![key.len() as u32], vec![key.len() as u32], vec![value.len() as u32]];
        self.arrange(&record, each)
    }

    fn arrange(&mut self, data: &[u8], mut each: impl FnMut(usize, WithForm<'_>) -> Result<()>) -> Result<()> {
        let [koff, klen, voff, vlen] = &self.columns;
        let n = koff.len();
        if n == 0 {
            return Ok(());
        }
        let keys = Slices { offsets: koff, lengths: klen };
        let values = Slices { offsets: voff, lengths: vlen };
        let batch = Batch::records(data, Some(keys), values);
        self.forms.sink_mut().clear();
        self.group.clear();
        self.group.resize(n, WHOLE_FORM);
        let (arranger, group) = (&mut self.arranger, &mut self.group);
        self.forms.run(data, |out| arranger.arrange(&batch, out, group))?;
        self.forms.hand_over()?;
        let Forms { bytes, ends, .. } = self.forms.sink();
        let wrong = |what: String| Err(Error::new(Code::UserCode, format!("the key order {} {what}", self.name)));
        if ends.len() != n {
            return wrong(format!("emitted {} forms for {n} keys", ends.len()));
        }
        let mut start = 0;
        for i in 0..n {
            let form = &bytes[start..ends[i]];
            start = ends[i];
            let group = match self.group[i] {
                WHOLE_FORM => form.len(),
                bytes if self.groups && bytes as usize <= form.len() => bytes as usize,
                bytes if self.groups => {
                    return wrong(format!("said that {bytes} bytes of a form of {} are the group", form.len()));
                }
                _ => return wrong("said what a group is, and its class does not declare that it groups".into()),
            };
            let slice = |offset: u32, len: u32| &data[offset as usize..][..len as usize];
            let (key, value) = (slice(koff[i], klen[i]), slice(voff[i], vlen[i]));
            each(i, WithForm { form, group, key, value })?;
        }
        Ok(())
    }
}

/// The forms that were emitted, one behind the other.
struct Forms {
    block: Scratch,
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Forms {
    fn new() -> Result<Forms> {
        Ok(Forms { block: Scratch::new()?, bytes: Vec::new(), ends: Vec::new() })
    }

    fn clear(&mut self) {
        self.bytes.clear();
        self.bytes.shrink_to(4 * Scratch::BYTES);
        self.ends.clear();
    }
}

fn no_value() -> Error {
    Error::new(Code::UserCode, "a key order emitted a value").hint("a form has a key alone")
}

impl Sink for Forms {
    fn begin(&mut self) -> Result<(*mut u8, usize)> {
        Ok(self.block.block())
    }

    fn filled(&mut self, len: usize, _: usize, _: &[u8]) -> Result<(*mut u8, usize)> {
        let Forms { block, bytes, ends } = self;
        let filled = block.bytes(len);
        for (at, klen, vlen) in copied(filled) {
            if vlen > 0 {
                return Err(no_value());
            }
            bytes.extend_from_slice(&filled[at + HEADER_BYTES..][..klen]);
            ends.push(bytes.len());
        }
        Ok(self.block.block())
    }

    fn big(&mut self, key: &[u8], value: &[u8]) -> Result<(*mut u8, usize)> {
        if !value.is_empty() {
            return Err(no_value());
        }
        self.bytes.extend_from_slice(key);
        self.ends.push(self.bytes.len());
        Ok(self.block.block())
    }
}
