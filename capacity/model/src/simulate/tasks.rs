//! Progress of a task: its operations, one after another, until one needs time or a unit that is taken.

use std::cmp::Reverse;

use yunti_base::Result;

use super::engine::{Engine, Hold, Load, Phase, Task};
use super::network::Operation;

/// Tasks that a search for a circle follows.
const CIRCLE_MAX: usize = 10_000;

impl Engine<'_> {
    /// Lets a task go through its operations until it waits or ends.
    pub(super) fn step(&mut self, place: u32) -> Result<()> {
        loop {
            let task = self.tasks[place as usize];
            match self.network.operations[task.at as usize] {
                Operation::Cpu(ms) => {
                    self.next(place);
                    if let Some(gc) = &self.network.collections {
                        self.allocate(gc.allocated_bytes * ms / self.network.template_cpu_ms.max(1e-9));
                    }
                    self.processors.push(place, ms);
                    return Ok(());
                }
                Operation::Wait { station, ms } => match task.phase {
                    Phase::Begin if !self.take(station, place, false)? => return Ok(()),
                    Phase::Waited => {
                        self.give(station, false);
                        self.next(place);
                    }
                    _ => {
                        self.timers.push(Reverse(((self.now + ms).to_bits(), place)));
                        return Ok(());
                    }
                },
                operation @ (Operation::Acquire(station) | Operation::Share(station)) => {
                    let is_shared = matches!(operation, Operation::Share(_));
                    let is_granted = task.phase == Phase::Granted;
                    if !is_granted && self.holds_again(station, place) {
                        self.next(place);
                        continue;
                    }
                    if !is_granted && !self.take(station, place, is_shared)? {
                        return Ok(());
                    }
                    self.requests[task.request as usize].held.push(Hold { station, task: place, depth: 1, is_shared });
                    self.next(place);
                    if is_granted && self.run.handoff_ms > 0.0 {
                        self.processors.push(place, self.run.handoff_ms);
                        return Ok(());
                    }
                }
                Operation::Release(station) => {
                    self.release(station, place);
                    self.next(place);
                }
                Operation::Spawn { task: number, at } => {
                    self.next(place);
                    self.spawn(Task { request: task.request, at, phase: Phase::Begin, number: Some(number) });
                }
                Operation::Join { from, to } => {
                    let request = &mut self.requests[task.request as usize];
                    let joined = &self.network.joins[from as usize..to as usize];
                    if !joined.iter().all(|number| request.done[*number as usize]) {
                        request.joiners.push(place);
                        return Ok(());
                    }
                    self.next(place);
                }
                Operation::End => {
                    self.end(place);
                    return Ok(());
                }
            }
        }
    }

    fn next(&mut self, place: u32) {
        let task = &mut self.tasks[place as usize];
        task.at += 1;
        task.phase = Phase::Begin;
    }

    /// Takes a unit, or queues the task and returns false.
    fn take(&mut self, station: u32, place: u32, is_shared: bool) -> Result<bool> {
        let is_taken = self.stations[station as usize].take(place, is_shared, self.now);
        if !is_taken {
            self.tasks[place as usize].phase = Phase::Queued(station);
            if self.is_circle(station, place) {
                return Err(self.stuck());
            }
        }
        Ok(is_taken)
    }

    fn give(&mut self, station: u32, is_shared: bool) {
        self.stations[station as usize].give(is_shared, self.now);
        while let Some(next) = self.stations[station as usize].grant() {
            self.tasks[next as usize].phase = Phase::Granted;
            self.ready.push(next);
        }
    }

    /// Returns whether a task holds a reentrant station, and counts it once more if so.
    fn holds_again(&mut self, station: u32, place: u32) -> bool {
        if !self.network.stations[station as usize].reentrant {
            return false;
        }
        let request = self.tasks[place as usize].request as usize;
        match self.requests[request].held.iter_mut().find(|hold| hold.station == station && hold.task == place) {
            Some(hold) => {
                hold.depth += 1;
                true
            }
            None => false,
        }
    }

    /// Releases what the task holds, or else another task of the request: a unit may be handed on.
    fn release(&mut self, station: u32, place: u32) {
        let request = self.tasks[place as usize].request as usize;
        let held = &mut self.requests[request].held;
        let own = held.iter().rposition(|hold| hold.station == station && hold.task == place);
        let Some(at) = own.or_else(|| held.iter().rposition(|hold| hold.station == station)) else { return };
        held[at].depth -= 1;
        if held[at].depth == 0 {
            let is_shared = held.remove(at).is_shared;
            self.give(station, is_shared);
        }
    }

    fn end(&mut self, place: u32) {
        let Task { request, number, .. } = self.tasks[place as usize];
        self.free_tasks.push(place);
        let of = &mut self.requests[request as usize];
        of.live -= 1;
        for hold in of.held.iter_mut().filter(|hold| hold.task == place) {
            hold.task = u32::MAX;
            self.stations[hold.station as usize].holder = None;
        }
        match number {
            Some(number) => {
                of.done[number as usize] = true;
                self.ready.append(&mut of.joiners);
            }
            None => {
                let response_ms = self.now - of.begin_ms;
                self.in_process -= 1;
                self.processors.set_requests(self.in_process);
                self.ended += 1;
                if self.ended > self.warm_up {
                    self.tally.end(response_ms, self.now);
                } else if self.ended == self.warm_up {
                    self.reset();
                }
                if matches!(self.load, Load::Closed(_)) {
                    self.to_begin += 1;
                }
            }
        }
        if self.requests[request as usize].live == 0 {
            // What a request has not released goes back with its end.
            while let Some(hold) = self.requests[request as usize].held.pop() {
                self.give(hold.station, hold.is_shared);
            }
            self.free_requests.push(request);
        }
    }

    /// Returns whether the holder of a station waits, over others, for this task.
    fn is_circle(&self, station: u32, place: u32) -> bool {
        let mut at = station;
        for _ in 0..CIRCLE_MAX {
            let station = &self.stations[at as usize];
            let Some(holder) = station.holder.filter(|_| station.is_single()) else { return false };
            if holder == place {
                return true;
            }
            match self.tasks[holder as usize].phase {
                Phase::Queued(next) => at = next,
                _ => return false,
            }
        }
        false
    }
}
