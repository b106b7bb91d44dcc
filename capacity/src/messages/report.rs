//! Report about the messages of a service: the document of `--json` (docs/formats/messages.schema.json).

use std::collections::BTreeSet;

use serde::Serialize;

use super::advice::{Advice, Bottleneck};
use super::flame::Profile;
use super::kinds::{Direction, Serialiser};
use super::observe::Requests;
use super::shares::{Place, Share, Shares};
use super::trial::Trial;

/// Document of `yunti capacity messages`.
#[derive(Debug, Serialize)]
pub struct Report {
    /// `yunti-messages/1`.
    pub format: &'static str,
    pub pid: u32,
    /// Seconds of the profile of processor time.
    pub seconds: f64,
    /// Samples of the profile of processor time, and of allocation.
    pub cpu_samples: u64,
    pub alloc_samples: u64,
    pub requests: Option<Requests>,
    /// Bytes that the service allocates a request.
    pub alloc_bytes_per_request: Option<f64>,
    /// Share of the JVM's compiler threads in processor time.
    pub compiling: Share,
    /// All work on messages.
    pub all: Cost,
    pub libraries: Vec<LibraryCost>,
    pub places: Vec<PlaceCost>,
    pub trial: Option<Trial>,
    pub bottleneck: Bottleneck,
    pub advice: Vec<Advice>,
    pub notes: Vec<String>,
}

/// Cost of work on messages.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Cost {
    /// Share of the service's processor time.
    pub cpu: Share,
    /// Share of the bytes that the service allocates.
    pub alloc: Share,
    /// Processor time a request in milliseconds, with its error.
    pub ms_per_request: Option<f64>,
    pub ms_per_request_error: Option<f64>,
    pub bytes_per_request: Option<f64>,
}

/// Cost of one library in one direction.
#[derive(Clone, Debug, Serialize)]
pub struct LibraryCost {
    #[serde(flatten)]
    pub serialiser: Serialiser,
    pub direction: Direction,
    #[serde(flatten)]
    pub cost: Cost,
}

/// Cost of one call site.
#[derive(Clone, Debug, Serialize)]
pub struct PlaceCost {
    #[serde(flatten)]
    pub place: Place,
    /// Classes whose methods the library calls, most costly first: accessors of the message.
    pub types: Vec<String>,
    #[serde(flatten)]
    pub cost: Cost,
}

const FORMAT: &str = "yunti-messages/1";
/// Types named for a call site at most.
const TYPES: usize = 3;
/// Share of the compiler threads above which the service is not warm.
const NOT_WARM: f64 = 0.1;
/// Samples below which shares say little.
const FEW_SAMPLES: u64 = 100;

impl Report {
    /// Builds the report from a profile of processor time, one of allocation, and the requests of the service.
    pub fn of(pid: u32, cpu: &Profile, alloc: &Profile, requests: Option<Requests>) -> Report {
        let (time, bytes) = (Shares::of(cpu), Shares::of(alloc));
        let bytes_per_request =
            requests.map(|requests| alloc.total as f64 / alloc.seconds.max(0.001) / requests.per_second.max(1e-9));
        let cost = |is_wanted: &dyn Fn(&Place) -> bool| {
            let (cpu, alloc) = (time.share(is_wanted), bytes.share(is_wanted));
            Cost {
                cpu,
                alloc,
                ms_per_request: requests.map(|requests| requests.cpu_ms * cpu.share),
                ms_per_request_error: requests.map(|requests| requests.cpu_ms * cpu.error),
                bytes_per_request: bytes_per_request.map(|bytes| bytes * alloc.share),
            }
        };
        let places: BTreeSet<&Place> = time.places().chain(bytes.places()).collect();
        let libraries: BTreeSet<_> = places.iter().map(|place| (place.serialiser, place.direction)).collect();
        let mut libraries: Vec<LibraryCost> = libraries
            .into_iter()
            .map(|(serialiser, direction)| LibraryCost {
                serialiser,
                direction,
                cost: cost(&|place| place.serialiser == serialiser && place.direction == direction),
            })
            .collect();
        libraries.sort_by(|a, b| b.cost.cpu.share.total_cmp(&a.cost.cpu.share));
        let mut places: Vec<PlaceCost> = places
            .into_iter()
            .map(|wanted| {
                let mut seen = BTreeSet::new();
                let types = [time.types(wanted), bytes.types(wanted)].concat();
                let types =
                    types.into_iter().filter(|name| seen.insert(*name)).take(TYPES).map(str::to_owned).collect();
                PlaceCost { place: wanted.clone(), types, cost: cost(&|place| place == wanted) }
            })
            .collect();
        places.sort_by(|a, b| b.cost.cpu.share.total_cmp(&a.cost.cpu.share));
        let mut report = Report {
            format: FORMAT,
            pid,
            seconds: cpu.seconds,
            cpu_samples: cpu.samples,
            alloc_samples: alloc.samples,
            requests,
            alloc_bytes_per_request: bytes_per_request,
            compiling: time.compiling(),
            all: cost(&|_| true),
            libraries,
            places,
            trial: None,
            bottleneck: Bottleneck::default(),
            advice: Vec::new(),
            notes: Vec::new(),
        };
        report.note();
        report
    }

    /// Returns the share of a library in processor time, in both directions.
    pub fn share_of(&self, library: &str) -> Share {
        let rows = self.libraries.iter().filter(|row| row.serialiser.library == library);
        let value: f64 = rows.map(|row| row.cost.cpu.share).sum();
        let samples = self.cpu_samples;
        Share::of((value * samples as f64).round() as u64, samples, samples)
    }

    fn note(&mut self) {
        if self.cpu_samples < FEW_SAMPLES {
            self.notes.push(format!(
                "Only {} samples of processor time: measure for longer (-s), or under load.",
                self.cpu_samples
            ));
        }
        if self.compiling.share > NOT_WARM {
            self.notes.push(format!(
                "The JVM's compiler used {:.0} % of the processor time. Measure again when the service is warm.",
                self.compiling.share * 100.0
            ));
        }
        if self.requests.is_none() {
            self.notes.push("The service answered no requests over TCP, so there is no time a request.".to_owned());
        }
    }
}
