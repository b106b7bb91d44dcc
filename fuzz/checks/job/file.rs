//! Arbitrary bytes as a job file: parsed, or refused in one line that names the file.

use std::path::Path;
use yunti_base::Code;
use yunti_engine::job::spec::file::parse_job_file;

/// Checks one input.
pub fn check(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    if let Err(error) = parse_job_file(&text, Path::new("job.toml")) {
        let line = error.to_string();
        assert!(
            error.code() == Code::Usage && line.contains("job.toml") && !line.trim_end().contains('\n'),
            "{line:?}"
        );
    }
}
