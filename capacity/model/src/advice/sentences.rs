//! Sentences of the advice.

use super::data::Data;
use super::numbers::{bytes, percent, range, short};
use super::release::Release;
use super::{Advice, Known, Sentence, Topic};
use crate::curve::{Curve, Share};
use crate::demands::Demands;
use crate::formulas::Place;
use crate::what_if::{Answer, Prospect};
use crate::young::Young;

/// Gain from which on a change is named.
const GAIN_MIN: f64 = 0.03;
const CHANGES_MAX: usize = 5;
/// Milliseconds of a request from which on waits for free memory are named.
const STALL_MS_MIN: f64 = 0.05;
/// Use of a resource from which on its holders are in one another's way.
const CONTENDED: f64 = 0.9;
/// Milliseconds that an answer waits for a delayed acknowledgement: 40, with some network.
const NAGLE_MS: (f64, f64) = (33.0, 55.0);

/// Returns the sentences, in the order in which they are read.
pub fn write(demands: &Demands, curve: &Curve, advice: &Advice, known: &Known) -> Vec<Sentence> {
    let now = &advice.prospect;
    let mut list = List(Vec::new());
    list.data(&advice.data);
    list.peak(demands, curve, now);
    list.bottleneck(curve);
    list.threads(demands, curve);
    list.changes(&advice.changes);
    list.young(advice.young.as_ref());
    list.held(demands, &advice.releases);
    list.consistency(curve);
    list.nagle(known, now);
    list.0
}

/// Sentences so far.
struct List(Vec<Sentence>);

impl List {
    fn add(&mut self, topic: Topic, text: String) {
        self.0.push(Sentence { topic, text });
    }

    fn data(&mut self, data: &Data) {
        let Some(reason) = &data.reason else { return };
        let wait = match data.wait_seconds {
            Some(seconds) => format!("measure {} seconds more", short(seconds)),
            None => "measure again with traffic".to_string(),
        };
        self.add(Topic::Data, format!("The data is not enough: {reason}; {wait}."));
    }

    fn peak(&mut self, demands: &Demands, curve: &Curve, now: &Prospect) {
        if curve.is_unbounded {
            let text = "No resource with a limit was seen: the service grows with its threads.";
            self.add(Topic::Peak, text.into());
            return;
        }
        let mut text = format!("The service carries {} requests a second at most", range(&curve.peak_now));
        let rate = demands.requests.per_second;
        if rate > 0.0 {
            text += &format!("; the present {} are {} of it", short(rate), percent(rate / curve.peak_now.value));
        }
        if let Some(response) = now.response.filter(|response| !response.saturated) {
            text += &format!(", answered in {} ms on average", short(response.mean_ms));
        }
        self.add(Topic::Peak, text + ".");
    }

    fn bottleneck(&mut self, curve: &Curve) {
        let Some(first) = &curve.bottleneck.first else { return };
        let mut text = format!("Its bottleneck is {}: {} in use at the peak", named(first), percent(first.utilisation));
        let near: Vec<String> = curve
            .bottleneck
            .near
            .iter()
            .map(|share| format!("{} ({})", named(share), percent(share.utilisation)))
            .collect();
        if !near.is_empty() {
            text += &format!("; nearly as full: {}", near.join(", "));
        }
        self.add(Topic::Bottleneck, text + ".");
        let is_contended = |share: &&Share| {
            matches!(share.place, Place::Resource(_))
                && share.place != first.place
                && !curve.bottleneck.near.contains(share)
                && share.in_use >= CONTENDED
                && share.queued >= 1.0
        };
        for share in curve.bottleneck.shares.iter().filter(is_contended) {
            let text = format!(
                "Requests also queue at {}: its holders wait for {} themselves, so it is held {} of the time instead \
                 of {}.",
                named(share),
                named(first),
                percent(share.in_use),
                percent(share.utilisation)
            );
            self.add(Topic::Bottleneck, text);
        }
    }

    fn threads(&mut self, demands: &Demands, curve: &Curve) {
        if let Some(hang) = &curve.hangs_at {
            self.add(
                Topic::Hang,
                format!("With {} requests in process the service can hang: {}.", hang.clients, hang.what),
            );
        }
        if curve.is_unbounded {
            return;
        }
        let mut text = format!("It needs {} threads for 95 % of that", range(&curve.threads));
        if let Some(limit) = demands.workers.limit {
            text += &format!("; it has {limit}");
        }
        self.add(Topic::Threads, text + ".");
        if let Some(falls) = curve.falls_at {
            let cause = match demands.cpu.growth() {
                Some(growth) => format!(
                    "each further request in process adds {} to the processor time of all",
                    percent(growth.per_request)
                ),
                None => "because of collections".into(),
            };
            let mut text = format!("From {falls} requests in process on, it carries less: {cause}");
            if let Some(rate) = curve.at_limit.filter(|rate| *rate < 0.95 * curve.peak.value) {
                text += &format!("; with all its threads busy, {} a second", short(rate));
            }
            self.add(Topic::Fall, text + ".");
        }
    }

    fn changes(&mut self, changes: &[Answer]) {
        let mut named = 0;
        for answer in changes.iter().filter(|answer| answer.gain.value >= GAIN_MIN).take(CHANGES_MAX) {
            let text = format!(
                "{}: {} ({} to {}), {} requests a second with {} threads.",
                answer.changes.join(" and "),
                signed(answer.gain.value),
                signed(answer.gain.low),
                signed(answer.gain.high),
                short(answer.after.peak.value),
                short(answer.after.threads.value)
            );
            self.add(Topic::Change, text);
            named += 1;
        }
        // A change of waits brings no more requests, but faster answers with fewer threads.
        let is_faster = |answer: &&Answer| match (answer.before.response, answer.after.response) {
            (Some(before), Some(after)) => {
                answer.gain.value < GAIN_MIN && !after.saturated && after.mean_ms < 0.8 * before.mean_ms
            }
            _ => false,
        };
        for answer in changes.iter().filter(is_faster).take(CHANGES_MAX - named.min(CHANGES_MAX - 1)) {
            let (Some(before), Some(after)) = (answer.before.response, answer.after.response) else { continue };
            let text = format!(
                "{}: no more requests a second, but answers in {} ms instead of {}, and {} threads are enough.",
                answer.changes.join(" and "),
                short(after.mean_ms),
                short(before.mean_ms),
                short(answer.after.threads.value)
            );
            self.add(Topic::Change, text);
        }
    }

    fn young(&mut self, young: Option<&Young>) {
        let Some(young) = young else { return };
        let memory = bytes(young.bytes_per_request);
        let text = if young.gain > 0.0 && young.is_concurrent {
            format!(
                "A request allocates {memory}. The collector takes {} ms of processor time from each request, {} with \
                 {} of free heap between its cycles instead of {}: {}{}{}.",
                short(young.now.collector_ms_per_request),
                short(young.enough.collector_ms_per_request),
                bytes(young.enough.eden_bytes),
                bytes(young.now.eden_bytes),
                signed(young.gain),
                if young.settings.options.is_empty() { "" } else { " with " },
                young.settings.options.join(" "),
            )
        } else if young.is_concurrent {
            format!("A request allocates {memory}; a larger heap brings less than 2 %.")
        } else if young.gain > 0.0 {
            let options = young.settings.options.join(" ");
            format!(
                "A request allocates {memory}. A young generation of {} instead of {} brings {}{}{options}.",
                bytes(young.enough.young_bytes),
                bytes(young.now.young_bytes),
                signed(young.gain),
                if options.is_empty() { "" } else { ": " },
            )
        } else {
            format!("A request allocates {memory}; a larger young generation brings less than 2 %.")
        };
        self.add(Topic::Young, text);
        if young.stall_ms_per_request > STALL_MS_MIN {
            let text = format!(
                "Requests wait for free memory, {} ms each on average: the collector is late. Raise -Xmx, or \
                 -XX:ConcGCThreads if processors are free.",
                short(young.stall_ms_per_request)
            );
            self.add(Topic::Young, text);
        }
        if let Some(promotion) = young.promotion.filter(|promotion| promotion.overflows) {
            let text = format!(
                "{} requests in process hold {} of live memory, more than the survivor space of {}, so collections \
                 promote it. Released before the waits: {} requests a second instead of {} with {} threads.",
                promotion.clients,
                bytes(promotion.live_bytes),
                bytes(promotion.survivor_bytes),
                short(promotion.per_second_released),
                short(promotion.per_second),
                promotion.clients
            );
            self.add(Topic::Promotion, text);
        }
    }

    fn held(&mut self, demands: &Demands, releases: &[Release]) {
        let Some(held) = &demands.held else { return };
        if held.waiting == 0 {
            let text = format!(
                "None of the {} requests in process waited in a remote call during the heap dump.",
                held.in_process
            );
            return self.add(Topic::Release, text);
        }
        if releases.is_empty() {
            let (who, whose) = match held.waiting {
                1 => ("request that waited in a remote call".to_string(), "its"),
                many => (format!("{many} requests that waited in remote calls"), "their"),
            };
            let text = format!("The {who} held little memory from {whose} own frames alone.");
            return self.add(Topic::Release, text);
        }
        for release in releases {
            let object = &release.object;
            let handed = match &object.handed_to {
                Some(inner) => format!(", and in {inner}"),
                None => String::new(),
            };
            let gain = release.per_second_released / release.per_second.max(1e-9) - 1.0;
            let brings = if gain >= GAIN_MIN {
                format!(
                    "{} requests a second at the peak instead of {}",
                    short(release.per_second_released),
                    short(release.per_second)
                )
            } else {
                "no more requests a second".to_string()
            };
            let hold = if object.requests == 1 { "holds" } else { "hold" };
            let text = format!(
                "{} of {} waiting requests {hold} {} over the call of {}: {} in {}{handed}, {} for each that waits. \
                 Released before the call: {} ms of pauses a second instead of {} with {} threads, and {brings}.",
                object.requests,
                held.waiting,
                bytes(object.bytes * f64::from(held.waiting) / f64::from(object.requests.max(1))),
                object.call,
                object.class,
                object.held_in,
                bytes(object.bytes),
                short(release.pause_ms_per_second_released),
                short(release.pause_ms_per_second),
                release.clients,
            );
            self.add(Topic::Release, text);
        }
    }

    fn consistency(&mut self, curve: &Curve) {
        let consistency = &curve.consistency;
        let Some(ratio) = consistency.ratio.filter(|_| consistency.is_different) else { return };
        let text = if ratio < 1.0 {
            format!(
                "Requests take {} ms longer than their measured steps explain: a wait was not seen.",
                short(consistency.unexplained_ms)
            )
        } else {
            "Requests take less time than their measured steps: some steps run beside them.".to_string()
        };
        self.add(Topic::Consistency, text);
    }

    fn nagle(&mut self, known: &Known, now: &Prospect) {
        let (Some(seen), Some(response)) = (known.client_p50_ms, now.response) else { return };
        let more = seen - response.p50_ms;
        if response.saturated || !(NAGLE_MS.0..=NAGLE_MS.1).contains(&more) {
            return;
        }
        let text = format!(
            "Clients wait {} ms longer than the service works, as with delayed acknowledgements: set TCP_NODELAY \
             (JDK server: -Dsun.net.httpserver.nodelay=true).",
            short(more)
        );
        self.add(Topic::Nagle, text);
    }
}

/// Returns a resource in words.
fn named(share: &Share) -> String {
    match share.place {
        Place::Processors => "the processors".into(),
        Place::Collections => "the collections of the young generation".into(),
        Place::Workers => "the number of threads that serve requests".into(),
        Place::Resource(_) => format!("the {} {}", share.kind, share.name),
    }
}

fn signed(share: f64) -> String {
    format!("{:+.0} %", share * 100.0)
}
