//! Step of a request: an array whose first element names it, as `["wait", 3, 20.1]`.

use std::fmt;

use serde::de::{self, SeqAccess, Visitor};
use serde::ser::SerializeSeq;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Third element of an acquisition that others may share.
const SHARED: &str = "shared";

/// Step of a request or of one of its tasks.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Milliseconds on a processor.
    Cpu(f64),
    /// Milliseconds at a resource, without a processor.
    Wait { resource: u32, ms: f64 },
    /// Begin of holding one unit of a resource.
    Acquire(u32),
    /// Begin of holding a resource that others may hold in the same way, as readers do.
    Share(u32),
    /// End of holding one unit.
    Release(u32),
    /// Begin of a task that runs beside, on a thread of an executor. Absent executor: no thread is needed.
    Spawn { task: u32, on: Option<u32>, steps: Vec<Step> },
    /// Wait for the end of tasks.
    Join(Vec<u32>),
}

/// Returns the processor milliseconds of steps and of the tasks in them.
pub fn cpu_ms(steps: &[Step]) -> f64 {
    steps
        .iter()
        .map(|step| match step {
            Step::Cpu(ms) => *ms,
            Step::Spawn { steps, .. } => cpu_ms(steps),
            _ => 0.0,
        })
        .sum()
}

impl Serialize for Step {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut array = serializer.serialize_seq(None)?;
        match self {
            Step::Cpu(ms) => {
                array.serialize_element("cpu")?;
                array.serialize_element(ms)?;
            }
            Step::Wait { resource, ms } => {
                array.serialize_element("wait")?;
                array.serialize_element(resource)?;
                array.serialize_element(ms)?;
            }
            Step::Acquire(resource) => {
                array.serialize_element("acquire")?;
                array.serialize_element(resource)?;
            }
            Step::Share(resource) => {
                array.serialize_element("acquire")?;
                array.serialize_element(resource)?;
                array.serialize_element(SHARED)?;
            }
            Step::Release(resource) => {
                array.serialize_element("release")?;
                array.serialize_element(resource)?;
            }
            Step::Spawn { task, on, steps } => {
                array.serialize_element("spawn")?;
                array.serialize_element(task)?;
                array.serialize_element(on)?;
                array.serialize_element(steps)?;
            }
            Step::Join(tasks) => {
                array.serialize_element("join")?;
                array.serialize_element(tasks)?;
            }
        }
        array.end()
    }
}

impl<'de> Deserialize<'de> for Step {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(StepVisitor)
    }
}

struct StepVisitor;

impl<'de> Visitor<'de> for StepVisitor {
    type Value = Step;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a step such as [\"cpu\", 1.5]")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut array: A) -> Result<Step, A::Error> {
        let name: String = next(&mut array, "a name")?;
        let step = match name.as_str() {
            "cpu" => Step::Cpu(next(&mut array, "milliseconds")?),
            "wait" => Step::Wait { resource: next(&mut array, "a resource")?, ms: next(&mut array, "milliseconds")? },
            "acquire" => {
                let resource = next(&mut array, "a resource")?;
                match array.next_element::<serde_json::Value>()? {
                    Some(way) if way == SHARED => Step::Share(resource),
                    _ => Step::Acquire(resource),
                }
            }
            "release" => Step::Release(next(&mut array, "a resource")?),
            "spawn" => Step::Spawn {
                task: next(&mut array, "a number of the task")?,
                on: next(&mut array, "a resource or null")?,
                steps: next(&mut array, "steps")?,
            },
            "join" => Step::Join(next(&mut array, "numbers of tasks")?),
            _ => {
                let known = ["cpu", "wait", "acquire", "release", "spawn", "join"];
                return Err(de::Error::custom(format!("unknown step {name:?}, not one of {}", known.join(", "))));
            }
        };
        // Later versions may append elements.
        while array.next_element::<de::IgnoredAny>()?.is_some() {}
        Ok(step)
    }
}

/// Returns the next element of a step, which must be there.
fn next<'de, A: SeqAccess<'de>, T: Deserialize<'de>>(array: &mut A, what: &str) -> Result<T, A::Error> {
    array.next_element()?.ok_or_else(|| de::Error::custom(format!("a step ends without {what}")))
}
