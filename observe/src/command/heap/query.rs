//! Query over the objects of a dump, and its answer.

use serde_json::{Value as Json, json};
use yunti_base::{Code, Error, Result};
use yunti_heap::Heap;
use yunti_heap::query::{Answered, Query, Value, run};
use yunti_probe::answer::{Answer, Table};
use yunti_program::text::numbers::count as grouped;

/// Rows of a query without a limit.
const ROWS_MAX: usize = 1000;

/// Parses a query. An error shows the place.
pub fn parse(text: &str) -> Result<Query> {
    Query::parse(text).map_err(|problem| {
        let begin: String = text.chars().take(problem.at).collect();
        let rest: String = text.chars().skip(problem.at).take(20).collect();
        let place = if rest.is_empty() { "at the end".to_owned() } else { format!("at '{rest}'") };
        Error::new(Code::Usage, format!("--query: {} {place}", problem.what))
            .hint(format!("character {} of the query; the grammar is in the guide of heap", begin.chars().count() + 1))
    })
}

/// Runs a query, adds its table to the answer, and returns the JSON of the rows.
pub fn answer(heap: &Heap, query: &Query, top: usize, answer: &mut Answer) -> Result<Json> {
    let result = run(heap, query, ROWS_MAX)?;
    answer.notes.extend(heap.notes.iter().cloned());
    answer.lead = match (query.is_aggregate(), result.rows.len()) {
        (true, _) => format!("{} objects of {} match", grouped(result.found), query.class),
        (false, shown) if shown as u64 == result.found => {
            format!("{} objects of {} match", grouped(result.found), query.class)
        }
        (false, shown) => {
            format!(
                "{} objects of {} match; {} of them follow",
                grouped(result.found),
                query.class,
                grouped(shown as u64)
            )
        }
    };
    if result.found == 0 && query.with_subclasses {
        answer.notes.push("A dump does not say which classes implement an interface; name a class.".to_owned());
    }
    let is_number = |column: usize| {
        result.rows.iter().all(|row| matches!(row[column], Value::Int(_) | Value::Float(_) | Value::Null))
    };
    // Headings are static, and one query is all that a process runs.
    let heading = |column: usize| -> &'static str { result.columns[column].clone().leak() };
    answer.tables.push(Table {
        title: "Result".to_owned(),
        columns: (0..result.columns.len()).map(|column| (heading(column), is_number(column))).collect(),
        rows: result.rows.iter().map(|row| row.iter().map(|value| shown(&result, value)).collect()).collect(),
        shown: if query.limit.is_some() { result.rows.len() } else { top },
    });
    let rows: Vec<Vec<Json>> =
        result.rows.iter().map(|row| row.iter().map(|value| as_json(&result, value)).collect()).collect();
    Ok(json!({"class": query.class, "found": result.found, "columns": result.columns, "rows": rows}))
}

/// Returns a value as text that cannot control a terminal.
fn shown(result: &Answered, value: &Value) -> String {
    let text = match value {
        Value::Object(id) => result.names.get(id).cloned().unwrap_or_else(|| value.to_string()),
        _ => value.to_string(),
    };
    text.replace(|c: char| c.is_control(), " ")
}

fn as_json(result: &Answered, value: &Value) -> Json {
    match value {
        Value::Null => Json::Null,
        Value::Bool(is) => json!(is),
        Value::Int(n) => json!(n),
        Value::Float(n) => json!(n),
        Value::Text(text) => json!(text),
        Value::Object(_) => json!(shown(result, value)),
    }
}
