//! Warnings of the JVM's own log. The JVM warns on standard output when a native method of the JDK is replaced; this
//! is silenced while the lock agent does it.

use crate::jvm::attach::diagnose;
use yunti_probe::target::Process;

const TAGS: &str = "jni+resolve";

/// Log outputs whose warning is off. Dropping it turns the warning on again.
pub struct SilencedWarnings<'a> {
    process: &'a Process,
    outputs: Vec<Output>,
}

#[derive(Debug, PartialEq, Eq)]
struct Output {
    name: String,
    decorators: String,
}

impl SilencedWarnings<'_> {
    /// Silences the warning. If the log cannot be changed, the JVM prints its warning.
    pub fn of(process: &Process) -> SilencedWarnings<'_> {
        let outputs = outputs(&diagnose(process, "VM.log list").unwrap_or_default());
        outputs.iter().for_each(|output| set(process, output, "off"));
        SilencedWarnings { process, outputs }
    }
}

impl Drop for SilencedWarnings<'_> {
    fn drop(&mut self) {
        self.outputs.iter().for_each(|output| set(self.process, output, "warning"));
    }
}

/// Turns the warning on again after an observer was killed.
pub fn restore_warnings(process: &Process) {
    let list = diagnose(process, "VM.log list").unwrap_or_default();
    list.lines().filter_map(silenced).for_each(|output| set(process, &output, "warning"));
}

fn set(process: &Process, Output { name, decorators }: &Output, level: &str) {
    let _ = diagnose(process, &format!("VM.log output={name} what={TAGS}={level} decorators={decorators}"));
}

/// Returns the outputs that log all warnings, the JVM's default: ` #0: stdout all=warning uptime,level,tags ..`.
/// Outputs with a user's own selection are left alone.
fn outputs(list: &str) -> Vec<Output> {
    let parsed = |line: &str| {
        let (what, output) = parsed(line)?;
        let is_default = what.iter().any(|selection| selection == "all=warning") && !what.concat().contains("jni");
        is_default.then_some(output)
    };
    list.lines().filter_map(parsed).collect()
}

/// Returns an output that logs all warnings except the silenced one.
fn silenced(line: &str) -> Option<Output> {
    let (what, output) = parsed(line)?;
    let has = |selection: &str| what.iter().any(|known| known == selection);
    (has("all=warning") && has(&format!("{TAGS}=off"))).then_some(output)
}

/// Parses a line of the list: the selections, and the output.
fn parsed(line: &str) -> Option<(Vec<String>, Output)> {
    let mut words = line.trim().strip_prefix('#')?.split_whitespace().skip(1);
    let (name, what, decorators) = (words.next()?, words.next()?, words.next()?);
    let what = what.split(',').map(str::to_owned).collect();
    Some((what, Output { name: name.to_owned(), decorators: decorators.to_owned() }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_outputs() {
        let list = "Available log levels: off\nLog output configuration:\n #0: stdout all=warning uptime,level,tags \
             foldmultilines=false\n #1: stderr all=off uptime\n #2: file=x.log all=warning,gc*=debug none\n";
        let of = |name: &str, decorators: &str| Output { name: name.into(), decorators: decorators.into() };
        assert_eq!(outputs(list), [of("stdout", "uptime,level,tags"), of("file=x.log", "none")]);
        assert!(outputs("").is_empty() && outputs("#0:").is_empty());
        assert_eq!(
            silenced(" #0: stdout all=warning,jni+resolve=off uptime,level,tags (reconfigured)"),
            Some(of("stdout", "uptime,level,tags"))
        );
        assert!(list.lines().all(|line| silenced(line).is_none()));
    }
}
