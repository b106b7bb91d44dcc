//! Names in an answer: as a process gives them, so of any length and with any characters.

use yunti_program::text::table::cut;

use super::Report;

/// Characters of a name in a sentence or a heading.
const NAME_MAX: usize = 80;

/// Returns a text that can be shown: control characters and marks that turn the direction of text are replaced.
pub fn clean(text: &str) -> String {
    let is_turning = |c: char| matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    text.chars().map(|c| if c.is_control() || is_turning(c) { '\u{fffd}' } else { c }).collect()
}

/// Returns a name in at most this many characters.
pub fn short(name: &str, columns: usize) -> String {
    cut(&clean(name), columns)
}

impl Report<'_> {
    /// Returns the sentences of the advice, with long names cut.
    pub fn sentences(&self) -> Vec<String> {
        let items = &self.curve.formulas.necessary.items;
        let long: Vec<&str> =
            items.iter().map(|item| &*item.name).filter(|name| name.chars().count() > NAME_MAX).collect();
        let shown =
            |text: &String| clean(&long.iter().fold(text.clone(), |t, name| t.replace(name, &cut(name, NAME_MAX))));
        self.advice.sentences.iter().map(|sentence| shown(&sentence.text)).collect()
    }

    /// Returns the name of the process.
    pub fn process(&self) -> String {
        match &*self.demands.process.name {
            "" => "process".into(),
            name => short(name, NAME_MAX),
        }
    }

    /// Returns the parts that were not measured.
    pub fn skipped(&self) -> Vec<String> {
        self.skips.iter().map(|skip| short(skip, 4 * NAME_MAX)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::document::tests::Example;

    #[test]
    fn nothing_shown_commands_a_terminal_or_is_too_long() {
        assert_eq!(short("a\u{1b}[2J\u{202e}b\u{1f600}", 99), "a\u{fffd}[2J\u{fffd}b\u{1f600}");
        let example = Example::hostile();
        let report = example.report();
        let all = [report.sentences(), report.skipped(), vec![report.process()]].concat();
        assert!(all.iter().all(|text| text.chars().count() < 600 && !text.contains('\u{1b}')), "{all:#?}");
        assert!(all.len() > 4);
    }
}
