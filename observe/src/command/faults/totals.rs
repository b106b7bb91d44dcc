//! Totals of page faults: sums by kind and area, the first faults one by one, and references to stacks.

use std::collections::{HashMap, HashSet};

use super::Kind;
use super::places::{Area, Places};
use yunti_probe::kernel::Fault;

/// Faults that `--json` lists one by one.
const RECORDS_MAX: usize = 100_000;

/// Faults of one kind in one area.
pub struct Group {
    pub area: Area,
    pub kind: Kind,
    pub faults: u64,
    pub by_kernel: u64,
    /// Copies of the shared page of zeros. A read of fresh memory maps this page, and the first write copies it.
    pub of_zeros: u64,
    /// Page numbers: addresses divided by the page size.
    pub pages: HashSet<u64>,
    pub lowest: u64,
    pub highest: u64,
}

/// One fault, for `--json`.
pub struct FaultRecord {
    pub address: u64,
    pub tid: u32,
    pub is_write: bool,
    /// Index among the groups.
    pub group: usize,
}

/// A fault that may have a stack.
pub struct StackRef {
    pub tid: u32,
    pub stack: u32,
    pub group: usize,
}

/// Totals of all faults so far.
pub struct Totals {
    page_bytes: u64,
    /// Page numbers of fresh memory that was read but not written yet.
    only_read: HashSet<u64>,
    pub groups: Vec<Group>,
    known: HashMap<(Area, Kind), usize>,
    pub records: Vec<FaultRecord>,
    pub stack_refs: Vec<StackRef>,
    pub faults: u64,
}

impl Totals {
    pub fn new() -> Totals {
        Totals {
            page_bytes: rustix::param::page_size() as u64,
            only_read: HashSet::new(),
            groups: Vec::new(),
            known: HashMap::new(),
            records: Vec::new(),
            stack_refs: Vec::new(),
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
            self.stack_refs.push(StackRef { tid: fault.tid, stack: fault.stack, group: at });
        }
        if self.records.len() < RECORDS_MAX {
            self.records.push(FaultRecord {
                address: fault.address,
                tid: fault.tid,
                is_write: fault.is_write,
                group: at,
            });
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

    /// Sorts the groups by descending faults. Merges a file's groups under its short name and its full path.
    pub fn finish(&mut self, places: &Places) {
        let mut sorted: Vec<Group> = Vec::new();
        let mut index_of = Vec::new();
        for mut group in std::mem::take(&mut self.groups) {
            group.area = places.resolve(group.area);
            let same = sorted.iter_mut().position(|other| (&other.area, other.kind) == (&group.area, group.kind));
            index_of.push(same.unwrap_or(sorted.len()));
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
        let of_records = self.records.iter_mut().map(|record| &mut record.group);
        let of_stacks = self.stack_refs.iter_mut().map(|stack| &mut stack.group);
        for group in of_records.chain(of_stacks) {
            *group = rank[index_of[*group]];
        }
        let mut by_rank: Vec<(usize, Group)> = sorted.into_iter().enumerate().map(|(i, g)| (rank[i], g)).collect();
        by_rank.sort_by_key(|(rank, _)| *rank);
        self.groups = by_rank.into_iter().map(|(_, group)| group).collect();
    }
}
