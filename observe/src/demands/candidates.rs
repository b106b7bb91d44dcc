//! Classes on the stacks of requests, whose monitors may matter.

use std::collections::HashMap;
use std::time::Duration;

use yunti_base::Result;
use yunti_probe::stack::Kind;
use yunti_probe::stopping::{PULSE, Stopping};
use yunti_probe::target::Process;

use crate::jvm::{Event, Profiler, Recording, Sampling};

/// Time between two samples of every thread.
const INTERVAL: Duration = Duration::from_millis(5);
/// Classes whose monitors are reported. Each is changed and compiled again.
const CLASSES_MAX: usize = 200;
/// Classes of the JDK have monitors that services do not wait for, and cannot all be changed.
const OF_JDK: [&str; 5] = ["java.", "javax.", "jdk.", "sun.", "com.sun."];

/// Samples a JVM, and returns the classes that stand on stacks of requests, the most frequent first.
///
/// @param method method that handles a request: `com.shop.Cart.total`
pub fn candidates(process: &Process, method: &str, time: Duration, stopping: &mut Stopping) -> Result<Vec<String>> {
    let profiler = Profiler::start(process, Sampling::Every(Event::Wall, INTERVAL), time)?;
    stopping.wait(process, time, PULSE, || true);
    Ok(classes(&profiler.stop()?, method))
}

fn classes(recording: &Recording, method: &str) -> Vec<String> {
    let mut counts: HashMap<&str, u64> = HashMap::new();
    for sample in &recording.samples {
        let Some(from) = sample.frames.iter().position(|frame| &*frame.name == method) else { continue };
        let mut on_this: Vec<&str> = Vec::new();
        for frame in &sample.frames[from..] {
            let is_java = !matches!(frame.kind, Kind::Native | Kind::Kernel | Kind::Jvm);
            let Some((class, _)) = frame.name.rsplit_once('.').filter(|_| is_java) else { continue };
            if !OF_JDK.iter().any(|package| class.starts_with(package)) && !on_this.contains(&class) {
                on_this.push(class);
            }
        }
        for class in on_this {
            *counts.entry(class).or_default() += sample.value;
        }
    }
    let mut all: Vec<(&str, u64)> = counts.into_iter().collect();
    all.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
    all.into_iter().take(CLASSES_MAX).map(|(class, _)| class.to_owned()).collect()
}
