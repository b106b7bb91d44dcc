//! Processor time of a request: the part inside its template, and the rest that delays no request.

use super::Demands;

/// Processor time of a request.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ProcessorTime {
    /// Factor on the steps `cpu`, so that their mean is the measured one.
    pub factor: f64,
    /// Mean of the steps `cpu`, with the factor.
    pub template_ms: f64,
    /// Work of the process beside its templates: acceptors, selectors, timers.
    pub own_side_ms: f64,
    /// Own work beside the templates, peers on the same processors, and collectors beside the requests.
    pub side_ms: f64,
}

impl ProcessorTime {
    /// Returns the processor time of a request.
    ///
    /// The process as a whole is measured exactly. So what templates lack is side work, and excess is scaled down.
    pub fn of(demands: &Demands) -> ProcessorTime {
        let (cpu, sampled) = (&demands.cpu, demands.templates_cpu_ms());
        let inside = cpu.templates_ms.filter(|ms| *ms > 0.0 && sampled > 0.0).unwrap_or(sampled);
        let given = cpu.side_ms.unwrap_or(0.0);
        let (inside, side) = match cpu.measured_ms.filter(|measured| *measured > 0.0) {
            Some(measured) => (inside.min(measured), measured - inside.min(measured)),
            None => (inside, given),
        };
        let concurrent = demands.gc.as_ref().map_or(0.0, |gc| gc.concurrent_ms(demands.processors.count));
        let factor = if sampled > 0.0 { inside / sampled } else { 1.0 };
        ProcessorTime {
            factor,
            template_ms: sampled * factor,
            own_side_ms: side,
            side_ms: side + cpu.peers_ms.unwrap_or(0.0) + concurrent,
        }
    }

    /// Returns the sum.
    pub fn ms(&self) -> f64 {
        self.template_ms + self.side_ms
    }

    /// Returns the mean number of busy processors during the measurement.
    pub fn busy_measured(demands: &Demands) -> f64 {
        if let Some(busy) = demands.cpu.scaling.and_then(|scaling| scaling.at_busy) {
            return busy;
        }
        let busy = demands.requests.per_second * ProcessorTime::of(demands).ms() / 1000.0;
        busy.min(demands.processors.available())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::demands::{Gc, Step, Template};

    #[test]
    fn the_process_as_a_whole_decides() {
        // measured, templates, side -> factor, side
        for (measured, templates, side, expect) in [
            (None, None, None, (1.0, 0.0)),
            (None, None, Some(2.0), (1.0, 2.0)),
            (Some(6.0), None, Some(1.0), (1.0, 2.0)),
            (Some(6.0), Some(5.0), None, (1.25, 1.0)),
            (Some(2.0), None, Some(1.0), (0.5, 0.0)),
            (Some(0.0), None, None, (1.0, 0.0)),
        ] {
            let mut demands = Demands::default();
            demands.processors.count = 2.0;
            demands.templates.push(Template { steps: vec![Step::Cpu(4.0)], ..Template::default() });
            (demands.cpu.measured_ms, demands.cpu.templates_ms, demands.cpu.side_ms) = (measured, templates, side);
            let found = ProcessorTime::of(&demands);
            assert_eq!((found.factor, found.side_ms), expect, "{measured:?} {templates:?} {side:?}");
            demands.cpu.peers_ms = Some(0.5);
            demands.gc = Some(Gc { cpu_ms_per_request: 1.0, pause_ms_per_request: 0.2, ..Gc::default() });
            assert_eq!(ProcessorTime::of(&demands).side_ms, expect.1 + 0.5 + 0.6);
        }
    }
}
