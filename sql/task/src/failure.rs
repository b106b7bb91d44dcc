//! Errors of the executor as errors of a class, and back on the client: the code travels in front of the line.

/// Between the code of an error and its line.
const MARK: &str = "query error ";

/// Returns the error as one of a class.
pub fn of(error: yunti_base::Error) -> yunti_api::Error {
    yunti_api::Error::new(line(&error))
}

/// Returns an error as the line of a class.
pub fn line(error: &yunti_base::Error) -> String {
    format!("{MARK}{}: {error}", error.code() as u8)
}
