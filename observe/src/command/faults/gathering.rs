//! What is kept of faults while they come: sums of each kind in each area, the first one by one, and of those that have a stack which it is.

use std::collections::{HashMap, HashSet};

use super::Kind;
use super::places::{Area, Places};
use yunti_probe::kernel::Fault;

/// Faults that --json has one by one.
const TOLD_MAX: usize = 100_000;

/// Faults of one kind in one area.
pub struct Group {
    pub area: Area,
    pub kind: Kind,
    pub faults: u64,
    pub by_kernel: u64,
    /// Copies of the page of zeros that all share who have only read: each is the second touch of fresh memory.
    pub of_zeros: u64,
    /// Numbers of pages.
    pub pages: HashSet<u64>,
    pub lowest: u64,
    pub highest: u64,
}

pub struct Told {
    pub address: u64,
    pub tid: u32,
    pub is_write: bool,
    /// Its place among the groups.
    pub group: usize,
}

/// A fault of which there may be a stack.
pub struct Way {
    pub tid: u32,
    pub stack: u32,
    pub group: usize,
}

pub struct Gathering {
    page_bytes: u64,
    /// Pages of fresh memory that were read and not written yet.
    only_read: HashSet<u64>,
    pub groups: Vec<Group>,
    known: HashMap<(Area, Kind), usize>,
    pub told: Vec<Told>,
    pub ways: Vec<Way>,
    pub faults: u64,
}

impl Gathering {
    pub fn new() -> Gathering {
        Gathering {
            page_bytes: rustix::param::page_size() as u64,
            only_read: HashSet::new(),
            groups: Vec::new(),
            known: HashMap::new(),
            told: Vec::new(),
            ways: Vec::new(),
            faults: 0,
        }
    }

    pub fn add(&mut self, fault: &Fault, places: &Places) {
        let home = places.home(fault);
        let area = places.area(fault, home.as_ref());
        let kind = Kind::of(fault, &area, home.as_ref());
        let page = fault.address / self.page_bytes;
        let is_of_zeros = match kind {
            Kind::FirstTouch if !fault.is_write => {
                self.only_read.insert(page);
                false
            }
            Kind::FirstTouch | Kind::CopyOnWrite => self.only_read.remove(&page) && kind == Kind::CopyOnWrite,
            _ => false,
        };
        let at = self.group(area, kind);
        let group = &mut self.groups[at];
        group.faults += 1;
        group.of_zeros += u64::from(is_of_zeros);
        group.by_kernel += u64::from(!fault.is_users);
        group.pages.insert(page);
        group.lowest = group.lowest.min(fault.address);
        group.highest = group.highest.max(fault.address);
        self.faults += 1;
        if fault.stack != 0 {
            self.ways.push(Way { tid: fault.tid, stack: fault.stack, group: at });
        }
        if self.told.len() < TOLD_MAX {
            self.told.push(Told { address: fault.address, tid: fault.tid, is_write: fault.is_write, group: at });
        }
    }

    fn group(&mut self, area: Area, kind: Kind) -> usize {
        *self.known.entry((area, kind)).or_insert_with_key(|(area, kind)| {
            self.groups.push(Group {
                area: area.clone(),
                kind: *kind,
                faults: 0,
                by_kernel: 0,
                of_zeros: 0,
                pages: HashSet::new(),
                lowest: u64::MAX,
                highest: 0,
            });
            self.groups.len() - 1
        })
    }

    /// The largest first. Files that have their whole name only since some time are one with what they were called before.
    pub fn finish(&mut self, places: &Places) {
        let mut sorted: Vec<Group> = Vec::new();
        let mut place_of = Vec::new();
        for mut group in std::mem::take(&mut self.groups) {
            group.area = places.named_at_last(group.area);
            let same = sorted.iter_mut().position(|other| (&other.area, other.kind) == (&group.area, group.kind));
            place_of.push(same.unwrap_or(sorted.len()));
            match same.map(|at| &mut sorted[at]) {
                None => sorted.push(group),
                Some(other) => {
                    other.faults += group.faults;
                    other.by_kernel += group.by_kernel;
                    other.of_zeros += group.of_zeros;
                    other.pages.extend(group.pages);
                    other.lowest = other.lowest.min(group.lowest);
                    other.highest = other.highest.max(group.highest);
                }
            }
        }
        let mut order: Vec<usize> = (0..sorted.len()).collect();
        order.sort_by(|a, b| {
            let (a, b) = (&sorted[*a], &sorted[*b]);
            b.faults.cmp(&a.faults).then_with(|| (&a.area, a.kind).cmp(&(&b.area, b.kind)))
        });
        let mut rank = vec![0; order.len()];
        order.iter().enumerate().for_each(|(to, from)| rank[*from] = to);
        let groups =
            self.told.iter_mut().map(|told| &mut told.group).chain(self.ways.iter_mut().map(|way| &mut way.group));
        for group in groups {
            *group = rank[place_of[*group]];
        }
        let mut by_rank: Vec<(usize, Group)> = sorted.into_iter().enumerate().map(|(i, g)| (rank[i], g)).collect();
        by_rank.sort_by_key(|(rank, _)| *rank);
        self.groups = by_rank.into_iter().map(|(_, group)| group).collect();
    }
}
