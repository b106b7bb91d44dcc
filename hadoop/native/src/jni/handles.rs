//! What Java holds as numbers. A number names its object for as long as Java has not closed it; a call that is under way keeps the
//! object alive, so that closing it, in whatever order threads end, leaves nobody with memory that is gone.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};

use jni::sys::jlong;

use super::failure::{Failure, Result};

pub struct Handles<T>(Mutex<Table<T>>);

struct Table<T> {
    last: jlong,
    of_numbers: BTreeMap<jlong, Arc<T>>,
}

impl<T> Handles<T> {
    pub const fn new() -> Handles<T> {
        Handles(Mutex::new(Table { last: 0, of_numbers: BTreeMap::new() }))
    }

    fn table(&self) -> MutexGuard<'_, Table<T>> {
        self.0.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// Keeps an object; its number, which is never 0 and never used again.
    pub fn add(&self, value: T) -> jlong {
        let mut table = self.table();
        table.last += 1;
        let number = table.last;
        table.of_numbers.insert(number, Arc::new(value));
        number
    }

    pub fn get(&self, number: jlong) -> Result<Arc<T>> {
        self.table().of_numbers.get(&number).cloned().ok_or(Failure::NoHandle)
    }

    /// Forgets a number; a second time does nothing.
    pub fn close(&self, number: jlong) {
        let closed = self.table().of_numbers.remove(&number);
        // Outside of the lock: what it holds may take its time to go.
        drop(closed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_ends_with_its_close_and_an_object_with_its_last_use() {
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
