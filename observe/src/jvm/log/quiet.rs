//! The JVM's own log, which warns on standard output when a native method of the JDK is replaced: quiet about that while we do it.

use crate::jvm::attach::diagnose;
use yunti_probe::target::Process;

const TAGS: &str = "jni+resolve";

/// Dropped, it puts back what was.
pub struct Quiet<'a> {
    process: &'a Process,
    outputs: Vec<Output>,
}

#[derive(Debug, PartialEq, Eq)]
struct Output {
    name: String,
    decorators: String,
}

impl Quiet<'_> {
    /// A JVM whose log cannot be asked for says its warning; that is all.
    pub fn of(process: &Process) -> Quiet<'_> {
        let outputs = outputs(&diagnose(process, "VM.log list").unwrap_or_default());
        outputs.iter().for_each(|output| set(process, output, "off"));
        Quiet { process, outputs }
    }
}

impl Drop for Quiet<'_> {
    fn drop(&mut self) {
        self.outputs.iter().for_each(|output| set(self.process, output, "warning"));
    }
}

/// What an observer that was killed in between has left: to be called by who cleans up after it.
pub fn warn_again(process: &Process) {
    let list = diagnose(process, "VM.log list").unwrap_or_default();
    list.lines().filter_map(silenced).for_each(|output| set(process, &output, "warning"));
}

fn set(process: &Process, Output { name, decorators }: &Output, level: &str) {
    let _ = diagnose(process, &format!("VM.log output={name} what={TAGS}={level} decorators={decorators}"));
}

/// Outputs that warn of everything, the JVM's default, from ` #0: stdout all=warning uptime,level,tags ..`. Those for which somebody has chosen
/// what is logged are left as they are.
fn outputs(list: &str) -> Vec<Output> {
    let parsed = |line: &str| {
        let (what, output) = parsed(line)?;
        let is_default = what.iter().any(|selection| selection == "all=warning") && !what.concat().contains("jni");
        is_default.then_some(output)
    };
    list.lines().filter_map(parsed).collect()
}

/// One that warns of everything but of that.
fn silenced(line: &str) -> Option<Output> {
    let (what, output) = parsed(line)?;
    let has = |selection: &str| what.iter().any(|known| known == selection);
    (has("all=warning") && has(&format!("{TAGS}=off"))).then_some(output)
}

/// What is logged, and where, of a line of the list.
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
        let list = "Available log levels: off\nLog output configuration:\n #0: stdout all=warning uptime,level,tags foldmultilines=false\n #1: stderr all=off uptime\n #2: file=x.log all=warning,gc*=debug none\n";
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
