//! Events of `flame`: sampled in a thread's time, or counted by the kernel or the processor.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

use crate::jvm::Event;
use yunti_probe::native::Counted;

/// Event of a flame graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlameEvent {
    /// Time, allocations or waits for locks.
    Sampled(Event),
    /// Page faults, cache misses and the like.
    Counted(Counted),
}

const SAMPLED: [(Event, &str); 4] = [
    (Event::Cpu, "Time on a processor"),
    (Event::Wall, "Time of all threads, running or waiting"),
    (Event::Alloc, "Bytes allocated on the heap"),
    (Event::Lock, "Time waiting for monitors and locks"),
];

/// Returns the parser of `--event`.
pub fn parser() -> impl TypedValueParser<Value = FlameEvent> {
    let sampled = SAMPLED.iter().map(|(event, help)| PossibleValue::new(event.name()).help(*help));
    let counted = Counted::names().filter_map(Counted::of);
    let counted = counted.map(|event| PossibleValue::new(event.name()).help(capital(event.quantity())));
    let names: Vec<PossibleValue> = sampled.chain(counted).collect();
    PossibleValuesParser::new(names).map(|name| FlameEvent::of(&name))
}

fn capital(text: &str) -> String {
    let (first, rest) = text.split_at(1);
    first.to_uppercase() + rest
}

impl FlameEvent {
    fn of(name: &str) -> FlameEvent {
        match Counted::of(name) {
            Some(event) => FlameEvent::Counted(event),
            None => {
                let sampled = SAMPLED.iter().find(|(event, _)| event.name() == name);
                FlameEvent::Sampled(sampled.map_or(Event::Cpu, |(event, _)| *event))
            }
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            FlameEvent::Sampled(event) => event.name(),
            FlameEvent::Counted(event) => event.name(),
        }
    }

    /// Returns the name of the measured quantity.
    pub fn quantity(self) -> &'static str {
        match self {
            FlameEvent::Sampled(Event::Cpu) => "processor time",
            FlameEvent::Sampled(Event::Wall) => "time of all threads",
            FlameEvent::Sampled(Event::Alloc) => "bytes allocated",
            FlameEvent::Sampled(Event::Lock) => "time waiting for locks",
            FlameEvent::Counted(event) => event.quantity(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_name_is_its_event() {
        for name in SAMPLED.iter().map(|(event, _)| event.name()).chain(Counted::names()) {
            assert_eq!(FlameEvent::of(name).name(), name);
        }
    }
}
