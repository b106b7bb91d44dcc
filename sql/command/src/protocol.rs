//! Results for programs: one JSON line for each statement, in order. The process stays until its input ends.
//!
//! ```text
//!   in    statements, each with a semicolon at the end of a line
//!   out   {"columns":["a"],"types":["Int64"],"rows":[["1"],[null]]}      values as text
//!         {"written":3}      rows that a statement wrote
//!         {"done":true}      a statement without rows
//!         {"error":{"code":"usage","exit_code":2,"message":"..","path":..,"offset":..,"hint":..,"detail":null}}
//! ```

use std::io::{self, BufRead, Write};

use yunti_base::{Code, Error, Result};
use yunti_program::failure::{Failure, Outcome, as_json};
use yunti_sql_front::datafusion::arrow::datatypes::SchemaRef;
use yunti_sql_front::datafusion::arrow::record_batch::RecordBatch;
use yunti_sql_front::output::text::{Texts, options, put_json_text};
use yunti_sql_front::session::run::Done;
use yunti_sql_front::session::{Rows, Session};
use yunti_sql_front::statements::{self, Statement};

/// Answers the statements of standard input as they come.
pub fn serve(session: &mut Session) -> Outcome {
    let mut pending = String::new();
    let mut input = io::stdin().lock();
    loop {
        let mut line = String::new();
        let read = input.read_line(&mut line);
        let read = read.map_err(|e| Error::io(Code::Input, "cannot read the statements", &e))?;
        pending.push_str(&line);
        // Statements end at the end of a line: to look for the end at each line would cost the square of a long one.
        if read > 0 && !line.trim_end().ends_with(';') {
            continue;
        }
        let (all, is_complete) = statements::split(&pending);
        if read > 0 && !is_complete {
            continue;
        }
        run(session, &all)?;
        pending.clear();
        if read == 0 {
            return Ok(());
        }
    }
}

/// Answers statements.
pub fn run(session: &mut Session, all: &[Statement]) -> Outcome {
    for statement in all {
        let mut collected = Collected::default();
        let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| session.run(statement, &mut collected)));
        let done = done.unwrap_or_else(|panic| Err(yunti_base::error::of_panic(&*panic)));
        let line = match done {
            Ok(Done::Rows) => collected.line(),
            Ok(Done::Written(rows)) => format!("{{\"written\":{rows}}}"),
            Ok(Done::Nothing) => "{\"done\":true}".into(),
            Err(e) => serde_json::json!({ "error": as_json(&e) }).to_string(),
        };
        let mut out = io::stdout().lock();
        if writeln!(out, "{line}").and_then(|()| out.flush()).is_err() {
            return Err(Failure::OutputClosed);
        }
        session.cancel.check()?;
    }
    Ok(())
}

/// The rows of a result as JSON.
#[derive(Default)]
struct Collected {
    head: String,
    rows: String,
}

impl Collected {
    fn line(self) -> String {
        format!("{{{},\"rows\":[{}]}}", self.head, self.rows)
    }
}

fn list(texts: impl Iterator<Item = String>) -> String {
    let mut out = String::from("[");
    for (n, text) in texts.enumerate() {
        if n > 0 {
            out.push(',');
        }
        put_json_text(&text, &mut out);
    }
    out.push(']');
    out
}

impl Rows for Collected {
    fn begin(&mut self, schema: &SchemaRef) -> Result<()> {
        let names = list(schema.fields().iter().map(|field| field.name().clone()));
        let types = list(schema.fields().iter().map(|field| field.data_type().to_string()));
        self.head = format!("\"columns\":{names},\"types\":{types}");
        Ok(())
    }

    fn rows(&mut self, batch: &RecordBatch) -> Result<()> {
        let options = options();
        let columns = batch.columns().iter().map(|column| Texts::of(column, &options)).collect::<Result<Vec<_>>>()?;
        let mut text = String::new();
        for row in 0..batch.num_rows() {
            self.rows.push_str(if self.rows.is_empty() { "[" } else { ",[" });
            for (n, column) in columns.iter().enumerate() {
                if n > 0 {
                    self.rows.push(',');
                }
                if column.is_null(row) {
                    self.rows.push_str("null");
                    continue;
                }
                text.clear();
                column.put(row, &mut text)?;
                put_json_text(&text, &mut self.rows);
            }
            self.rows.push(']');
        }
        Ok(())
    }
}
