//! Demands of a service after changes.

use yunti_base::{Code, Error, Result};

use super::change::{Amount, Change, Conversion};
use super::mix;
use super::names::{find, missing};
use super::overlap::at_once;
use crate::demands::{Cpu, Demands, ProcessorTime, ResourceKind, Scaling, Step};
use crate::young;

/// Returns the demands with all changes made. `conversions`: measured alternatives for formats of messages.
///
/// An error names what is not there, and lists what is.
pub fn apply(demands: &Demands, changes: &[Change], conversions: &[Conversion]) -> Result<Demands> {
    let mut changed = independent(demands);
    for change in changes {
        let made = one(&mut changed, change, conversions);
        made.map_err(|error| error.within(&format!("change '{change}'")))?;
    }
    Ok(changed)
}

/// Returns the same demands so that no sum depends on other parts: a change of one part changes that alone.
fn independent(demands: &Demands) -> Demands {
    let mut demands = demands.clone();
    let time = ProcessorTime::of(&demands);
    let scaling =
        demands.cpu.scaling.map(|scaling| Scaling { at_busy: Some(ProcessorTime::busy_measured(&demands)), ..scaling });
    let peers_ms = demands.cpu.peers_ms;
    demands.cpu = Cpu { side_ms: Some(time.own_side_ms), peers_ms, scaling, ..Cpu::default() };
    each_list(&mut demands, &mut |steps| scale_cpu(steps, time.factor));
    demands
}

fn one(demands: &mut Demands, change: &Change, conversions: &[Conversion]) -> Result<()> {
    match change {
        Change::Processors(amount) => {
            let count = amount.of(demands.processors.count);
            if count < 0.1 {
                return Err(Error::new(Code::Usage, "no processor is left"));
            }
            demands.processors.count = count;
        }
        Change::Faster(factor) => {
            each_list(demands, &mut |steps| scale_cpu(steps, 1.0 / factor));
            for ms in [&mut demands.cpu.side_ms, &mut demands.cpu.peers_ms].into_iter().flatten() {
                *ms /= factor;
            }
            if let Some(gc) = &mut demands.gc {
                young::scale_pauses(gc, 1.0 / factor);
            }
        }
        Change::Hold { kind, name, factor } => {
            let ids = find(demands, Some(*kind), name.as_deref())?;
            each_list(demands, &mut |steps| scale_holds(steps, &ids, *factor));
        }
        Change::Units { kind, name, amount } => units(demands, *kind, name.as_deref(), *amount)?,
        Change::Workers(amount) => {
            let limit = match (amount, demands.workers.limit) {
                (Amount::Set(number), _) => *number,
                (amount, Some(limit)) => amount.of(f64::from(limit)),
                (_, None) => {
                    let error = Error::new(Code::Usage, "the number of threads is not known");
                    return Err(error.hint("give the number: threads 100"));
                }
            };
            demands.workers.limit = Some(at_least_one(limit));
        }
        Change::AtOnce(names) => {
            let mut ids = Vec::new();
            for name in names {
                ids.extend(find(demands, None, Some(name))?);
            }
            for template in &mut demands.templates {
                template.steps = at_once(&template.steps, &|resource| ids.contains(&resource));
            }
        }
        Change::NoCollections => demands.gc = None,
        Change::Young(bytes) => young::resize(demands, *bytes)?,
        Change::Memory(factor) => young::scale_allocation(demands, *factor),
        Change::Share { kind, share } => mix::share(demands, kind, *share)?,
        Change::Without(kind) => mix::without(demands, kind)?,
        Change::Held(factor) => young::scale_held(demands, *factor),
        Change::Convert { from, to, factor } => convert(demands, from, to, *factor, conversions)?,
    }
    Ok(())
}

fn units(demands: &mut Demands, kind: ResourceKind, name: Option<&str>, amount: Amount) -> Result<()> {
    let ids = find(demands, Some(kind), name)?;
    for resource in demands.resources.iter_mut().filter(|resource| ids.contains(&resource.id)) {
        resource.parallelism = match (resource.parallelism, amount) {
            (Some(units), amount) => Some(at_least_one(amount.of(f64::from(units)))),
            (None, Amount::Set(number)) => Some(at_least_one(number)),
            (None, _) => None,
        };
    }
    Ok(())
}

fn at_least_one(number: f64) -> u32 {
    number.round().clamp(1.0, 1e7) as u32
}

fn convert(demands: &mut Demands, from: &str, to: &str, factor: Option<f64>, table: &[Conversion]) -> Result<()> {
    let is = |label: &str, wanted: &str| label.eq_ignore_ascii_case(wanted);
    let mut known = table.iter().filter(|entry| is(&entry.from, from));
    let measured = known.clone().find(|entry| is(&entry.to, to));
    // A speed-up of the user's own needs the share alone.
    let Some(entry) = measured.or_else(|| known.next().filter(|_| factor.is_some())) else {
        let names: Vec<String> = table.iter().map(|entry| format!("{} -> {}", entry.from, entry.to)).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        return Err(missing("no such pair of formats was measured", &names));
    };
    let speed = factor.unwrap_or(entry.speed_up).max(1e-3);
    let share = entry.cpu_share.clamp(0.0, 1.0);
    each_list(demands, &mut |steps| scale_cpu(steps, 1.0 - share + share / speed));
    if is(&entry.to, to) && entry.memory_share > 0.0 {
        let share = entry.memory_share.clamp(0.0, 1.0);
        young::scale_allocation(demands, 1.0 - share + share * entry.memory_factor.clamp(0.0, 1000.0));
    }
    Ok(())
}

fn each_list(demands: &mut Demands, work: &mut dyn FnMut(&mut [Step])) {
    demands.templates.iter_mut().for_each(|template| work(&mut template.steps));
}

fn scale_cpu(steps: &mut [Step], factor: f64) {
    for step in steps {
        match step {
            Step::Cpu(ms) => *ms *= factor,
            Step::Spawn { steps, .. } => scale_cpu(steps, factor),
            _ => {}
        }
    }
}

/// Scales waits at resources and all that happens while one of them is held.
fn scale_holds(steps: &mut [Step], ids: &[u32], factor: f64) {
    let mut held = 0;
    for step in steps {
        match step {
            Step::Acquire(of) | Step::Share(of) if ids.contains(of) => held += 1,
            Step::Release(of) if ids.contains(of) => held -= 1,
            Step::Wait { resource, ms } if held > 0 || ids.contains(resource) => *ms *= factor,
            Step::Cpu(ms) if held > 0 => *ms *= factor,
            Step::Spawn { steps, .. } if held > 0 => scale_all(steps, factor),
            Step::Spawn { steps, .. } => scale_holds(steps, ids, factor),
            _ => {}
        }
    }
}

fn scale_all(steps: &mut [Step], factor: f64) {
    for step in steps {
        match step {
            Step::Cpu(ms) | Step::Wait { ms, .. } => *ms *= factor,
            Step::Spawn { steps, .. } => scale_all(steps, factor),
            _ => {}
        }
    }
}
