//! Resources that requests take, wait for and use: kinds, names and parallelism.

use std::collections::{BTreeMap, HashMap, HashSet};

use yunti_heap::model::name::is_of_the_jdk;

use super::evidence::Evidence;
use super::measure::processors::group;
use super::request::places::{Object, Role};
use super::request::steps::{Builder, Step, Used, cpu_ms, tidy};

/// Time a request that something must be held to count, relative to the largest of all.
const COUNTS: f64 = 0.02;
/// Locks and pools that are kept.
const OBJECTS_MAX: usize = 64;

/// Resource of a service.
#[derive(Clone, Debug, PartialEq)]
pub struct Resource {
    pub kind: &'static str,
    pub name: String,
    pub parallelism: Option<u32>,
}

/// Resources by what steps use.
#[derive(Default)]
pub struct Resources {
    pub all: Vec<Resource>,
    numbers: BTreeMap<Used, usize>,
    /// Threads that are event loops.
    loops: HashSet<usize>,
}

impl Resources {
    /// Finds the resources of requests, and removes from their steps what is never scarce.
    pub fn of(requests: &mut [Vec<Step>], builder: &Builder<'_>, evidence: &Evidence, processors: f64) -> Resources {
        let holds = held_ms(requests);
        let count = requests.len().max(1) as f64;
        let cpu: f64 = requests.iter().map(|steps| cpu_ms(steps)).sum::<f64>() / count;
        let sizes: HashMap<u32, u32> =
            holds.keys().map(|object| (*object, parallelism(*object, builder, evidence))).collect();
        let need = |object: u32| holds[&object] / count / f64::from(sizes[&object].max(1));
        let most = holds.keys().map(|object| need(*object)).fold(cpu / processors.max(0.1), f64::max);
        let private = private(&sizes, builder, evidence);
        let mut alone = HashSet::new();
        requests.iter().for_each(|steps| add_alone(steps, &mut alone));
        // Without a writer, readers wait for nobody.
        let counts =
            |object: &u32| need(*object) > most * COUNTS && !private.contains(object) && alone.contains(object);
        let mut kept: Vec<u32> = holds.keys().copied().filter(counts).collect();
        kept.sort_by(|a, b| need(*b).total_cmp(&need(*a)).then(a.cmp(b)));
        kept.truncate(OBJECTS_MAX);
        let kept: HashSet<u32> = kept.into_iter().collect();
        let mut resources = Resources { loops: builder.loops().clone(), ..Resources::default() };
        for steps in requests.iter_mut() {
            keep_only(steps, &kept);
            tidy(steps);
            resources.add_all(steps, &sizes, evidence);
        }
        resources
    }

    /// Returns the number of a resource; `None` for what needs none.
    pub fn number(&self, used: Used) -> Option<usize> {
        let number = self.numbers.get(&used).copied().unwrap_or_default();
        Some(number).filter(|_| used != Used::NoThread)
    }

    /// Returns the number of event loops in the group of one.
    fn loops_like(&self, thread: usize, evidence: &Evidence) -> usize {
        let name = |thread: usize| group(&evidence.timelines[thread].name);
        self.loops.iter().filter(|other| name(**other) == name(thread)).count()
    }

    fn add_all(&mut self, steps: &[Step], sizes: &HashMap<u32, u32>, evidence: &Evidence) {
        for step in steps {
            match step {
                Step::Wait(used, _) => self.add(*used, sizes, evidence),
                Step::Acquire(object) | Step::Share(object) => self.add(Used::Object(*object), sizes, evidence),
                Step::Spawn(_, threads, of_task) => {
                    self.add(*threads, sizes, evidence);
                    self.add_all(of_task, sizes, evidence);
                }
                Step::Cpu(_) | Step::Release(_) | Step::Join(_) => {}
            }
        }
    }

    fn add(&mut self, used: Used, sizes: &HashMap<u32, u32>, evidence: &Evidence) {
        if used == Used::NoThread || self.numbers.contains_key(&used) {
            return;
        }
        let resource = match used {
            Used::Loops(thread) => Resource {
                kind: "threads",
                name: group(&evidence.timelines[thread].name),
                parallelism: u32::try_from(self.loops_like(thread, evidence)).ok(),
            },
            used => resource(used, sizes, evidence),
        };
        // Threads of one group are one pool.
        let is_group = matches!(used, Used::Threads(_) | Used::Loops(_));
        let same = self.all.iter().position(|one| is_group && *one == resource);
        let number = same.unwrap_or_else(|| {
            self.all.push(resource);
            self.all.len() - 1
        });
        self.numbers.insert(used, number);
    }
}

fn resource(used: Used, sizes: &HashMap<u32, u32>, evidence: &Evidence) -> Resource {
    let of = |kind, name: &str| Resource { kind, name: name.to_owned(), parallelism: None };
    match used {
        Used::Object(identity) => {
            let object = evidence.places.object(identity);
            let size = sizes.get(&identity).copied().unwrap_or(1);
            let is_pool = size > 1 || object.is_some_and(|object| object.size.is_some_and(|size| size > 1));
            Resource {
                kind: if is_pool { "pool" } else { "lock" },
                name: object.map_or_else(|| format!("@{identity:x}"), name),
                parallelism: Some(size),
            }
        }
        Used::Peer(number) => of("remote", evidence.peers.get(usize::from(number)).map_or("?", String::as_str)),
        Used::Pool(identity) => {
            let object = evidence.places.object(identity);
            let thread = evidence.timelines.iter().find(|timeline| {
                timeline
                    .events
                    .iter()
                    .any(|event| event.object == identity && evidence.places.role(event) == Some(Role::Pool))
            });
            Resource {
                kind: "threads",
                name: thread.map_or_else(|| "threads".to_owned(), |timeline| group(&timeline.name)),
                parallelism: object.and_then(|object| object.size).filter(|size| *size < 1_000_000),
            }
        }
        Used::Threads(thread) | Used::Loops(thread) => of("threads", &group(&evidence.timelines[thread].name)),
        Used::NoThread => of("other", "no thread"),
        Used::Network => of("remote", "network"),
        Used::Disk => of("disk", "files"),
        Used::Sleep => of("sleep", "sleep"),
        Used::OtherThread => of("other", "another thread, or sleep"),
        Used::Parked => of("other", "waits of virtual threads"),
    }
}

/// Returns the name of a lock or pool: its class, and for a class of the JDK the method of the program that uses it.
fn name(object: &Object) -> String {
    let class = object.class.strip_prefix("Class of ").unwrap_or(&object.class);
    if !is_of_the_jdk(class) {
        return object.class.clone();
    }
    let short = class.rsplit_once('.').map_or(class, |(_, short)| short);
    match object.callers.iter().find(|caller| !is_of_the_jdk(caller)) {
        Some(caller) => format!("{short} in {caller}"),
        None => class.to_owned(),
    }
}

/// Returns the objects that no two threads ever share.
///
/// @param sizes units of each object: several units are for several threads
fn private(sizes: &HashMap<u32, u32>, builder: &Builder<'_>, evidence: &Evidence) -> HashSet<u32> {
    let mut by_user: HashMap<String, Vec<u32>> = HashMap::new();
    for (object, _) in sizes.iter().filter(|(_, units)| **units == 1) {
        by_user.entry(evidence.places.object(*object).map(user).unwrap_or_default()).or_default().push(*object);
    }
    let is_of_one = |object: &u32| !builder.holds().get(*object).is_empty() && builder.is_of_one_thread(*object);
    let mut private: HashSet<u32> = sizes.keys().copied().filter(is_of_one).collect();
    for objects in by_user.into_values().filter(|objects| objects.len() > 1) {
        private.extend(builder.private(&objects));
    }
    private
}

/// Returns the class of an object and the class that takes it: what objects of one kind have in common.
fn user(object: &Object) -> String {
    let taker = object.callers.iter().find(|caller| !caller.starts_with("java.util.concurrent."));
    let class = taker.and_then(|caller| caller.rsplit_once('.')).map_or("", |(class, _)| class);
    format!("{} {class}", object.class)
}

/// Returns how many can hold an object at a time.
fn parallelism(identity: u32, builder: &Builder<'_>, evidence: &Evidence) -> u32 {
    let said = evidence.places.object(identity);
    if said.is_some_and(|object| object.class.starts_with("java.util.concurrent.locks.")) {
        return 1;
    }
    let said = said.and_then(|object| object.size);
    let holds = builder.holds().get(identity);
    let mut changes: Vec<(u64, i32)> = Vec::new();
    for (begin, end, _) in holds {
        changes.push((*begin, 1));
        changes.push((*end, -1));
    }
    changes.sort_unstable();
    let (mut now, mut most) = (0, 0);
    for (_, change) in changes {
        now += change;
        most = most.max(now);
    }
    most = most.max(1);
    // What is free and what is held at one moment are all. A change between both counts makes one of them wrong.
    let weight = builder.holds().weight(identity);
    let mut sums: HashMap<u32, usize> = HashMap::new();
    for (at, free) in evidence.places.free(identity) {
        let held = holds.iter().filter(|(begin, end, _)| begin <= at && at < end).count();
        *sums.entry(free.saturating_add((held as f64 * weight).round() as u32)).or_default() += 1;
    }
    let all = sums.into_iter().max_by_key(|(sum, times)| (*times, *sum)).map(|(sum, _)| sum);
    let all = all.or(said).map(|all| (f64::from(all) / weight) as u32);
    (most as u32).max(all.unwrap_or(1))
}

/// Adds the objects that are held by one alone, at least now and then.
fn add_alone(steps: &[Step], alone: &mut HashSet<u32>) {
    for step in steps {
        match step {
            Step::Acquire(object) => {
                alone.insert(*object);
            }
            Step::Spawn(_, _, of_task) => add_alone(of_task, alone),
            _ => {}
        }
    }
}

/// Returns the milliseconds for which each object is held, over all requests.
fn held_ms(requests: &[Vec<Step>]) -> HashMap<u32, f64> {
    let mut held = HashMap::new();
    for steps in requests {
        let mut walk = Walk { held: &mut held, open: Vec::new(), ends: HashMap::new() };
        let end = walk.steps(steps, 0.0);
        walk.finish(end);
    }
    held
}

/// Walk over a request without any queue.
struct Walk<'a> {
    held: &'a mut HashMap<u32, f64>,
    /// Held objects, and the begin of each hold.
    open: Vec<(u32, f64)>,
    /// Ends of tasks.
    ends: HashMap<u32, f64>,
}

impl Walk<'_> {
    /// Returns the end of steps that begin at a time.
    fn steps(&mut self, steps: &[Step], begin: f64) -> f64 {
        let mut now = begin;
        for step in steps {
            match step {
                Step::Cpu(ms) | Step::Wait(_, ms) => now += ms,
                Step::Acquire(object) | Step::Share(object) => self.open.push((*object, now)),
                Step::Release(object) => {
                    if let Some(at) = self.open.iter().rposition(|(open, _)| open == object) {
                        let (_, begin) = self.open.remove(at);
                        *self.held.entry(*object).or_default() += (now - begin).max(0.0);
                    }
                }
                Step::Spawn(task, _, of_task) => {
                    let end = self.steps(of_task, now);
                    self.ends.insert(*task, end);
                }
                Step::Join(tasks) => {
                    now = tasks.iter().filter_map(|task| self.ends.get(task)).fold(now, |now, end| now.max(*end));
                }
            }
        }
        now
    }

    /// Ends the holds that nothing has ended.
    fn finish(self, end: f64) {
        for (object, begin) in self.open {
            *self.held.entry(object).or_default() += (end - begin).max(0.0);
        }
    }
}

fn keep_only(steps: &mut Vec<Step>, kept: &HashSet<u32>) {
    steps.retain_mut(|step| match step {
        Step::Acquire(object) | Step::Share(object) | Step::Release(object) => kept.contains(object),
        Step::Spawn(_, _, of_task) => {
            keep_only(of_task, kept);
            true
        }
        _ => true,
    });
}
