//! Rules about programs as mappers and reducers.

use super::*;

/// Fires if this process's environment would have slowed Python programs down.
pub(super) fn unbuffered_python(report: &Report) -> Option<Advice> {
    let programs = counter(report, "PYTHONUNBUFFERED_REMOVED");
    if programs == 0 {
        return None;
    }
    advice(
        "unbuffered-python",
        format!(
            "PYTHONUNBUFFERED is set: it was removed from the environment of {programs} {}, since it makes \
             Python write each line by itself, which takes 2 to 3 times as long",
            if programs == 1 { "program" } else { "programs" }
        ),
        "unset it where else programs read and write many lines; a program that needs it gets it by a setting".into(),
        Some("-D stream.environment.PYTHONUNBUFFERED=1".into()),
    )
}

#[cfg(test)]
mod tests {
    use super::super::check::*;

    #[test]
    fn removed_variable() {
        let mut report = quiet();
        count(&mut report, "PYTHONUNBUFFERED_REMOVED", 4);
        fires(&report, "unbuffered-python", &["of 4 programs", "stream.environment.PYTHONUNBUFFERED=1"]);
    }
}
