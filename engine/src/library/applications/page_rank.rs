//! One step of PageRank (Page, Brin, Motwani, Winograd: The PageRank Citation Ranking, 1999) over lines `node TAB rank
//! TAB link TAB link ..`. The output has the same form: it is the input of the next step.
//!
//! ```text
//!   map     a TAB 1 TAB b TAB c   ->   (b, rank 0.5) (c, rank 0.5) (a, links b TAB c)
//!   reduce  (a, ranks.., links)   ->   a TAB 0.15 + 0.85 * sum of ranks TAB b TAB c
//! ```
//!
//! The rank of a node without links is dropped.

use std::sync::Arc;

use super::columns::{self, ShortLines};
use crate::library::settings;
use crate::operator::{Batch, Groups, Mapper, Out, Reducer, TaskContext};
use yunti_base::{Code, Error, Result};

/// First byte of a value with a rank, 8 bytes little-endian.
const RANK: u8 = b'R';
/// First byte of a value with links.
const LINKS: u8 = b'L';

/// Mapper that divides a node's rank among its links.
pub struct PageRank {
    value: Vec<u8>,
    short: ShortLines,
}

impl PageRank {
    /// Makes the mapper of one task.
    pub fn new(context: &Arc<TaskContext>) -> Self {
        PageRank { value: Vec::new(), short: ShortLines::new(context) }
    }
}

impl Mapper for PageRank {
    fn map(&mut self, batch: &Batch<'_>, out: &mut Out) -> Result<()> {
        for i in 0..batch.len() {
            let line = batch.record(i).1;
            let mut columns = line.splitn(3, |&byte| byte == b'\t');
            let (node, rank) = (columns.next().unwrap_or_default(), columns.next());
            let Some(rank) = rank.and_then(columns::number).filter(|rank| rank.is_finite()) else {
                self.short.add();
                continue;
            };
            let links = columns.next().unwrap_or_default();
            if !links.is_empty() {
                let each = links.split(|&byte| byte == b'\t');
                self.value.clear();
                self.value.push(RANK);
                self.value.extend_from_slice(&(rank / each.clone().count() as f64).to_le_bytes());
                for link in each {
                    out.emit(link, &self.value)?;
                }
            }
            self.value.clear();
            self.value.push(LINKS);
            self.value.extend_from_slice(links);
            out.emit(node, &self.value)?;
        }
        Ok(())
    }
}

/// Returns the rank in a value, or `Err` with its links. Errors: `UserCode` for another value.
fn read(value: &[u8]) -> Result<std::result::Result<f64, &[u8]>> {
    match value {
        [RANK, rank @ ..] if rank.len() == 8 => Ok(Ok(f64::from_le_bytes(rank.try_into().expect("8 bytes")))),
        [LINKS, links @ ..] => Ok(Err(links)),
        _ => Err(Error::new(Code::UserCode, "a value is neither a rank nor links")
            .hint("name Yunti.PageRankMapper as the mapper")),
    }
}

/// Combiner that sums the ranks of a node.
#[derive(Default)]
pub struct PageRankCombiner {
    sum: f64,
    any: bool,
}

impl Reducer for PageRankCombiner {
    fn reduce(&mut self, groups: &Groups<'_>, out: &mut Out) -> Result<()> {
        for i in 0..groups.len() {
            let key = groups.key(i);
            for v in groups.range(i) {
                match read(groups.value(v))? {
                    Ok(rank) => (self.sum, self.any) = (self.sum + rank, true),
                    Err(_) => out.emit(key, groups.value(v))?,
                }
            }
            if groups.completes(i) && std::mem::take(&mut self.any) {
                let sum = std::mem::take(&mut self.sum).to_le_bytes();
                out.emit(key, &[&[RANK][..], &sum].concat())?;
            }
        }
        Ok(())
    }
}

/// Reducer that computes the new rank of each node.
pub struct PageRankReducer {
    damping: f64,
    /// Rank that every node gets.
    base: f64,
    sum: f64,
    links: Vec<u8>,
}

impl PageRankReducer {
    /// Reads the settings `pagerank.damping` and `pagerank.nodes`. Errors: `Usage`.
    pub fn new(context: &TaskContext) -> Result<Self> {
        let damping: f64 = settings::value(context, "pagerank.damping", 0.85)?;
        if !(0.0..=1.0).contains(&damping) {
            return Err(Error::new(Code::Usage, format!("the setting pagerank.damping is {damping}"))
                .hint("use a number from 0 to 1"));
        }
        // The ranks add up to 1 with the number of nodes, and to that number without it.
        let nodes = settings::ordinal(context, "pagerank.nodes", 1)?;
        Ok(PageRankReducer { damping, base: (1.0 - damping) / nodes as f64, sum: 0.0, links: Vec::new() })
    }
}

impl Reducer for PageRankReducer {
    fn reduce(&mut self, groups: &Groups<'_>, out: &mut Out) -> Result<()> {
        for i in 0..groups.len() {
            for v in groups.range(i) {
                match read(groups.value(v))? {
                    Ok(rank) => self.sum += rank,
                    Err(links) => self.links.extend_from_slice(links),
                }
            }
            if groups.completes(i) {
                let mut value = (self.base + self.damping * std::mem::take(&mut self.sum)).to_string().into_bytes();
                if !self.links.is_empty() {
                    value.push(b'\t');
                    value.append(&mut self.links);
                }
                out.emit(groups.key(i), &value)?;
            }
        }
        Ok(())
    }
}
