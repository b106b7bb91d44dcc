//! Proof as text.

use yunti_program::terminal::paint::Paint;
use yunti_program::text::numbers;
use yunti_program::text::table::{Side, Table};

use super::proof::{CopyReport, Proof, Source};

/// Returns the proof: one sentence, both copies, notes.
pub fn render(proof: &Proof, paint: Paint) -> String {
    let (predicted, measured, error) = (proof.predicted, proof.measured, proof.error);
    let mut text = format!(
        "Tried on copies: {}\npredicted x{:.2} ({:.2} to {:.2}), measured x{:.2} ({:.2} to {:.2}): \
         error {:+.0} % ({:+.0} to {:+.0} %), {}\n\n",
        proof.changes.join(", "),
        predicted.value,
        predicted.low,
        predicted.high,
        measured.value,
        measured.low,
        measured.high,
        error.value * 100.0,
        error.low * 100.0,
        error.high * 100.0,
        if proof.agrees { "within the accuracy of both" } else { "beyond the accuracy of both" },
    );
    let mut table = Table::new(&[
        ("copy", Side::Left),
        ("requests/s", Side::Right),
        ("range", Side::Right),
        ("predicted", Side::Right),
        ("clients", Side::Right),
        ("mean ms", Side::Right),
        ("processors", Side::Right),
    ]);
    let mut row = |name: &str, copy: &CopyReport| {
        let peak = copy.trial.peak;
        table.row(vec![
            name.to_owned(),
            numbers::three(peak.value),
            format!("{} to {}", numbers::three(peak.low), numbers::three(peak.high)),
            numbers::three(copy.predicted.value),
            copy.trial.clients.to_string(),
            numbers::three(copy.trial.mean_ms),
            copy.processors.to_string(),
        ]);
    };
    row("unchanged", &proof.unchanged);
    row("changed", &proof.changed);
    text += &table.print(paint);
    if proof.predicted_from == Source::Copy {
        text += "* The prediction comes from load on the unchanged copy: the service had too little traffic.\n";
    }
    if !proof.by_user.is_empty() {
        text += &format!("* The command of --copy has the change: {}.\n", proof.by_user.join(", "));
    }
    for note in &proof.notes {
        text += &format!("* {note}\n");
    }
    text
}
