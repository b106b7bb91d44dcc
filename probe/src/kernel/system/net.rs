//! Response times over TCP, opened and closed connections, retransmissions: `bpf/system/net.bpf.c`.

use std::net::IpAddr;

use libbpf_rs::{Link, MapCore, MapFlags, Object};
use yunti_base::{Code, Error, Result};

use crate::netlink::sock_diag::of_six;
use crate::programs::{first_namespace, half, load_for, lookup, map, program, put, values_by_key, word};

static IMAGE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/net.bpf.o"));

/// Programs that every supported kernel can load.
const ALWAYS: [&str; 5] = ["data_comes", "changes", "retransmits", "retransmits_synack", "receives_reset"];
/// Program before a send, for kernels that can attach it; else the one after a send.
const BEGINS: &str = "begins_to_send";
const HAS_SENT: &str = "has_sent";
/// Bits of a step within a power of two.
const STEP_BITS: u32 = 3;
const STEPS: usize = 256;

/// Side of this machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Role {
    /// A client connected to a port here.
    Service,
    /// This machine connected to a service.
    Caller,
}

/// Pair of a service and its peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Pair {
    /// Side of this machine.
    pub role: Role,
    /// Port of the service.
    pub port: u16,
    /// Address of the other side.
    pub peer: IpAddr,
    /// Process on this machine; 0 if unknown, or for all processes.
    pub pid: u32,
}

/// Histogram of response times, in steps of an eighth.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnswerTimes {
    steps: Vec<u64>,
    sum_ns: u64,
    max_ns: u64,
}

/// Connections of a pair.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PairCounts {
    /// Opened.
    pub opened: u64,
    /// Closed first by this machine.
    pub closed_here: u64,
    /// Closed first by the peer.
    pub closed_there: u64,
    /// Reset by this machine.
    pub reset: u64,
    /// Segments retransmitted.
    pub retransmitted: u64,
    /// SYN-ACKs retransmitted.
    pub synacks_retransmitted: u64,
    /// Resets received.
    pub resets_received: u64,
    /// Connections opened and closed during the measurement.
    pub lives: u64,
    /// Their lifetimes, summed.
    pub life_ns: u64,
}

/// Programs at work, detached when dropped.
pub struct NetCounts {
    // Dropped before the object that they belong to.
    _links: Vec<Link>,
    object: Object,
}

impl NetCounts {
    /// Attaches the programs. `listening`: ports that listen already. Parts that fail are added to `skips`.
    pub fn start(listening: impl Iterator<Item = u16>, skips: &mut Vec<String>) -> Result<NetCounts> {
        first_namespace()?;
        let loaded = |sends: &'static str| {
            let programs: Vec<&'static str> = ALWAYS.into_iter().chain([sends]).collect();
            load_for(IMAGE, "TCP", &[], &programs).map(|object| (object, programs))
        };
        let (object, programs) = match loaded(BEGINS) {
            Ok(loaded) => loaded,
            // Kernels before Linux 6.15.
            Err(_) => {
                let loaded = loaded(HAS_SENT)?;
                skips.push(
                    "the start of sends: this kernel reports their end only, so responses over this machine's own \
                     addresses may be missed"
                        .to_owned(),
                );
                loaded
            }
        };
        for port in listening {
            put(&object, "listening", &port.to_ne_bytes(), &[1])?;
        }
        let mut links = Vec::new();
        for name in programs {
            let link = program(&object, name)?.attach_trace();
            links.push(link.map_err(|e| {
                let error = Error::new(Code::Input, format!("TCP cannot be watched: {name}: {e}"));
                error.hint("Linux 6.3 or later is needed; run as root")
            })?);
        }
        Ok(NetCounts { _links: links, object })
    }

    /// Returns the response times since the start.
    pub fn answers(&self) -> Vec<(Pair, AnswerTimes)> {
        let Ok(map) = map(&self.object, "answers") else { return Vec::new() };
        let of = |key: Vec<u8>| {
            let all = map.lookup_percpu(&key, MapFlags::ANY).ok().flatten()?;
            let mut times = AnswerTimes::default();
            for one in &all {
                times.steps.iter_mut().enumerate().for_each(|(n, sum)| *sum += word(one, n));
                times.sum_ns += word(one, STEPS);
                times.max_ns = times.max_ns.max(word(one, STEPS + 1));
            }
            Some((pair(&key)?, times))
        };
        map.keys().filter_map(of).collect()
    }

    /// Returns the connections since the start.
    pub fn counts(&self) -> Vec<(Pair, PairCounts)> {
        let of = |(key, value): (Vec<u8>, Vec<u8>)| {
            let counts = PairCounts {
                opened: word(&value, 0),
                closed_here: word(&value, 1),
                closed_there: word(&value, 2),
                reset: word(&value, 3),
                retransmitted: word(&value, 4),
                synacks_retransmitted: word(&value, 5),
                resets_received: word(&value, 6),
                lives: word(&value, 7),
                life_ns: word(&value, 8),
            };
            Some((pair(&key)?, counts))
        };
        map(&self.object, "counted")
            .map(|map| values_by_key(&map))
            .unwrap_or_default()
            .into_iter()
            .filter_map(of)
            .collect()
    }

    /// Returns the pairs that were not counted.
    pub fn lost(&self) -> u64 {
        word(&lookup(&self.object, "accounts", &0u32.to_le_bytes()), 0)
    }
}

fn pair(key: &[u8]) -> Option<Pair> {
    let address = <[u8; 16]>::try_from(key.get(..16)?).ok()?;
    let half_word = |at: usize| Some(u16::from_ne_bytes(key.get(at..at + 2)?.try_into().ok()?));
    let role = if half_word(18)? == 1 { Role::Service } else { Role::Caller };
    Some(Pair { role, port: half_word(16)?, peer: of_six(address), pid: half(key, 2, 1) })
}

impl Default for AnswerTimes {
    fn default() -> AnswerTimes {
        AnswerTimes { steps: vec![0; STEPS], sum_ns: 0, max_ns: 0 }
    }
}

impl AnswerTimes {
    /// Returns the number of responses.
    pub fn count(&self) -> u64 {
        self.steps.iter().sum()
    }

    /// Returns the longest response time.
    pub fn max_ns(&self) -> u64 {
        self.max_ns
    }

    /// Returns the mean response time.
    pub fn mean_ns(&self) -> u64 {
        self.sum_ns / self.count().max(1)
    }

    /// Adds another histogram.
    pub fn join(&mut self, other: &AnswerTimes) {
        self.steps.iter_mut().zip(&other.steps).for_each(|(mine, theirs)| *mine += theirs);
        self.sum_ns += other.sum_ns;
        self.max_ns = self.max_ns.max(other.max_ns);
    }

    /// Returns the response time of this percentile: the middle of a step, within 6 %.
    pub fn percentile_ns(&self, share: f64) -> u64 {
        let wanted = (self.count() as f64 * share).ceil().max(1.0) as u64;
        let mut seen = 0;
        for (step, count) in self.steps.iter().enumerate() {
            seen += count;
            if seen >= wanted {
                return ((from_us(step) + from_us(step + 1)) * 1000 / 2).min(self.max_ns);
            }
        }
        self.max_ns
    }
}

/// Lower bound of a step in microseconds.
fn from_us(step: usize) -> u64 {
    let step = step as u64;
    if step < 1 << STEP_BITS {
        return step;
    }
    let (doublings, rest) = ((step >> STEP_BITS) + 2, step & ((1 << STEP_BITS) - 1));
    ((1 << STEP_BITS) + rest) << (doublings - u64::from(STEP_BITS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_an_eighth_wide() {
        assert_eq!([0, 7, 8, 9, 15, 16, 17, 24].map(from_us), [0, 7, 8, 9, 15, 16, 18, 32]);
        for step in 8..STEPS {
            let (low, high) = (from_us(step), from_us(step + 1));
            assert!(high > low && (high - low) * 8 <= low, "{step}");
        }
    }

    #[test]
    fn computes_percentiles() {
        let mut times = AnswerTimes { max_ns: 20_400_000, ..AnswerTimes::default() };
        // 90 of about 100 us, 10 of about 20 ms.
        times.steps[37] = 90;
        times.steps[98] = 10;
        assert!((100_000..=112_000).contains(&times.percentile_ns(0.5)), "{}", times.percentile_ns(0.5));
        assert!((18_000_000..=20_500_000).contains(&times.percentile_ns(0.99)), "{}", times.percentile_ns(0.99));
        assert_eq!(AnswerTimes::default().percentile_ns(0.5), 0);
    }
}
