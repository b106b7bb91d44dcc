//! Handles: numbers through which Java holds native objects. A number is valid until Java closes it. A call in progress
//! keeps the object alive, so closing it is safe in any order of threads.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};

use jni::sys::jlong;

use super::failure::{Failure, Result};

/// Objects by number.
pub struct Handles<T>(Mutex<Table<T>>);

struct Table<T> {
    last: jlong,
    of_numbers: BTreeMap<jlong, Arc<T>>,
}

impl<T> Handles<T> {
    /// Returns an empty table.
    pub const fn new() -> Handles<T> {
        Handles(Mutex::new(Table { last: 0, of_numbers: BTreeMap::new() }))
    }

    fn table(&self) -> MutexGuard<'_, Table<T>> {
        self.0.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// Adds an object and returns its number, which is never 0 and never reused.
    pub fn add(&self, value: T) -> jlong {
        let mut table = self.table();
        table.last += 1;
        let number = table.last;
        table.of_numbers.insert(number, Arc::new(value));
        number
    }

    /// Returns the object of a number. Fails with `Failure::NoHandle` after `close`.
    pub fn get(&self, number: jlong) -> Result<Arc<T>> {
        self.table().of_numbers.get(&number).cloned().ok_or(Failure::NoHandle)
    }

    /// Removes a number; a second call does nothing.
    pub fn close(&self, number: jlong) {
        let closed = self.table().of_numbers.remove(&number);
        // Dropped outside of the lock, because this may take time.
        drop(closed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closing_ends_a_number_and_the_last_use_ends_the_object() {
        static HANDLES: Handles<&str> = Handles::new();
        let (a, b) = (HANDLES.add("a"), HANDLES.add("b"));
        let held = HANDLES.get(a).unwrap();
        HANDLES.close(a);
        HANDLES.close(a);
        assert!(HANDLES.get(a).is_err() && HANDLES.get(0).is_err());
        assert_eq!((*held, *HANDLES.get(b).unwrap()), ("a", "b"));
        assert!(![a, b].contains(&HANDLES.add("c")));
    }
}
