//! Settings of a recorder.

use std::path::PathBuf;
use std::time::Duration;

use crate::jvm::Event;

/// Processes to record.
#[derive(Clone, Debug, Default)]
pub struct Chosen {
    /// Numbers of processes. A recorder of numbers alone ends with the last of them.
    pub pids: Vec<u32>,
    /// Parts of names, as other commands take them. All processes that match are recorded, also later ones.
    pub names: Vec<String>,
    /// True for the busiest processes of the machine.
    pub is_machine: bool,
}

/// Release label, of all services or of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// Service; `None` for all.
    pub service: Option<String>,
    pub release: String,
}

/// Settings of a recorder.
#[derive(Clone, Debug)]
pub struct Settings {
    pub store: PathBuf,
    pub chosen: Chosen,
    /// Name for all services; `None` takes each one's jar or program.
    pub service: Option<String>,
    pub labels: Vec<Label>,
    /// Length of a slice. Slices begin at multiples of it.
    pub slice: Duration,
    /// Time after which slices are removed.
    pub keep: Duration,
    /// Bytes that a day may add to the store.
    pub day_bytes_max: u64,
    /// Events to sample.
    pub events: Vec<Event>,
    /// Samples of running threads in a second of processor time, at most.
    pub cpu_hz: u32,
    /// Share of one processor that the recorder may use.
    pub share_max: f64,
}

impl Settings {
    /// Returns the release label of a service that the user gave.
    pub fn label(&self, service: &str) -> Option<&str> {
        let of_one = self.labels.iter().rfind(|label| label.service.as_deref() == Some(service));
        let label = of_one.or_else(|| self.labels.iter().rfind(|label| label.service.is_none()))?;
        Some(&label.release)
    }
}

#[cfg(test)]
impl Settings {
    pub fn of_test() -> Settings {
        Settings {
            store: PathBuf::new(),
            chosen: Chosen::default(),
            service: None,
            labels: vec![Label { service: None, release: "v1".to_owned() }],
            slice: Duration::from_secs(60),
            keep: Duration::from_secs(60),
            day_bytes_max: 1 << 20,
            events: vec![Event::Cpu],
            cpu_hz: 19,
            share_max: 0.01,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_of_one_service_come_first() {
        let mut settings = Settings::of_test();
        settings.labels.insert(0, Label { service: Some("shop".to_owned()), release: "v2".to_owned() });
        assert_eq!((settings.label("shop"), settings.label("cart")), (Some("v2"), Some("v1")));
        settings.labels.truncate(1);
        assert_eq!((settings.label("shop"), settings.label("cart")), (Some("v2"), None));
    }
}
