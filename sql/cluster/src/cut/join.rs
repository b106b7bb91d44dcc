//! Joins: a small side goes to every task, and a table that is looked up is there already; else both sides go to the
//! tasks of their keys.

use yunti_base::Result;
use yunti_sql_plan::{Expression, Join, JoinKind, Node, lookup};

use super::Cutter;
use super::rows::{Reduced, Rows, Spread};

/// Returns true if each task may have the whole right side: no row of it stands in the result by itself.
fn right_may_be_everywhere(kind: JoinKind) -> bool {
    matches!(kind, JoinKind::Inner | JoinKind::Left | JoinKind::LeftSemi | JoinKind::LeftAnti | JoinKind::LeftMark)
}

fn left_may_be_everywhere(kind: JoinKind) -> bool {
    matches!(kind, JoinKind::Inner | JoinKind::Right | JoinKind::RightSemi | JoinKind::RightAnti)
}

impl Cutter<'_> {
    /// Returns the rows of a join.
    pub fn join(&mut self, join: &Join) -> Result<Rows> {
        // Each task looks up keys in the node's copy of a shared table, however large it is.
        let looked_up = lookup::of(join).map(|of| of.is_left);
        let mut side = |node: &Node, is_left| match looked_up == Some(is_left) {
            true => Ok(Rows::Everywhere(node.clone())),
            false => self.rows(node),
        };
        let (left, right) = (side(&join.left, true)?, side(&join.right, false)?);
        let of = |left, right, build_left| Node::Join(Join { left, right, build_left, ..join.clone() });
        let width = join.left.types().len();
        let (keeps_left, keeps_right) = (keeps_left(join.kind), keeps_right(join.kind));
        let left_place = |column| keeps_left.then_some(column);
        let right_place = |column| keeps_right.then_some(if keeps_left { column + width } else { column });
        match (left, right) {
            (Rows::Everywhere(left), Rows::Everywhere(right)) => {
                Ok(Rows::Everywhere(of(Box::new(left), Box::new(right), join.build_left)))
            }
            (left, Rows::Everywhere(right)) if right_may_be_everywhere(join.kind) => {
                Ok(left.map(|left| of(left, Box::new(right.clone()), false), &left_place))
            }
            (Rows::Everywhere(left), right) if left_may_be_everywhere(join.kind) => {
                Ok(right.map(|right| of(Box::new(left.clone()), right, true), &right_place))
            }
            (left, right) => {
                let (left_keys, right_keys): (Vec<_>, Vec<_>) = join.keys.iter().cloned().unzip();
                let left = self.side(left, &left_keys)?;
                let mut right = self.side(right, &right_keys)?;
                right.shift(left.sends.len() as u32);
                let (own, other) = (left.spread.clone(), right.spread.clone().moved(&right_place));
                let spread = match join.kind {
                    JoinKind::Inner => own.and(other),
                    // Rows without a match are in the task of their own keys.
                    JoinKind::Right | JoinKind::RightSemi | JoinKind::RightAnti => other,
                    JoinKind::Full => own.moved(&|_| None),
                    _ => own,
                };
                let plan = of(Box::new(left.plan), Box::new(right.plan), join.build_left);
                let sends = left.sends.into_iter().chain(right.sends).collect();
                Ok(Rows::Reduced(Reduced { plan, sends, spread }))
            }
        }
    }

    /// Returns a side of a join with the rows of each key in the task of its hash.
    fn side(&mut self, rows: Rows, keys: &[Expression]) -> Result<Reduced> {
        let is_one = keys.is_empty() || self.reduces == 1;
        match rows {
            // A small side is made in the one task that has the other.
            Rows::Everywhere(plan) if is_one => Ok(Reduced { plan, sends: Vec::new(), spread: Spread::One }),
            // Both sides must be divided alike: by the same keys in the same order.
            Rows::Reduced(reduced) if is_one && reduced.spread == Spread::One => Ok(reduced),
            Rows::Reduced(reduced) if !is_one && reduced.spread.is_by(keys) => Ok(reduced),
            rows => {
                let parts = self.split(rows)?;
                self.gather(parts, keys.to_vec())
            }
        }
    }
}

fn keeps_left(kind: JoinKind) -> bool {
    !matches!(kind, JoinKind::RightSemi | JoinKind::RightAnti)
}

fn keeps_right(kind: JoinKind) -> bool {
    !matches!(kind, JoinKind::LeftSemi | JoinKind::LeftAnti | JoinKind::LeftMark)
}
