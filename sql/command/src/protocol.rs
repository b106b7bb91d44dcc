//! Results for programs (`--statements`): JSON lines. The process stays until its input ends.
//!
//! ```text
//!   in    "select 1 as n, null as m"
//!   out   {"columns":[{"name":"n","type":"Int64"},{"name":"m","type":"Null"}],"rows":[["1",null]]}
//!         {"columns":[],"rows":[],"written":3}      of a statement that wrote; `written` is null if it has no rows
//!         {"error":"..","code":"usage","exit_code":2,"path":null,"offset":null,"hint":null,"detail":null}
//! ```
//!
//! A value is its text as CSV has it, so that no digits are lost.

use std::io::{self, BufRead, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};

use serde_json::{Value, json};
use yunti_base::error::of_panic;
use yunti_base::{Code, Error, Result};
use yunti_program::failure::{Failure, Outcome, as_json};
use yunti_sql_front::datafusion::arrow::datatypes::{DataType, FieldRef, SchemaRef};
use yunti_sql_front::datafusion::arrow::record_batch::RecordBatch;
use yunti_sql_front::output::text::{Texts, options, put_json_text};
use yunti_sql_front::rows::Rows;
use yunti_sql_front::session::Session;
use yunti_sql_front::session::run::Done;

/// Answers the statements of standard input as they come.
pub fn serve(session: &mut Session) -> Outcome {
    let mut input = io::stdin().lock();
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = input.read_until(b'\n', &mut line);
        if read.map_err(|e| Error::io(Code::Input, "cannot read the statements", &e))? == 0 {
            return Ok(());
        }
        let answer = catch_unwind(AssertUnwindSafe(|| answer(session, &line)));
        let answer = answer.unwrap_or_else(|panic| Err(of_panic(&*panic))).unwrap_or_else(|e| line_of(&e));
        let mut out = io::stdout().lock();
        if writeln!(out, "{answer}").and_then(|()| out.flush()).is_err() {
            return Err(Failure::OutputClosed);
        }
        session.cancel.check()?;
    }
}

/// Runs the statement of a line, and returns the line of its result.
fn answer(session: &mut Session, line: &[u8]) -> Result<String> {
    let text: String = serde_json::from_slice(line)
        .map_err(|e| Error::new(Code::Usage, format!("the line is no JSON string: {e}")).hint("see --help"))?;
    let (all, _) = session.split(&text);
    let [statement] = &all[..] else {
        return Err(Error::new(Code::Usage, format!("the line has {} statements instead of one", all.len())));
    };
    let mut collected = Collected::default();
    Ok(match session.run(statement, &mut collected)? {
        Done::Rows => format!("{{\"columns\":{},\"rows\":[{}]}}", collected.columns, collected.rows),
        Done::Written(rows) => format!("{{\"columns\":[],\"rows\":[],\"written\":{rows}}}"),
        Done::Nothing => "{\"columns\":[],\"rows\":[],\"written\":null}".into(),
    })
}

fn line_of(error: &Error) -> String {
    let mut line = as_json(error);
    line["error"] = error.to_string().into();
    if let Some(members) = line.as_object_mut() {
        members.remove("message");
    }
    line.to_string()
}

/// Returns the name of a type: `Timestamp(Microsecond, None)` rather than `Timestamp(µs)`.
fn type_name(data_type: &DataType) -> String {
    match data_type.is_nested() {
        true => data_type.to_string(),
        false => format!("{data_type:?}"),
    }
}

/// The rows of a result as JSON.
#[derive(Default)]
struct Collected {
    columns: String,
    rows: String,
}

impl Rows for Collected {
    fn begin(&mut self, schema: &SchemaRef) -> Result<()> {
        let column = |field: &FieldRef| json!({ "name": field.name(), "type": type_name(field.data_type()) });
        self.columns = Value::Array(schema.fields().iter().map(column).collect()).to_string();
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
