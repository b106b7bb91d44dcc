//! Map from a block to its use and its owner.

use crate::run::Run;

/// Used blocks of a file system at one moment.
#[derive(Clone, Debug, Default)]
pub struct BlockMap {
    /// Runs in order of blocks.
    runs: Vec<Run>,
}

impl BlockMap {
    /// Returns a map of `runs`, which are in order of blocks, as [`crate::WalkResult::runs`] returns them.
    pub fn new(runs: Vec<Run>) -> BlockMap {
        BlockMap { runs }
    }

    /// Returns the runs, in order of blocks.
    pub fn runs(&self) -> &[Run] {
        &self.runs
    }

    /// Splits blocks into pieces of one run each: first block, number of blocks, and the run; `None` for free blocks.
    pub fn pieces(&self, start: u64, blocks: u64) -> Vec<(u64, u64, Option<Run>)> {
        let (end, mut at, mut pieces) = (start.saturating_add(blocks), start, Vec::new());
        let mut next = self.runs.partition_point(|run| run.end() <= start);
        while at < end {
            // If two runs share a block, the first one is returned.
            while self.runs.get(next).is_some_and(|run| run.end() <= at) {
                next += 1;
            }
            let run = self.runs.get(next);
            let (until, found) = match run {
                Some(run) if run.start <= at => (run.end(), Some(*run)),
                Some(run) => (run.start, None),
                None => (end, None),
            };
            let until = until.min(end);
            pieces.push((at, until - at, found));
            at = until;
        }
        pieces
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kind::Kind;

    #[test]
    fn splits_blocks_at_runs_and_gaps() {
        let run = |start, blocks, kind| Run { start, blocks, kind, inode: 0 };
        let map =
            BlockMap::new(vec![run(2, 2, Kind::SuperBlock), run(4, 1, Kind::BlockBitmap), run(8, 10, Kind::Data)]);
        let pieces = |start, blocks| {
            map.pieces(start, blocks)
                .into_iter()
                .map(|(at, blocks, run)| (at, blocks, run.map(|r| r.kind)))
                .collect::<Vec<_>>()
        };
        assert_eq!(
            pieces(0, 10),
            [
                (0, 2, None),
                (2, 2, Some(Kind::SuperBlock)),
                (4, 1, Some(Kind::BlockBitmap)),
                (5, 3, None),
                (8, 2, Some(Kind::Data))
            ]
        );
        assert_eq!(pieces(17, 3), [(17, 1, Some(Kind::Data)), (18, 2, None)]);
        assert_eq!(pieces(30, 0), []);
    }
}
