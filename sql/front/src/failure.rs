//! Errors of DataFusion as errors of Yunti: one line with the place in the query, and a code.

use std::error::Error as StdError;

use datafusion::arrow::error::ArrowError;
use datafusion::common::{DataFusionError, SchemaError};
use yunti_base::{Code, Error};

use crate::statements::Statement;

/// Characters of the query that an error shows at its place.
const SHOWN_CHARS: usize = 40;

/// Returns the error of a statement.
pub fn of(error: DataFusionError, statement: &Statement) -> Error {
    if let Some(own) = own(&error) {
        return own.clone();
    }
    let text = error.to_string();
    let span = error.diagnostic().and_then(|diagnostic| diagnostic.span);
    let place = span.map(|span| (span.start.line as usize, span.start.column as usize)).or_else(|| place_of(&text));
    let code = code_of(&error);
    let message = message_of(&error);
    let (message, hint) = with_hint(&message);
    let what = match place.filter(|&(line, _)| line > 0) {
        Some((line, column)) => format!("{}: {message}", at(statement, line, column)),
        None => message,
    };
    let error = Error::new(code, what);
    match hint {
        Some(hint) => error.hint(hint),
        None => error,
    }
}

/// Returns an error of DataFusion without a place.
pub fn plain(error: DataFusionError) -> Error {
    of(error, &Statement { text: String::new(), line: 1, column: 1 })
}

/// Returns an error of Yunti as one of DataFusion, so that `of` finds it again.
pub fn wrapped(error: Error) -> DataFusionError {
    DataFusionError::External(Box::new(error))
}

/// Returns the place of an error in the whole text, with the text there.
fn at(statement: &Statement, line: usize, column: usize) -> String {
    let text = statement.text.lines().nth(line - 1).unwrap_or("");
    let shown: String = text.chars().skip(column.saturating_sub(1)).take(SHOWN_CHARS).collect();
    let shown = shown.trim_end();
    let in_line = if line == 1 { statement.column - 1 + column } else { column };
    let place = format!("{}:{in_line}", statement.line - 1 + line);
    if shown.is_empty() { place } else { format!("{place} at '{shown}'") }
}

/// Returns the error of Yunti within an error, if there is one.
fn own<'e>(error: &'e (dyn StdError + 'static)) -> Option<&'e Error> {
    let mut at = Some(error);
    while let Some(error) = at {
        if let Some(own) = error.downcast_ref::<Error>() {
            return Some(own);
        }
        let inner = match error.downcast_ref::<DataFusionError>() {
            Some(DataFusionError::External(inner)) => own_of(&**inner),
            Some(DataFusionError::Shared(inner)) => own_of(&**inner),
            Some(DataFusionError::Context(_, inner) | DataFusionError::Diagnostic(_, inner)) => own_of(&**inner),
            Some(DataFusionError::ArrowError(inner, _)) => own_of(&**inner),
            Some(DataFusionError::ParquetError(inner)) => own_of(&**inner),
            Some(DataFusionError::ObjectStore(inner)) => own_of(&**inner),
            Some(DataFusionError::Collection(all)) => return all.iter().find_map(|error| own(error)),
            _ => error.source(),
        };
        let inner = match error.downcast_ref::<ArrowError>() {
            Some(ArrowError::ExternalError(inner)) => own_of(&**inner),
            _ => inner,
        };
        at = match error.downcast_ref::<std::io::Error>() {
            Some(io) => io.get_ref().map(|inner| inner as &(dyn StdError + 'static)),
            None => inner,
        };
    }
    None
}

fn own_of<'e>(error: &'e (dyn StdError + 'static)) -> Option<&'e (dyn StdError + 'static)> {
    Some(error)
}

/// Returns the place `Line: 1, Column: 8` that the parser names.
fn place_of(text: &str) -> Option<(usize, usize)> {
    let (_, rest) = text.rsplit_once("Line: ")?;
    let (line, rest) = rest.split_once(", Column: ")?;
    let column: String = rest.chars().take_while(char::is_ascii_digit).collect();
    Some((line.parse().ok()?, column.parse().ok()?))
}

fn code_of(error: &DataFusionError) -> Code {
    match error {
        DataFusionError::ArrowError(inner, _) => of_arrow(inner),
        DataFusionError::ParquetError(_) => Code::Corrupt,
        DataFusionError::ObjectStore(inner) => match **inner {
            object_store::Error::NotFound { .. } => Code::Input,
            _ => Code::Input,
        },
        DataFusionError::IoError(_) => Code::Input,
        DataFusionError::Execution(_) | DataFusionError::External(_) => Code::Invalid,
        DataFusionError::ResourcesExhausted(_) => Code::Memory,
        DataFusionError::Internal(_) | DataFusionError::ExecutionJoin(_) => Code::Internal,
        DataFusionError::Context(_, inner) | DataFusionError::Diagnostic(_, inner) => code_of(inner),
        DataFusionError::Shared(inner) => code_of(inner),
        DataFusionError::Collection(all) => all.first().map_or(Code::Usage, code_of),
        _ => Code::Usage,
    }
}

fn of_arrow(error: &ArrowError) -> Code {
    match error {
        ArrowError::CsvError(_) | ArrowError::JsonError(_) | ArrowError::ParquetError(_) => Code::Corrupt,
        ArrowError::IpcError(_) | ArrowError::IoError(..) => Code::Corrupt,
        ArrowError::NotYetImplemented(_) | ArrowError::SchemaError(_) => Code::Usage,
        ArrowError::MemoryError(_) => Code::Memory,
        // Values of the data that an operation has no result for.
        _ => Code::Invalid,
    }
}

/// Returns the message in one line, without DataFusion's prefixes and place.
fn message_of(error: &DataFusionError) -> String {
    let text = match error {
        DataFusionError::Context(_, inner) | DataFusionError::Diagnostic(_, inner) => return message_of(inner),
        DataFusionError::Shared(inner) => return message_of(inner),
        DataFusionError::Collection(all) => match all.first() {
            Some(first) => return message_of(first),
            None => error.to_string(),
        },
        DataFusionError::SchemaError(inner, _) => match &**inner {
            SchemaError::FieldNotFound { field, valid_fields } => {
                let similar = valid_fields.iter().map(|field| field.name.clone());
                let shown: Vec<String> = similar.take(20).collect();
                let hint = match shown.len() {
                    0 => String::new(),
                    _ => format!(" (columns: {})", shown.join(", ")),
                };
                format!("there is no column '{}'{hint}", field.flat_name())
            }
            other => other.to_string(),
        },
        DataFusionError::SQL(inner, _) => inner.to_string(),
        DataFusionError::ArrowError(inner, _) => inner.to_string(),
        other => other.strip_backtrace(),
    };
    let mut text = text.split(" at Line: ").next().unwrap_or(&text).to_string();
    for prefix in ["sql parser error: ", "Error during planning: ", "Execution error: ", "External error: "] {
        if let Some(rest) = text.strip_prefix(prefix) {
            text = rest.to_string();
        }
    }
    let mut line = text.split('\n').map(str::trim).filter(|piece| !piece.is_empty()).collect::<Vec<_>>().join(" ");
    if let Some((before, _)) = line.split_once("This issue was likely caused by a bug in DataFusion") {
        line = before.trim_end().to_string();
    }
    line
}

/// Returns a message of the planner in the words of Yunti, with what to do.
fn with_hint(message: &str) -> (String, Option<String>) {
    if let Some(name) = message.strip_prefix("table '").and_then(|rest| rest.strip_suffix("' not found")) {
        let own = name.strip_prefix(concat!("yunti", ".public."));
        let name = own.or_else(|| name.strip_prefix(concat!("yunti", "."))).unwrap_or(name);
        let hint = "name a file in quotes, as in from 'data.parquet', or a table with --table NAME=PATH";
        return (format!("there is no table '{name}'"), Some(hint.into()));
    }
    (message.to_string(), None)
}
