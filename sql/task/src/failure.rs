//! Errors of the executor as errors of a class, and back on the client: the code travels in front of the line.

/// Between the code of an error and its line.
const MARK: &str = "query error ";

/// Returns the error as one of a class.
pub fn of(error: yunti_base::Error) -> yunti_api::Error {
    yunti_api::Error::new(line(&error))
}

/// Returns the line of an error.
fn line(error: &yunti_base::Error) -> String {
    format!("{MARK}{}: {error}", error.code() as u8)
}

/// Keeps the engine's refusal of a record, and returns an error that ends the work.
pub fn keep(error: yunti_api::Error, to: &mut Option<yunti_api::Error>) -> yunti_base::Error {
    let line = error.to_string();
    *to = Some(error);
    yunti_base::Error::new(yunti_base::Code::Output, line)
}

/// Returns the end of a call: the engine's own refusal, if that was it.
pub fn end(done: yunti_base::Result<()>, stopped: Option<yunti_api::Error>) -> yunti_api::Result<()> {
    match (done, stopped) {
        (_, Some(error)) => Err(error),
        (Ok(()), None) => Ok(()),
        (Err(error), None) => Err(of(error)),
    }
}
