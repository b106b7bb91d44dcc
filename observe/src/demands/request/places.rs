//! Places and objects of events, by their numbers.

use std::collections::HashMap;

use crate::jvm::PlaceEvent;

/// Role of a place: `PlaceRewriter.java`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A thread wants the object.
    Want,
    /// It does not get it.
    Failed,
    /// It has it.
    Acquired,
    /// It has it as one of many that share it.
    Shared,
    /// It has it again, after it gave it back to be woken.
    Regained,
    /// It has a monitor that nothing announced.
    Entered,
    Released,
    /// The next one that it has are this many units: the object is their number.
    Weight,
    /// A task is handed over.
    Submitted,
    /// The next task runs on this pool.
    Pool,
    TaskBegins,
    TaskEnds,
    /// A task is handed over that runs after a delay.
    Scheduled,
    RequestBegins,
    /// A request begins, or goes on if one of its object has begun.
    RequestGoesOn,
    RequestEnds,
    PartBegins,
    PartEnds,
    /// A request of the part's object begins here.
    RequestBeginsInPart,
    RequestDone,
    /// The kind of the request is known. The event's object is its number.
    Named,
}

impl Role {
    fn of(letter: &str) -> Option<Role> {
        Some(match letter {
            "w" | "m" => Role::Want,
            "f" => Role::Failed,
            "a" | "n" => Role::Acquired,
            "A" => Role::Shared,
            "c" => Role::Regained,
            "y" => Role::Entered,
            "r" | "o" => Role::Released,
            "u" => Role::Weight,
            "s" => Role::Submitted,
            "x" => Role::Pool,
            "b" => Role::TaskBegins,
            "e" => Role::TaskEnds,
            "q" => Role::RequestBegins,
            "l" => Role::Scheduled,
            "p" => Role::RequestGoesOn,
            "Q" => Role::RequestEnds,
            "g" => Role::PartBegins,
            "G" => Role::PartEnds,
            "i" => Role::RequestBeginsInPart,
            "d" => Role::RequestDone,
            "k" => Role::Named,
            _ => return None,
        })
    }
}

/// Object of events, as it was at its first event.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Object {
    pub class: String,
    /// How many could take it then, as far as it says so.
    pub size: Option<u32>,
    /// Methods on the stack of its first event, the innermost first.
    pub callers: Vec<String>,
}

/// All places and objects of a measurement.
#[derive(Default)]
pub struct Places {
    /// Roles of places by number.
    roles: HashMap<u32, Role>,
    /// Methods of places at which requests begin.
    request_methods: HashMap<u32, String>,
    /// Numbers of names of the requests that begin at places.
    names: HashMap<u32, u32>,
    /// Number of the first place of the same method.
    methods: HashMap<u32, u32>,
    numbers: HashMap<String, u32>,
    objects: HashMap<u32, Object>,
    /// Free units of pools at times of CLOCK_MONOTONIC.
    free: HashMap<u32, Vec<(u64, u32)>>,
}

impl Places {
    /// Adds a place by its letter and method: `w java.util.concurrent.Semaphore.acquire`.
    pub fn add(&mut self, number: u32, text: &str) {
        let (letter, method) = text.split_once(' ').unwrap_or((text, ""));
        if let Some(role) = Role::of(letter) {
            self.roles.insert(number, role);
            if role == Role::RequestBegins {
                self.request_methods.insert(number, method.to_owned());
            }
            let first = *self.numbers.entry(method.to_owned()).or_insert(number);
            self.methods.insert(number, first);
        }
    }

    /// Names requests after the methods at which they begin.
    pub fn name_requests(&mut self, mut number: impl FnMut(&str) -> Option<u32>) {
        let named = self.request_methods.iter().filter_map(|(place, method)| Some((*place, number(method)?)));
        self.names = named.collect();
    }

    /// Returns the number of the name of the requests that begin at a place.
    pub fn name(&self, place: u32) -> Option<u32> {
        self.names.get(&place).copied()
    }

    /// Adds an object by its description: `Objects.java`.
    pub fn add_object(&mut self, text: &str) {
        let mut parts = text.split('|');
        let Some(identity) = parts.next().and_then(|number| number.parse().ok()) else { return };
        let _place = parts.next();
        let class = parts.next().unwrap_or_default().to_owned();
        let size = parts.next().and_then(|size| size.parse().ok());
        let callers = parts.map(str::to_owned).collect();
        self.objects.entry(identity).or_insert(Object { class, size, callers });
    }

    /// Adds the free units of a pool: identity, time, units.
    pub fn add_free(&mut self, text: &str) {
        let mut parts = text.split('|').map(str::parse::<u64>);
        if let (Some(Ok(identity)), Some(Ok(at)), Some(Ok(units))) = (parts.next(), parts.next(), parts.next()) {
            let small = |number: u64| u32::try_from(number).unwrap_or(u32::MAX);
            self.free.entry(small(identity)).or_default().push((at, small(units)));
        }
    }

    /// Returns the free units of a pool at several times.
    pub fn free(&self, identity: u32) -> &[(u64, u32)] {
        self.free.get(&identity).map_or(&[], Vec::as_slice)
    }

    /// Returns the role of an event's place.
    pub fn role(&self, event: &PlaceEvent) -> Option<Role> {
        self.roles.get(&event.place).copied()
    }

    /// Returns true if two events come from one method.
    pub fn is_same_method(&self, one: &PlaceEvent, other: &PlaceEvent) -> bool {
        self.methods.get(&one.place) == self.methods.get(&other.place)
    }

    pub fn object(&self, identity: u32) -> Option<&Object> {
        self.objects.get(&identity)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_places_and_objects() {
        let mut places = Places::default();
        places.add(3, "n com.shop.Stock.take");
        places.add(4, "? x");
        places.add_object("77|3|com.shop.Stock|-1|com.shop.Stock.take|com.shop.Shop.buy");
        let event = |place| PlaceEvent { at_ns: 1, place, object: 77 };
        assert_eq!((places.role(&event(3)), places.role(&event(4))), (Some(Role::Acquired), None));
        places.add_free("77|5|3");
        places.add_free("77|x");
        assert_eq!(places.free(77), [(5, 3)]);
        let object = places.object(77).unwrap();
        assert_eq!((&*object.class, object.size, object.callers.len()), ("com.shop.Stock", None, 2));
    }
}
