//! Events of a simulated service, one after another.
//!
//! A task goes through its operations until one needs time or a unit that is taken. Then it waits on the
//! processors, among the timers, or in the queue of a station. Bounded: each run ends after its requests, after
//! a number of events, or with the error that nothing can go on.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use yunti_base::{Code, Error, Result};

use super::network::Network;
use super::processors::Processors;
use super::run::Run;
use super::station::Station;
use super::tally::{Point, StationUse, Tally};

/// Events of a run, at most.
const EVENTS_MAX: u64 = 20_000_000;
/// Requests that a run needs if it ends by its events.
const REQUESTS_MIN: usize = 50;
/// Requests in process at which an open loop ends as saturated.
const SATURATED: u32 = 5_000;
/// Growth of the requests in process, from the warm-up to the end, that counts as saturated: a factor and a number.
const GROWTH: (u32, u32) = (3, 50);
/// Timers that belong to no task.
const ARRIVAL: u32 = u32::MAX;
pub(super) const RESUME: u32 = u32::MAX - 1;
/// Work on the processors that belongs to no task.
const SIDE: u32 = u32::MAX;

/// Way in which requests come.
#[derive(Clone, Copy, Debug)]
pub(super) enum Load {
    Closed(u32),
    /// Requests a second.
    Open(f64),
}

/// Progress of a task at its operation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Phase {
    Begin,
    /// In the queue of a station.
    Queued(u32),
    /// Received the unit of its station.
    Granted,
    /// At the end of its wait.
    Waited,
}

#[derive(Clone, Copy)]
pub(super) struct Task {
    pub(super) request: u32,
    pub(super) at: u32,
    pub(super) phase: Phase,
    /// Number within the request; absent for the request itself.
    pub(super) number: Option<u32>,
}

#[derive(Default)]
pub(super) struct Request {
    pub(super) begin_ms: f64,
    /// Tasks that have not ended.
    pub(super) live: u32,
    pub(super) done: Vec<bool>,
    pub(super) joiners: Vec<u32>,
    pub(super) held: Vec<Hold>,
}

#[derive(Clone, Copy)]
pub(super) struct Hold {
    pub(super) station: u32,
    pub(super) task: u32,
    pub(super) depth: u32,
    pub(super) is_shared: bool,
}

/// Run of a network under a load.
pub(super) struct Engine<'n> {
    pub(super) network: &'n Network,
    pub(super) load: Load,
    pub(super) run: &'n Run,
    pub(super) random: fastrand::Rng,
    /// Templates in the order of their draw. Each occurs once before any occurs again, which narrows the spread.
    pub(super) deck: Vec<u32>,
    pub(super) drawn: usize,
    pub(super) now: f64,
    pub(super) processors: Processors,
    pub(super) stations: Vec<Station>,
    pub(super) timers: BinaryHeap<Reverse<(u64, u32)>>,
    pub(super) tasks: Vec<Task>,
    pub(super) free_tasks: Vec<u32>,
    pub(super) requests: Vec<Request>,
    pub(super) free_requests: Vec<u32>,
    pub(super) ready: Vec<u32>,
    pub(super) in_process: u32,
    pub(super) to_begin: u32,
    pub(super) ended: usize,
    pub(super) warm_up: usize,
    /// Requests in process at the end of the warm-up.
    pub(super) warm: u32,
    pub(super) tally: Tally,
    pub(super) eden_filled: f64,
    pub(super) old_filled: f64,
    pub(super) resume_ms: f64,
}

impl<'n> Engine<'n> {
    pub fn new(network: &'n Network, load: Load, run: &'n Run) -> Self {
        let clients = if let Load::Closed(clients) = load { clients as usize } else { 0 };
        Engine {
            network,
            load,
            run,
            random: fastrand::Rng::with_seed(run.seed),
            deck: (0..network.templates.len() as u32).collect(),
            drawn: usize::MAX,
            now: 0.0,
            processors: Processors::new(network.processors, network.stretch),
            stations: network.stations.iter().map(|kind| Station::new(kind.units)).collect(),
            timers: BinaryHeap::new(),
            tasks: Vec::new(),
            free_tasks: Vec::new(),
            requests: Vec::new(),
            free_requests: Vec::new(),
            ready: Vec::new(),
            in_process: 0,
            to_begin: 0,
            ended: 0,
            warm_up: (2 * clients).max(run.requests as usize / 10),
            warm: 0,
            tally: Tally::new(0.0, 0),
            eden_filled: 0.0,
            old_filled: 0.0,
            resume_ms: 0.0,
        }
    }

    pub fn run(mut self) -> Result<Point> {
        self.first();
        let (wanted, mut is_saturated) = (self.warm_up + self.run.requests as usize, false);
        for _ in 0..EVENTS_MAX {
            if self.ended >= wanted {
                break;
            }
            let processors = self.processors.next_end();
            let timer = self.timers.peek().map_or(f64::INFINITY, |Reverse((at, _))| f64::from_bits(*at) - self.now);
            if processors == f64::INFINITY && timer == f64::INFINITY {
                return Err(self.stuck());
            }
            self.advance(processors.min(timer).max(0.0));
            if processors <= timer {
                match self.processors.pop() {
                    Some(SIDE) | None => {}
                    Some(task) => self.ready.push(task),
                }
            } else if let Some(Reverse((_, task))) = self.timers.pop() {
                self.timer(task);
            }
            self.go_on()?;
            if self.in_process > SATURATED && matches!(self.load, Load::Open(_)) {
                is_saturated = true;
                break;
            }
        }
        is_saturated |= matches!(self.load, Load::Open(_)) && self.in_process > GROWTH.0 * self.warm + GROWTH.1;
        if self.ended < self.warm_up.max(REQUESTS_MIN) && !is_saturated {
            return Err(Error::new(Code::Input, "demands: the templates are too long to simulate")
                .hint("measure fewer steps in a request"));
        }
        Ok(self.point(is_saturated))
    }

    /// Begins the load.
    fn first(&mut self) {
        match self.load {
            // Clients that begin at once would stay in step if all templates were equal.
            Load::Closed(clients) => {
                for _ in 0..clients {
                    let at = self.random.f64() * self.network.spread_ms;
                    self.timers.push(Reverse((at.to_bits(), ARRIVAL)));
                }
            }
            Load::Open(_) => self.arrive_later(),
        }
        if self.warm_up == 0 {
            self.reset();
        }
    }

    fn arrive_later(&mut self) {
        if let Load::Open(per_second) = self.load {
            let ms = -(1.0 - self.random.f64()).ln() * 1000.0 / per_second.max(1e-9);
            self.timers.push(Reverse(((self.now + ms).to_bits(), ARRIVAL)));
        }
    }

    fn timer(&mut self, task: u32) {
        match task {
            ARRIVAL => {
                self.to_begin += 1;
                self.arrive_later();
            }
            RESUME if self.now >= self.resume_ms => self.processors.set_stopped(false),
            RESUME => self.timers.push(Reverse((self.resume_ms.to_bits(), RESUME))),
            task => {
                self.tasks[task as usize].phase = Phase::Waited;
                self.ready.push(task);
            }
        }
    }

    fn advance(&mut self, ms: f64) {
        self.tally.in_process_area += f64::from(self.in_process) * ms;
        self.tally.busy_area += self.processors.busy() * ms;
        if self.processors.is_stopped() {
            self.tally.stopped_area += ms;
        }
        self.processors.advance(ms);
        self.now += ms;
    }

    /// Lets all tasks go on that can, and begins requests.
    fn go_on(&mut self) -> Result<()> {
        loop {
            while let Some(task) = self.ready.pop() {
                self.step(task)?;
            }
            // Requests without any time end at once and begin the next: the number of requests bounds them.
            if self.to_begin == 0 || self.ended >= self.warm_up + self.run.requests as usize {
                return Ok(());
            }
            self.to_begin -= 1;
            self.begin();
        }
    }

    fn begin(&mut self) {
        if self.drawn >= self.deck.len() {
            self.random.shuffle(&mut self.deck);
            self.drawn = 0;
        }
        let (at, tasks) = self.network.templates[self.deck[self.drawn] as usize];
        self.drawn += 1;
        let request = self.free_requests.pop().unwrap_or_else(|| {
            self.requests.push(Request::default());
            self.requests.len() as u32 - 1
        });
        let of = &mut self.requests[request as usize];
        (of.begin_ms, of.live) = (self.now, 0);
        of.done.clear();
        of.done.resize(tasks as usize, false);
        self.in_process += 1;
        self.processors.set_requests(self.in_process);
        if self.network.side_ms > 0.0 {
            self.processors.push(SIDE, self.network.side_ms);
        }
        if self.network.template_cpu_ms <= 0.0 {
            self.allocate(self.network.collections.map_or(0.0, |gc| gc.allocated_bytes));
        }
        self.spawn(Task { request, at, phase: Phase::Begin, number: None });
    }

    pub(super) fn spawn(&mut self, task: Task) {
        self.requests[task.request as usize].live += 1;
        let place = match self.free_tasks.pop() {
            Some(place) => {
                self.tasks[place as usize] = task;
                place
            }
            None => {
                self.tasks.push(task);
                self.tasks.len() as u32 - 1
            }
        };
        self.ready.push(place);
    }

    /// Begins to measure.
    pub(super) fn reset(&mut self) {
        self.tally = Tally::new(self.now, self.run.requests as usize);
        self.warm = self.in_process;
        self.stations.iter_mut().for_each(|station| station.reset(self.now));
    }

    /// Returns the error of requests that wait for one another.
    pub(super) fn stuck(&self) -> Error {
        let queues = self.stations.iter().enumerate().filter(|(_, station)| station.queued() > 0);
        let mut names: Vec<&str> =
            queues.map(|(at, _)| self.network.names[at].as_str()).filter(|name| !name.is_empty()).take(4).collect();
        if names.is_empty() {
            names.push("tasks of one request");
        }
        let what = format!("demands: {} requests wait for one another at {}", self.in_process, names.join(" and "));
        Error::new(Code::Input, what)
            .hint("the service can hang here: acquire in one order, or raise the limit that its own tasks wait for")
    }

    fn point(mut self, is_saturated: bool) -> Point {
        let (now, begin) = (self.now, self.tally.begin_ms);
        let ms = (now - begin).max(1e-9);
        let stations = self
            .stations
            .iter_mut()
            .map(|station| {
                let (in_use, queued) = station.areas(now);
                let in_use = in_use / ms;
                let utilisation = station.units().map_or(0.0, |units| in_use / f64::from(units));
                StationUse { in_use, utilisation, queued: queued / ms }
            })
            .collect();
        let clients = if let Load::Closed(clients) = self.load { clients } else { 0 };
        Point { clients, stations, saturated: is_saturated, ..self.tally.point(now) }
    }
}
