//! The source of a fragment: the columns that it reads, as the blocks of the class of their format.
//!
//! The engine names the fragment by the scan's key (`key-columns` of the job), and each record has the number of its
//! fragment as the key. The bounds of the fragment leave out units without rows for it.
//!
//! A fragment that reads no file runs once: whatever its file is, it has one unit, whose only block has a row without a
//! column.

use std::sync::Arc;

use yunti_api::{Bytes, Class, Context as TaskContext, Out, Result, Scan, SourceFile, Unit};
use yunti_engine::memory::Budget;
use yunti_engine::memory::Buffer;
use yunti_engine::operator::class::find_class;
use yunti_engine::operator::context::JobContext;
use yunti_engine::operator::cursor::{HEADER_BYTES, LARGE_BYTES};
use yunti_engine::operator::{self, Emitter, Kind, Sink};
use yunti_sql_arrow::text::Format;
use yunti_sql_plan::wire::Stage;

use crate::failure;
use crate::one_file::OneFile;
use crate::stage;
use crate::text::TextSource;

/// A source of blocks.
pub struct Source {
    stage: Stage,
    budget: Arc<Budget>,
    open: Option<Open>,
    /// The file that is open, if it is a text, with the key of its blocks.
    text: Option<([u8; 4], TextSource)>,
    /// Number of a fragment that runs once, until it has its block.
    once: Option<u32>,
}

/// Block of one row without a column.
const ONE_ROW: &[u8] = b"YCB1\x01\0\0\0\0\0\0\0";

/// The file that is open, as the class of its format has it.
struct Open {
    /// Dropped before its file.
    source: Box<dyn operator::Source>,
    file: Arc<operator::SourceFile>,
    key: [u8; 4],
    emitter: Emitter<Blocks>,
}

impl Class for Source {
    fn create(task: &TaskContext) -> Result<Source> {
        let stage = stage::outline(task).map_err(failure::of)?;
        Ok(Source { stage, budget: stage::context(task)?.budget, open: None, text: None, once: None })
    }
}

impl Source {
    /// Returns the number of a scan's fragment, and the scan for the class of its format.
    fn scan(&self, of: &Scan) -> yunti_base::Result<(u32, operator::Scan)> {
        let number = of.key.first().and_then(|number| number.parse::<u32>().ok());
        let fragment = number.and_then(|number| self.stage.fragments.get(number as usize));
        let (Some(number), Some(fragment)) = (number, fragment) else {
            return Err(yunti_base::Error::new(yunti_base::Code::Internal, "the scan names no fragment of the stage"));
        };
        let input = &fragment.input;
        let scan = operator::Scan {
            value: input.fields.iter().map(|field| field.name.clone()).collect(),
            no_value: input.fields.is_empty(),
            marks_nulls: true,
            blocks: true,
            condition: input.condition.clone(),
            from: of.from,
            to: of.to,
            ..operator::Scan::default()
        };
        Ok((number, scan))
    }

    /// Returns the number of a fragment that reads no file.
    fn once(&self, of: &Scan) -> Option<u32> {
        let number = of.key.first()?.parse::<u32>().ok()?;
        let fragment = self.stage.fragments.get(number as usize)?;
        fragment.input.format.is_empty().then_some(number)
    }

    /// Returns the number of a scan's fragment, and its file opened, if it is a text.
    fn text(&self, file: &SourceFile, of: &Scan) -> yunti_base::Result<Option<(u32, TextSource)>> {
        let (number, _) = self.scan(of)?;
        let input = &self.stage.fragments[number as usize].input;
        match Format::parse(&input.format) {
            Some(format) => TextSource::open(file, input, format, &self.budget).map(|text| Some((number, text))),
            None => Ok(None),
        }
    }

    fn opened(&self, file: &SourceFile, number: u32) -> yunti_base::Result<Open> {
        let format = stage::format_of(&self.stage.fragments[number as usize].input.format)?;
        let class = find_class(&[stage::library()?], format.source, &[Kind::Source])?;
        let context = operator::TaskContext::new(JobContext::empty(), false, 0, 1);
        let name = String::from_utf8_lossy(file.name()).into_owned();
        let files = OneFile(file.clone());
        Ok(Open {
            source: class.source(&context)?,
            file: Arc::new(operator::SourceFile::open(&files, name.as_ref(), file.index(), &self.budget)?),
            key: number.to_be_bytes(),
            emitter: Emitter::new(Blocks::new()?, false, false)?,
        })
    }
}

impl yunti_api::Source for Source {
    type Key = Bytes;
    type Value = Bytes;

    fn plan(&mut self, file: &SourceFile, scan: &Scan) -> Result<Vec<Unit>> {
        if self.once(scan).is_some() {
            let unit = Unit { number: 0, position: 0, bytes: 0, records: 1 };
            return Ok(if scan.covers(0) { vec![unit] } else { Vec::new() });
        }
        if let Some((_, text)) = self.text(file, scan).map_err(failure::of)? {
            let units = text.units().map_err(failure::of)?.into_iter();
            let units = units.map(|(number, position, bytes)| Unit { number, position, bytes, records: 0 });
            return Ok(units.filter(|unit| scan.covers(unit.position)).collect());
        }
        let plan = || {
            let (number, scan) = self.scan(scan)?;
            let mut open = self.opened(file, number)?;
            open.source.plan(&open.file, &scan)
        };
        let unit = |of: operator::Unit| Unit {
            number: of.number,
            position: of.position,
            bytes: of.bytes,
            records: of.records,
        };
        Ok(plan().map_err(failure::of)?.into_iter().map(unit).collect())
    }

    fn open(&mut self, file: &SourceFile, scan: &Scan, unit: u64) -> Result<()> {
        self.once = self.once(scan);
        if self.once.is_some() {
            return Ok(());
        }
        if let Some((number, mut text)) = self.text(file, scan).map_err(failure::of)? {
            text.begin(unit).map_err(failure::of)?;
            self.text = Some((number.to_be_bytes(), text));
            return Ok(());
        }
        let mut open = || {
            let (number, scan) = self.scan(scan)?;
            if self.open.is_none() {
                self.open = Some(self.opened(file, number)?);
            }
            let Some(open) = &mut self.open else { return Ok(()) };
            open.source.open(&open.file, &scan, unit)
        };
        open().map_err(failure::of)
    }

    fn next(&mut self, out: &mut Out<'_, Bytes, Bytes>) -> Result<bool> {
        if let Some(number) = self.once.take() {
            out.emit(&number.to_be_bytes(), ONE_ROW)?;
            return Ok(false);
        }
        if let Some((key, text)) = &mut self.text {
            let Some(block) = text.next().map_err(failure::of)? else { return Ok(false) };
            out.emit(&*key, block)?;
            return Ok(true);
        }
        let Some(Open { source, file, key, emitter }) = &mut self.open else { return Ok(false) };
        let mut more = false;
        let emitted = emitter.run(&[], |out| {
            more = source.next(out)?;
            Ok(())
        });
        emitted.and_then(|()| emitter.hand_over()).map_err(|e| failure::of(e.at_path(file.path())))?;
        for block in emitter.sink_mut().blocks.drain(..) {
            out.emit(&*key, &block)?;
        }
        Ok(more)
    }
}

/// Blocks of the class. A block of usual size comes as a large record.
struct Blocks {
    blocks: Vec<Vec<u8>>,
    buffer: Buffer,
}

impl Blocks {
    fn new() -> yunti_base::Result<Blocks> {
        Ok(Blocks { blocks: Vec::new(), buffer: Buffer::new(LARGE_BYTES, None)? })
    }
}

impl Sink for Blocks {
    fn begin(&mut self) -> yunti_base::Result<(*mut u8, usize)> {
        Ok((self.buffer.with_slack_mut().as_mut_ptr(), self.buffer.len()))
    }

    fn filled(&mut self, len: usize, _need: usize, _: &[u8]) -> yunti_base::Result<(*mut u8, usize)> {
        let mut rest = &self.buffer[..len];
        while let Some((head, behind)) = rest.split_first_chunk::<HEADER_BYTES>() {
            let length = |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]) as usize;
            let (key, value) = (length(0), length(4));
            let block = behind.get(key..key + value).ok_or_else(|| {
                yunti_base::Error::new(yunti_base::Code::UserCode, "the source passed on a record beyond its buffer")
            })?;
            self.blocks.push(block.to_vec());
            rest = rest.get((HEADER_BYTES + key + value).next_multiple_of(8)..).unwrap_or_default();
        }
        self.begin()
    }

    fn large(&mut self, _: &[u8], value: &[u8]) -> yunti_base::Result<(*mut u8, usize)> {
        self.blocks.push(value.to_vec());
        self.begin()
    }
}
