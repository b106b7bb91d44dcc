//! Results to standard output, or to an output.

use std::io::{self, BufWriter, IsTerminal, Stdout, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use yunti_base::{Code, Error, Result};
use yunti_program::failure::{Failure, Outcome};
use yunti_sql_front::datafusion::arrow::datatypes::SchemaRef;
use yunti_sql_front::datafusion::arrow::record_batch::RecordBatch;
use yunti_sql_front::output::{Encoder, Format};
use yunti_sql_front::rows::Rows;
use yunti_sql_front::session::Session;
use yunti_sql_front::session::run::Done;
use yunti_sql_front::statements::Statement;

use crate::flags::Flags;

/// Runs statements one after the other, and prints the rows of each.
pub fn run(session: &mut Session, all: &[Statement], flags: &Flags) -> Outcome {
    let format = format_of(flags)?;
    if let Some(output) = &flags.output {
        return to_output(session, all, flags, (output, format));
    }
    let format = format.unwrap_or_else(default_format);
    if format.is_binary() && io::stdout().is_terminal() {
        let error = Error::new(Code::Usage, format!("a terminal does not show {}", format.name()));
        return Err(error.hint("name a file with --output").into());
    }
    let last = all.len().saturating_sub(1);
    for (n, statement) in all.iter().enumerate() {
        // A file of bytes has one result, so that rows before the last one's have no place.
        match format.is_binary() && n < last && !flags.explain && !flags.analyze {
            true => without_rows(session, statement)?,
            false => one(session, statement, flags, format)?,
        }
    }
    Ok(())
}

/// Runs a statement whose rows no one sees.
fn without_rows(session: &mut Session, statement: &Statement) -> Outcome {
    session.run(statement, &mut Dropped)?;
    Ok(())
}

fn one(session: &mut Session, statement: &Statement, flags: &Flags, format: Format) -> Outcome {
    // Lines of a plan are for people.
    let mut out = Printer::new(if flags.analyze { Format::Text } else { format });
    let is_closed = out.is_closed.clone();
    if flags.explain {
        return print_text(&session.explain(statement)?);
    }
    if flags.analyze && flags.on.is_some() {
        return analyze_on_cluster(session, statement);
    }
    let started = std::time::Instant::now();
    let analyzed;
    let statement = match flags.analyze {
        true => {
            analyzed = Statement { text: format!("explain analyze {}", statement.text), ..statement.clone() };
            &analyzed
        }
        false => statement,
    };
    let done = session.run(statement, &mut out);
    let done = done.and_then(|done| out.finish().map(|()| done));
    match done {
        Err(_) if is_closed.load(Ordering::Relaxed) => Err(Failure::OutputClosed),
        Err(e) => Err(e.into()),
        Ok(Done::Written(rows)) if !flags.quiet => {
            eprintln!("yunti: wrote {rows} rows in {:.2} s", started.elapsed().as_secs_f64());
            Ok(())
        }
        Ok(_) => Ok(()),
    }
}

/// Runs a statement on the cluster, and prints its stages with the reports of their jobs.
fn analyze_on_cluster(session: &mut Session, statement: &Statement) -> Outcome {
    let plan = session.explain(statement)?;
    session.run(statement, &mut Dropped)?;
    print_text(&format!("{plan}\n{}", session.reports()))
}

/// Prints text as it is.
pub fn print_text(text: &str) -> Outcome {
    yunti_program::terminal::stdout::print(text)
}

/// Returns the format of `--output-format`.
pub fn format_of(flags: &Flags) -> Result<Option<Format>> {
    flags.output_format.as_deref().map(Format::named).transpose()
}

/// Returns the format for standard output: a table for people, CSV for programs.
pub fn default_format() -> Format {
    match io::stdout().is_terminal() {
        true => Format::Table,
        false => Format::Csv { delimiter: b',', header: true },
    }
}

/// Runs statements; the last writes the output.
fn to_output(
    session: &mut Session,
    all: &[Statement],
    flags: &Flags,
    (output, format): (&Path, Option<Format>),
) -> Outcome {
    let format = format.or_else(|| Format::of_path(&output.to_string_lossy())).unwrap_or(Format::Parquet);
    let Some((last, before)) = all.split_last() else { return Ok(()) };
    for statement in before {
        one(session, statement, flags, default_format())?;
    }
    let mut writer = session.output(output, format)?;
    match session.run(last, &mut writer)? {
        Done::Rows => {
            let rows = writer.finish()?;
            if !flags.quiet {
                eprintln!("yunti: wrote {rows} rows to {}", output.display());
            }
            Ok(())
        }
        _ => Err(Error::new(Code::Usage, "the last statement has no rows for --output").into()),
    }
}

/// Takes rows, and keeps none.
struct Dropped;

impl Rows for Dropped {
    fn begin(&mut self, _: &SchemaRef) -> Result<()> {
        Ok(())
    }

    fn rows(&mut self, _: &RecordBatch) -> Result<()> {
        Ok(())
    }
}

/// Writes rows to standard output.
pub struct Printer {
    encoder: Option<Encoder<BufWriter<Out>>>,
    begun: bool,
    /// True once the reader of standard output has gone.
    pub is_closed: Arc<AtomicBool>,
}

impl Printer {
    pub fn new(format: Format) -> Printer {
        let is_closed = Arc::new(AtomicBool::new(false));
        let out = Out { stdout: io::stdout(), is_closed: is_closed.clone() };
        let encoder = Encoder::new(format, BufWriter::with_capacity(64 << 10, out));
        Printer { encoder: Some(encoder), begun: false, is_closed }
    }

    /// Writes what is left.
    pub fn finish(mut self) -> Result<()> {
        let Some(encoder) = self.encoder.take().filter(|_| self.begun) else { return Ok(()) };
        let mut out = encoder.finish()?;
        out.flush().map_err(closed)
    }
}

fn closed(e: io::Error) -> Error {
    Error::io(Code::Output, "cannot write the result", &e)
}

/// Standard output, which notes that its reader has gone.
struct Out {
    stdout: Stdout,
    is_closed: Arc<AtomicBool>,
}

impl Out {
    fn note<T>(&self, done: io::Result<T>) -> io::Result<T> {
        done.inspect_err(|e| {
            if e.kind() == io::ErrorKind::BrokenPipe {
                self.is_closed.store(true, Ordering::Relaxed);
            }
        })
    }
}

impl Write for Out {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let done = self.stdout.write(bytes);
        self.note(done)
    }

    fn flush(&mut self) -> io::Result<()> {
        let done = self.stdout.flush();
        self.note(done)
    }
}

impl Rows for Printer {
    fn begin(&mut self, schema: &SchemaRef) -> Result<()> {
        self.begun = true;
        self.encoder.as_mut().map_or(Ok(()), |encoder| encoder.begin(schema))
    }

    fn rows(&mut self, batch: &RecordBatch) -> Result<()> {
        self.encoder.as_mut().map_or(Ok(()), |encoder| encoder.rows(batch))
    }
}
