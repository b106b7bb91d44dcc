//! Columns that a job wants: all of them, or some members of structs.

use yunti_api::Result;

use super::failure::unsupported;
use super::schema::Type;
use super::tail::Tail;

/// Wanted part of a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Want {
    All,
    /// Some members of a struct, by their number.
    Members(Vec<(usize, Want)>),
}

impl Want {
    /// Returns what paths of names lead to. Each path is one that the schema of the file has.
    pub fn of(of: &Type, paths: &[&[String]]) -> Want {
        if paths.iter().any(|path| path.is_empty()) {
            return Want::All;
        }
        let mut members = Vec::new();
        for (number, name) in of.names.iter().enumerate() {
            let is_first = of.names.iter().position(|other| other == name) == Some(number);
            let below = paths.iter().filter(|path| path.first() == Some(name));
            let below: Vec<&[String]> = below.map(|path| &path[1..]).collect();
            if is_first && !below.is_empty() {
                members.push((number, Want::of(&of.below[number], &below)));
            }
        }
        Want::Members(members)
    }

    /// Returns what is wanted of a member of a struct; None: nothing.
    pub fn member(&self, number: usize) -> Option<&Want> {
        match self {
            Want::All => Some(self),
            Want::Members(members) => members.iter().find(|(n, _)| *n == number).map(|(_, want)| want),
        }
    }

    /// Returns the numbers of all columns that are read. Errors: `Input` for a column that is encrypted.
    pub fn numbers(&self, tail: &Tail) -> Result<Vec<u32>> {
        let mut numbers = Vec::new();
        self.put_numbers(&tail.top, &mut numbers);
        let mut trees = Vec::new();
        put_trees(&tail.top, &tail.encrypted, &mut trees);
        if numbers.iter().any(|number| trees.iter().any(|tree| tree.contains(number))) {
            return Err(unsupported("a column is encrypted: name other columns, or decrypt it first"));
        }
        numbers.sort_unstable();
        Ok(numbers)
    }

    fn put_numbers(&self, of: &Type, to: &mut Vec<u32>) {
        to.push(of.number);
        for (number, below) in of.below.iter().enumerate() {
            if let Some(want) = self.member(number) {
                want.put_numbers(below, to);
            }
        }
    }
}

fn put_trees(of: &Type, roots: &[u32], to: &mut Vec<std::ops::RangeInclusive<u32>>) {
    if roots.contains(&of.number) {
        to.push(of.number..=of.last());
    }
    of.below.iter().for_each(|below| put_trees(below, roots, to));
}
