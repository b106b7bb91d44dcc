//! Collapsed stacks: text of one line a stack, `outer;inner 12`, as flame graph programs read and write.

use yunti_base::{Code, Error, Result};

use crate::slice::{Frame, FrameKind, Measure, Stacks};

/// Endings that async-profiler adds to names, by kind.
const ENDINGS: [(&str, FrameKind); 5] = [
    ("_[j]", FrameKind::Compiled),
    ("_[i]", FrameKind::Inlined),
    ("_[k]", FrameKind::Kernel),
    ("_[0]", FrameKind::Interpreted),
    ("_[1]", FrameKind::CompiledC1),
];

/// Returns the stacks of one measure as text, in alphabetical order. Kinds and files are lost; a semicolon or a line
/// break within a name becomes a comma.
pub fn write(stacks: &Stacks, measure: Measure) -> String {
    let mut lines: Vec<String> = stacks
        .of(measure)
        .map(|(frames, value)| {
            let names: Vec<String> = frames.map(|frame| frame.name.replace([';', '\n', '\r'], ",")).collect();
            format!("{} {value}\n", names.join(";"))
        })
        .collect();
    lines.sort_unstable();
    lines.concat()
}

/// Parses text, whose numbers are multiplied by `unit`: nanoseconds or bytes of one count. Endings of async-profiler's
/// annotated names become kinds. Errors name the line ([`Code::Corrupt`]).
pub fn read(text: &str, measure: Measure, unit: u64) -> Result<Stacks> {
    let mut stacks = Stacks::default();
    for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let parsed = line.trim_end().rsplit_once(' ').and_then(|(names, count)| {
            // Some programs write fractions.
            let count = count.parse::<u64>().ok().or_else(|| count.parse::<f64>().ok().map(|c| c.max(0.0) as u64))?;
            Some((names, count))
        });
        let Some((names, count)) = parsed else {
            let what =
                format!("line {} is no collapsed stack; a line is names joined by ';', a space, a number", at + 1);
            return Err(Error::new(Code::Corrupt, what));
        };
        let frames: Vec<Frame> = names.split(';').filter(|name| !name.is_empty()).map(frame_of).collect();
        stacks.add(&frames, measure, count.saturating_mul(unit));
    }
    Ok(stacks)
}

fn frame_of(name: &str) -> Frame {
    let known = ENDINGS.iter().find_map(|(ending, kind)| Some(Frame::new(name.strip_suffix(ending)?, *kind)));
    known.unwrap_or_else(|| Frame::new(name, FrameKind::Native))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_round_trips() {
        let text = "main;Shop.run 5\nmain;Shop.run;vfs read 7\n";
        let stacks = read(text, Measure::Cpu, 1).unwrap();
        assert_eq!(stacks.total(Measure::Cpu), 12);
        assert_eq!(write(&stacks, Measure::Cpu), text);
        assert_eq!(write(&stacks, Measure::Alloc), "");
    }

    #[test]
    fn endings_become_kinds() {
        let stacks = read("a_[j];b_[k];c 2.5\n\n", Measure::Cpu, 10).unwrap();
        let kinds: Vec<FrameKind> = stacks.frames().iter().map(|frame| frame.kind).collect();
        assert_eq!(kinds, [FrameKind::Compiled, FrameKind::Kernel, FrameKind::Native]);
        assert_eq!((&*stacks.frames()[0].name, stacks.total(Measure::Cpu)), ("a", 20));
    }

    #[test]
    fn other_text_is_an_error() {
        for wrong in ["main", "main;a x", "a 1\nb\n"] {
            let error = read(wrong, Measure::Cpu, 1).unwrap_err();
            assert!(error.to_string().contains("collapsed stack"), "{wrong}: {error}");
        }
    }
}
