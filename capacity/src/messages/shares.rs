//! Shares of a profile that turn objects into bytes and back: by library, direction, call site and message type.
//!
//! ```text
//!   Thread.run .. Tomcat .. shop.Orders.list  ObjectMapper.writeValue .. BeanSerializer ..  shop.Order.getId
//!                           call site         outermost frame: library, direction           type
//! ```
//!
//! The outermost frame of the table decides, so that charset conversion inside JSON counts as JSON.

use std::collections::BTreeMap;

use serde::Serialize;

use super::flame::Profile;
use super::kinds::{self, Direction, Serialiser};

/// Place of work on messages.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Place {
    #[serde(flatten)]
    pub serialiser: Serialiser,
    pub direction: Direction,
    /// Innermost method of the application above the library; of a framework if there is none; else empty.
    pub call_site: String,
}

/// Share of a profile, with its error.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Share {
    /// From 0 to 1.
    pub share: f64,
    /// Half the width of the interval that holds the true share in 95 of 100 cases.
    pub error: f64,
}

impl Share {
    /// Returns the share of `value` in `total`, as `samples` estimate it.
    pub fn of(value: u64, total: u64, samples: u64) -> Share {
        if total == 0 || samples == 0 {
            return Share::default();
        }
        let (p, n) = (value as f64 / total as f64, samples as f64);
        // Agresti and Coull: two successes and two failures more keep the error of 0 and of 1 above 0.
        let centre = (p * n + 2.0) / (n + 4.0);
        Share { share: p, error: 2.0 * (centre * (1.0 - centre) / (n + 4.0)).sqrt() }
    }
}

/// Values of a profile by place and type.
#[derive(Debug, Default)]
pub struct Shares {
    by_place: BTreeMap<Place, BTreeMap<String, u64>>,
    total: u64,
    samples: u64,
    /// Value of the JVM's compiler threads.
    compiling: u64,
}

impl Shares {
    /// Attributes the paths of a profile.
    pub fn of(profile: &Profile) -> Shares {
        let facts: Vec<FrameFacts> = profile.names.iter().map(|name| FrameFacts::of(name)).collect();
        let mut shares = Shares { total: profile.total, samples: profile.samples, ..Shares::default() };
        for (value, path) in &profile.paths {
            if path.iter().any(|at| profile.names[*at].starts_with("CompileBroker::")) {
                shares.compiling += value;
            }
            if let Some((place, of_type)) = attribute(path, &profile.names, &facts) {
                *shares.by_place.entry(place).or_default().entry(of_type).or_default() += value;
            }
        }
        shares
    }

    /// Returns the share of all places that `is_wanted` accepts.
    pub fn share(&self, is_wanted: impl Fn(&Place) -> bool) -> Share {
        let value =
            self.by_place.iter().filter(|(place, _)| is_wanted(place)).flat_map(|(_, types)| types.values()).sum();
        Share::of(value, self.total, self.samples)
    }

    /// Returns the share of the JVM's compiler threads.
    pub fn compiling(&self) -> Share {
        Share::of(self.compiling, self.total, self.samples)
    }

    /// Returns the places.
    pub fn places(&self) -> impl Iterator<Item = &Place> {
        self.by_place.keys()
    }

    /// Returns the types of a place by their value, largest first. Paths that show no type are left out.
    pub fn types(&self, place: &Place) -> Vec<&str> {
        let mut types: Vec<(&str, u64)> = self.by_place.get(place).map_or_else(Vec::new, |types| {
            types.iter().filter(|(name, _)| !name.is_empty()).map(|(name, value)| (&**name, *value)).collect()
        });
        types.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
        types.into_iter().map(|(name, _)| name).collect()
    }
}

/// Facts of a frame's name, found once a name.
struct FrameFacts {
    serialiser: Option<Serialiser>,
    is_loader: bool,
    is_application: bool,
    is_java: bool,
}

impl FrameFacts {
    fn of(name: &str) -> FrameFacts {
        FrameFacts {
            serialiser: kinds::serialiser(name),
            is_loader: kinds::is_loader(name),
            is_application: kinds::is_application(name),
            is_java: kinds::is_java(name),
        }
    }
}

/// Frames below the outermost one that may name the direction.
const DIRECTION_DEPTH: usize = 6;

fn attribute(path: &[usize], names: &[String], facts: &[FrameFacts]) -> Option<(Place, String)> {
    let outermost = path.iter().position(|at| facts[*at].serialiser.is_some())?;
    let serialiser = facts[path[outermost]].serialiser?;
    let (above, inside) = path.split_at(outermost);
    if above.iter().any(|at| facts[*at].is_loader) {
        return None;
    }
    let direction = inside
        .iter()
        .take(DIRECTION_DEPTH)
        .filter(|at| facts[**at].serialiser == Some(serialiser))
        .map(|at| kinds::direction(&names[*at]))
        .find(|direction| *direction != Direction::Unknown)
        .unwrap_or(Direction::Unknown);
    let nearest = |is_wanted: fn(&FrameFacts) -> bool| above.iter().rev().find(|at| is_wanted(&facts[**at]));
    let call_site = nearest(|frame| frame.is_application).or_else(|| nearest(|frame| frame.is_java));
    let call_site = call_site.map_or_else(String::new, |at| plain(&names[*at]));
    let of_type = inside.iter().find(|at| facts[**at].is_application).map_or("", |at| class(&names[*at]));
    Some((Place { serialiser, direction, call_site }, of_type.to_owned()))
}

/// Returns a method's name without the number of a lambda's class: `shop.Orders$$Lambda.get`.
fn plain(name: &str) -> String {
    match (name.split_once("$$Lambda"), name.rsplit_once('.')) {
        (Some((class, _)), Some((_, method))) => format!("{class}$$Lambda.{method}"),
        _ => name.to_owned(),
    }
}

/// Returns the class of a method, without what a library has generated beside it.
fn class(method: &str) -> &str {
    let class = method.rsplit_once('.').map_or(method, |(class, _)| class);
    ["$$Lambda", "$Access4Jackson", "$Creator4Jackson", "$Jackson"]
        .iter()
        .fold(class, |class, mark| class.split(mark).next().unwrap_or(class))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::messages::kinds::Kind;

    fn shares(stacks: &[(u64, &str)]) -> Shares {
        let mut profile = Profile { names: Vec::new(), paths: Vec::new(), total: 0, samples: 0, seconds: 1.0 };
        for (value, stack) in stacks {
            let mut path = Vec::new();
            for name in stack.split(' ') {
                let known = profile.names.iter().position(|n| n == name);
                path.push(known.unwrap_or(profile.names.len()));
                if known.is_none() {
                    profile.names.push(name.to_owned());
                }
            }
            profile.paths.push((*value, path));
            profile.total += value;
            profile.samples += value;
        }
        Shares::of(&profile)
    }

    const JACKSON: &str = "com.fasterxml.jackson.databind.ObjectMapper";

    #[test]
    fn attributes_to_the_outermost_frame() {
        let write = format!("java.lang.Thread.run shop.Orders.list org.springframework.X.go {JACKSON}.writeValue");
        let shares = shares(&[
            (30, &format!("{write} java.io.ObjectOutputStream.writeObject shop.Order.getId")),
            (10, &format!("{write} sun.nio.cs.UTF_8.encode shop.Line.getCount")),
            (5, "java.lang.Thread.run shop.Orders$$Lambda$7.0x000071.get java.io.ObjectInputStream.readObject"),
            (4, "java.lang.ClassLoader.loadClass java.util.zip.Inflater.inflate"),
            (1, "CompileBroker::compiler_thread_loop C2Compiler::compile_method"),
            (50, "java.lang.Thread.run shop.Orders.list"),
        ]);
        let places: Vec<&Place> = shares.places().collect();
        assert_eq!(places.len(), 2);
        let json = places.iter().find(|place| place.serialiser.kind == Kind::Json).unwrap();
        assert_eq!((json.direction, &*json.call_site), (Direction::Write, "shop.Orders.list"));
        assert_eq!(shares.types(json), ["shop.Order", "shop.Line"]);
        assert_eq!(shares.share(|place| place == *json).share, 0.4);
        let java = places.iter().find(|place| place.serialiser.library == "java").unwrap();
        assert_eq!((java.direction, &*java.call_site), (Direction::Read, "shop.Orders$$Lambda.get"));
        assert_eq!(shares.compiling().share, 0.01);
    }

    #[test]
    fn errors_shrink_with_the_samples() {
        let of = |value, samples| Share::of(value, 100, samples).error;
        assert!((of(50, 100) - 0.098).abs() < 0.001);
        assert!(of(50, 10_000) < 0.0101);
        assert!(of(0, 100) > 0.02, "no sample of 100 does not mean none at all");
        assert_eq!(Share::of(0, 0, 0), Share::default());
    }
}
