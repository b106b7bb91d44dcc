//! Mix of operations, with a random choice by weight.

use crate::call::operation::{OPERATIONS, Operation};

/// Operations with their weights: `getFileInfo=90,mkdirs=10`.
#[derive(Clone, Debug, PartialEq)]
pub struct Mix {
    /// Each with the sum of the weights up to its own.
    of: Vec<(Operation, f64)>,
}

impl Mix {
    /// Parses a mix; an operation without a weight has 1.
    pub fn parse(text: &str) -> std::result::Result<Mix, String> {
        let names = || OPERATIONS.map(|(_, name)| name).join(", ");
        let mut of: Vec<(Operation, f64)> = Vec::new();
        for part in text.split(',') {
            let (name, weight) = part.split_once('=').unwrap_or((part, "1"));
            let Some((operation, _)) = OPERATIONS.iter().find(|(_, known)| *known == name.trim()) else {
                return Err(format!("'{name}' is not an operation; give one of {}", names()));
            };
            let weight: f64 = weight.trim().parse().unwrap_or(f64::NAN);
            if !(weight > 0.0 && weight.is_finite()) {
                return Err(format!("'{part}' has no weight above 0; give one such as {name}=10"));
            }
            if of.iter().any(|(known, _)| known == operation) {
                return Err(format!("{name} is given twice"));
            }
            of.push((*operation, of.last().map_or(0.0, |(_, sum)| *sum) + weight));
        }
        Ok(Mix { of })
    }

    /// Chooses an operation.
    pub fn choose(&self, rng: &mut fastrand::Rng) -> Operation {
        let all = self.of.last().map_or(0.0, |(_, sum)| *sum);
        let at = rng.f64() * all;
        let chosen = self.of.iter().find(|(_, sum)| at < *sum).or(self.of.last());
        chosen.map_or(Operation::Null, |(operation, _)| *operation)
    }

    /// Returns the shares, which sum to 1, in the given order.
    pub fn shares(&self) -> Vec<(Operation, f64)> {
        let all = self.of.last().map_or(0.0, |(_, sum)| *sum);
        let mut before = 0.0;
        let share = |(operation, sum): &(Operation, f64)| {
            let share = (sum - before) / all;
            before = *sum;
            (*operation, share)
        };
        self.of.iter().map(share).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chooses_by_weight() {
        let mix = Mix::parse("getFileInfo=90,mkdirs=10").unwrap();
        assert_eq!(mix.shares(), [(Operation::GetFileInfo, 0.9), (Operation::Mkdirs, 0.1)]);
        let mut rng = fastrand::Rng::with_seed(7);
        let reads = (0..10_000).filter(|_| mix.choose(&mut rng) == Operation::GetFileInfo).count();
        assert!((8_800..9_200).contains(&reads), "{reads}");
        assert_eq!(Mix::parse("null").unwrap().shares(), [(Operation::Null, 1.0)]);
        for wrong in ["", "x", "null=0", "null=-1", "null=nan", "null=x", "null,null", "null,,"] {
            assert!(Mix::parse(wrong).is_err(), "{wrong}");
        }
    }
}
