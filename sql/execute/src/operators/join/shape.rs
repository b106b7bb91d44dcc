//! Rows that a join makes of both sides, apart from how it finds them.

use yunti_base::{Cancel, Result};
use yunti_engine::columns::kind::Kind;
use yunti_sql_plan::{Expression, Join, JoinKind, Operation};

use crate::store::kinds_of;

/// Rows of one side that a join gives by whether they have a match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    Matched,
    Unmatched,
    /// All, with a boolean that is true for a match.
    Mark,
}

/// A join as seen from its table: rows of the build side are in the table, rows of the probe side look into it.
pub struct Shape {
    /// True if the columns of the build side come first.
    pub build_first: bool,
    /// True if the join gives pairs.
    pub pairs: bool,
    /// Rows of a side that the join gives without a partner: of pairs the unmatched ones, with nulls.
    pub probe: Option<Choice>,
    pub build: Option<Choice>,
    /// Kept columns of the build side, by their numbers in its rows. Keys that are no columns follow them.
    pub kept: Vec<usize>,
    /// Shape of each column of the build side, and of the probe side.
    pub build_kinds: Vec<Kind>,
    pub probe_kinds: Vec<Kind>,
    /// Keys over the rows of each side.
    pub build_keys: Vec<Expression>,
    pub probe_keys: Vec<Expression>,
    /// Place of each key among the kept columns.
    pub key_places: Vec<usize>,
    /// Shape of each kept column, keys included.
    pub kept_kinds: Vec<Kind>,
    pub nulls_equal: bool,
    pub condition: Option<PairCondition>,
    /// Columns of each side that the join gives, in order.
    pub build_out: Vec<BuildColumn>,
    pub probe_out: Vec<usize>,
    /// Flag that ends the join: candidates that meet no condition pass on nothing.
    pub cancel: Cancel,
}

/// Condition on a pair, over the columns that it needs alone.
pub struct PairCondition {
    pub expression: Expression,
    /// Columns of the pair, in the order in which the expression numbers them: of the build side (by their place among
    /// the kept ones), or of the probe side.
    pub columns: Vec<PairColumn>,
}

#[derive(Clone, Copy, PartialEq)]
pub enum PairColumn {
    Build(usize),
    Probe(usize),
}

/// Column of the build side that a join gives.
pub struct BuildColumn {
    /// Place among the kept columns.
    pub place: usize,
    pub kind: Kind,
    /// Column of the probe side with the same values in each pair.
    pub same: Option<usize>,
}

impl Shape {
    /// `wanted`: columns that the join should give, by their numbers in its output, in ascending order; None for all.
    /// A mark is always given.
    pub fn of(join: &Join, wanted: Option<&[usize]>) -> Result<Shape> {
        let build_first = join.build_left;
        let (left, right) = (kinds_of(&join.left.types())?, kinds_of(&join.right.types())?);
        let left_columns = left.len();
        let (build_kinds, probe_kinds) = if build_first { (left, right) } else { (right, left) };
        // Choice of the left and of the right side.
        let (pairs, left, right) = match join.kind {
            JoinKind::Inner => (true, None, None),
            JoinKind::Left => (true, Some(Choice::Unmatched), None),
            JoinKind::Right => (true, None, Some(Choice::Unmatched)),
            JoinKind::Full => (true, Some(Choice::Unmatched), Some(Choice::Unmatched)),
            JoinKind::LeftSemi => (false, Some(Choice::Matched), None),
            JoinKind::LeftAnti => (false, Some(Choice::Unmatched), None),
            JoinKind::LeftMark => (false, Some(Choice::Mark), None),
            JoinKind::RightSemi => (false, None, Some(Choice::Matched)),
            JoinKind::RightAnti => (false, None, Some(Choice::Unmatched)),
        };
        let (build, probe) = if build_first { (left, right) } else { (right, left) };
        let keys = join.keys.iter().cloned();
        let (build_keys, probe_keys): (Vec<_>, Vec<_>) =
            keys.map(|(left, right)| if build_first { (left, right) } else { (right, left) }).unzip();

        // Without an output of the build side, its keys and what the condition needs are enough.
        // The columns of a side that the join gives: of a join of pairs, those of the left side come first.
        let outputs = |is_left: bool, columns: usize| -> Vec<usize> {
            let first = if pairs && !is_left { left_columns } else { 0 };
            let is_wanted = |own: &usize| wanted.is_none_or(|wanted| wanted.binary_search(&(first + own)).is_ok());
            (0..columns).filter(is_wanted).collect()
        };
        let has_build = pairs || build.is_some();
        let build_columns = if has_build { outputs(build_first, build_kinds.len()) } else { Vec::new() };
        let probe_out = outputs(!build_first, probe_kinds.len());
        let mut kept = build_columns.clone();
        let side_of = |column: usize| {
            let is_left = column < left_columns;
            let own = if is_left { column } else { column - left_columns };
            (is_left == build_first, own)
        };
        let mut keep = |column: usize| {
            kept.iter().position(|&of| of == column).unwrap_or_else(|| {
                kept.push(column);
                kept.len() - 1
            })
        };
        let mut columns: Vec<PairColumn> = Vec::new();
        if let Some(condition) = &join.condition {
            condition.visit_columns(&mut |column| {
                let (is_build, own) = side_of(column);
                let column = if is_build { PairColumn::Build(keep(own)) } else { PairColumn::Probe(own) };
                if !columns.contains(&column) {
                    columns.push(column);
                }
            });
        }
        let mut key_places: Vec<Option<usize>> = Vec::new();
        for key in &build_keys {
            key_places.push(match key.operation {
                Operation::Column(column) => Some(keep(column)),
                _ => None,
            });
        }
        let condition = join.condition.clone().map(|mut expression| {
            expression.renumber(&|column| {
                let (is_build, own) = side_of(column);
                let column = match is_build {
                    true => PairColumn::Build(kept.iter().position(|&of| of == own).unwrap_or(0)),
                    false => PairColumn::Probe(own),
                };
                columns.iter().position(|&of| of == column).unwrap_or(0)
            });
            PairCondition { expression, columns }
        });
        let mut kept_kinds: Vec<Kind> = kept.iter().map(|&n| build_kinds[n]).collect();
        let mut places = Vec::new();
        for (place, key) in key_places.into_iter().zip(&build_keys) {
            places.push(match place {
                Some(place) => place,
                None => {
                    kept_kinds.extend(kinds_of(std::slice::from_ref(&key.data_type))?);
                    kept_kinds.len() - 1
                }
            });
        }
        let mut same_columns = vec![None; build_kinds.len()];
        for (build, probe) in build_keys.iter().zip(&probe_keys) {
            if let (&Operation::Column(build), &Operation::Column(probe)) = (&build.operation, &probe.operation)
                // Floats that are equal can differ: -0.0 and 0.0.
                && !matches!(build_kinds[build], Kind::Float | Kind::Float32)
            {
                same_columns[build] = Some(probe);
            }
        }
        let of_build =
            |(place, own): (usize, usize)| BuildColumn { place, kind: build_kinds[own], same: same_columns[own] };
        let build_out = build_columns.into_iter().enumerate().map(of_build).collect();
        Ok(Shape {
            build_out,
            probe_out,
            build_first,
            pairs,
            probe,
            build,
            kept,
            build_kinds,
            probe_kinds,
            build_keys,
            probe_keys,
            key_places: places,
            kept_kinds,
            nulls_equal: join.nulls_equal,
            condition,
            cancel: Cancel::default(),
        })
    }

    /// Returns true if a build row that nothing matches makes a difference.
    pub fn marks_build(&self) -> bool {
        self.build.is_some()
    }

    /// Returns true if the look-up of a row may end with its first match.
    pub fn one_match_is_enough(&self) -> bool {
        !self.pairs && self.build.is_none()
    }

    /// Returns true if there are no rows without a row in the table.
    pub fn is_empty_without_build(&self) -> bool {
        match self.probe {
            None | Some(Choice::Matched) => true,
            Some(Choice::Unmatched | Choice::Mark) => false,
        }
    }
}
