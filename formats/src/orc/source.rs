//! The source: stripes as units, records from the columns that the job asks for.
//!
//! A column with a dictionary arrives as codes: its values stand in memory once.

use std::sync::Arc;

use yunti_api::{Bytes, Class, Context, Counter, Out, Result, Scan, Sink, Source, SourceFile, Unit};

use super::columns::Want;
use super::decode::StripeReader;
use super::describe;
use super::failure::{guarded, of_panic};
use super::stripe::Stripe;
use super::tail::{StripePlace, Tail};
use crate::emit::{self, Emission};
use crate::file::input::Input;
use crate::scan::Picked;

/// Reader of ORC files.
pub struct OrcSource {
    /// Rows of the units that were opened.
    rows: Counter,
    tail: Option<Arc<Tail>>,
    unit: Option<OpenUnit>,
}

/// A stripe that is being read.
struct OpenUnit {
    reader: StripeReader,
    emission: Emission,
}

impl Class for OrcSource {
    fn create(context: &Context) -> Result<Self> {
        Ok(OrcSource { rows: context.counter("Formats", "ROWS")?, tail: None, unit: None })
    }
}

/// Returns the columns of a scan.
fn pick(scan: &Scan, tail: &Tail) -> Result<(Picked, Want)> {
    let picked = Picked::find(scan, &tail.top.schema())?;
    let paths: Vec<&[String]> = picked.paths().map(|path| &path[..]).collect();
    let want = Want::of(&tail.top, &paths);
    Ok((picked, want))
}

impl Source for OrcSource {
    type Key = Bytes;
    type Value = Bytes;
    const GIVES_BLOCKS: bool = true;

    fn plan(&mut self, file: &SourceFile, scan: &Scan) -> Result<Vec<Unit>> {
        guarded(|| {
            let file = Input::File(file.clone());
            let tail = Tail::load(&file)?;
            let (_, want) = pick(scan, &tail)?;
            let columns = want.numbers(&tail)?;
            let mut units = Vec::with_capacity(tail.stripes.len());
            let is_needed = |place: &StripePlace| place.rows > 0 && scan.covers(place.offset);
            for (number, place) in tail.stripes.iter().enumerate().filter(|(_, place)| is_needed(place)) {
                units.push(Unit {
                    number: number as u64,
                    position: place.offset,
                    bytes: Stripe::load(&file, &tail, place)?.stored_bytes(&columns),
                    records: place.rows,
                });
            }
            Ok(units)
        })
    }

    fn open(&mut self, file: &SourceFile, scan: &Scan, unit: u64) -> Result<()> {
        self.unit = None;
        let tail = match &self.tail {
            Some(tail) => tail.clone(),
            None => self.tail.insert(Arc::new(guarded(|| Tail::load(&Input::File(file.clone())))?)).clone(),
        };
        let (picked, want) = pick(scan, &tail)?;
        let reader = guarded(|| StripeReader::open(&Input::File(file.clone()), &tail, unit, &want))?;
        self.rows.add(reader.rows_left());
        self.unit = Some(OpenUnit { reader, emission: Emission::of(scan, picked) });
        Ok(())
    }

    fn next(&mut self, out: &mut Out<'_, Bytes, Bytes>) -> Result<bool> {
        emit::next(&mut self.unit, |unit| &mut unit.emission, of_panic, |unit| unit.reader.next(), out)
    }

    fn describe(&mut self, file: &SourceFile, out: &mut Sink<'_>) -> Result<()> {
        let file = Input::File(file.clone());
        let document = guarded(|| describe::document(&Tail::load(&file)?, &file))?;
        out.put(document.as_bytes())?;
        Ok(())
    }
}
