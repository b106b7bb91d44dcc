//! Page-cache counts of files and processes, in pages: misses are counted, touches are estimated from samples.

use std::collections::HashMap;
use std::hash::Hash;
use std::ops::AddAssign;

use yunti_probe::kernel::system::{Misses, Touches, User};

/// Page-cache counters of one owner: a user of a file, a file, a device, a process, or the whole machine.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Row {
    /// Misses, all counted.
    pub missed: Misses,
    /// Pages read and found in the cache, estimated.
    pub read_hit: f64,
    /// Pages touched through mappings and found in the cache, estimated.
    pub mapped_hit: f64,
    /// Pages written and found in the cache, estimated.
    pub written_hit: f64,
}

impl Row {
    /// Pages read, hits and misses.
    pub fn read(&self) -> f64 {
        self.read_hit + self.missed.read as f64
    }

    /// Pages touched through mappings, hits and misses.
    pub fn mapped(&self) -> f64 {
        self.mapped_hit + self.missed.mapped as f64
    }

    /// Pages written, hits and misses.
    pub fn written(&self) -> f64 {
        self.written_hit + self.missed.written as f64
    }

    /// Pages read, mapped and written.
    pub fn touched(&self) -> f64 {
        self.read() + self.mapped() + self.written()
    }

    /// Sort key of rows: pages touched, read ahead and dropped.
    pub fn weight(&self) -> f64 {
        self.touched() + self.missed.read_ahead as f64 + self.missed.dropped as f64
    }
}

impl AddAssign for Row {
    fn add_assign(&mut self, more: Row) {
        self.missed += more.missed;
        self.read_hit += more.read_hit;
        self.mapped_hit += more.mapped_hit;
        self.written_hit += more.written_hit;
    }
}

#[derive(Debug, Default)]
struct Counts {
    missed: Misses,
    read: f64,
    mapped: f64,
    written: f64,
}

/// Weight. A stratum with less was sampled completely, except for the moment of taking its counts.
const ALL: f64 = 1.1;

/// Counts by user of a file.
#[derive(Debug, Default)]
pub struct Account {
    of_users: HashMap<User, Counts>,
}

impl Account {
    /// Adds misses of a user.
    pub fn miss(&mut self, user: User, misses: Misses) {
        self.of_users.entry(user).or_default().missed += misses;
    }

    /// Adds touches from a sample. `weight`: pages that one sampled page stands for.
    pub fn touch(&mut self, user: User, touches: Touches, weight: f64) {
        let counts = self.of_users.entry(user).or_default();
        // A page may be brought in before its request is sampled, or after; the difference is right in the sum.
        let hits = |touched: u64, missed: u64, held_up: f64| {
            // In a complete sample, counts need no correction.
            let held_up = if weight > ALL { held_up } else { 0.0 };
            (touched as f64 - missed as f64 + held_up) * weight
        };
        counts.read += hits(touches.read, touches.read_missed, touches.read_held_up);
        counts.mapped += hits(touches.mapped, touches.mapped_missed, touches.mapped_held_up);
        counts.written += hits(touches.written, touches.written_missed, touches.written_held_up);
    }

    /// Adds `pages` read to a user's touches.
    pub fn touch_read(&mut self, user: User, pages: u64, weight: f64) {
        self.of_users.entry(user).or_default().read += pages as f64 * weight;
    }

    /// Returns sums of the counts by `key`, largest first; users with key `None` are left out.
    pub fn by<K: Eq + Hash + Clone>(&self, key: impl Fn(&User) -> Option<K>) -> Vec<(K, Row)> {
        let mut sums: HashMap<K, Counts> = HashMap::new();
        for (user, counts) in &self.of_users {
            let Some(key) = key(user) else { continue };
            let sum = sums.entry(key).or_default();
            sum.missed += counts.missed;
            sum.read += counts.read;
            sum.mapped += counts.mapped;
            sum.written += counts.written;
        }
        let mut rows: Vec<(K, Row)> = sums.into_iter().map(|(key, counts)| (key, counts.row())).collect();
        rows.sort_by(|(_, a), (_, b)| b.weight().total_cmp(&a.weight()));
        rows
    }
}

impl Counts {
    fn row(&self) -> Row {
        Row {
            missed: self.missed,
            read_hit: self.read.max(0.0),
            mapped_hit: self.mapped.max(0.0),
            written_hit: self.written.max(0.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use yunti_probe::kernel::system::FileId;

    #[test]
    fn hits_are_touches_without_misses() {
        let mut account = Account::default();
        let file = FileId { device: 1, inode: 7 };
        let (a, b) = (User { file, pid: 1 }, User { file, pid: 2 });
        account.miss(a, Misses { read: 4, read_ahead: 9, ..Misses::default() });
        account.touch(a, Touches { read: 10, read_missed: 1, ..Touches::default() }, 10.0);
        account.touch(b, Touches { written: 3, written_missed: 5, ..Touches::default() }, 1.0);
        account.touch_read(b, 6, 2.0);
        account.touch(User { file, pid: 3 }, Touches { read: 100, read_held_up: 20.0, ..Touches::default() }, 2.0);
        let rows = account.by(|user| Some(user.pid));
        assert_eq!((rows[0].0, rows[0].1.read_hit), (3, 240.0));
        assert_eq!((rows[1].0, rows[1].1.read_hit, rows[1].1.read()), (1, 90.0, 94.0));
        assert_eq!((rows[2].0, rows[2].1.read_hit, rows[2].1.written_hit), (2, 12.0, 0.0));
        let all = account.by(|user| (user.pid == 1).then_some(()));
        assert_eq!((all.len(), all[0].1.missed.read_ahead), (1, 9));
    }
}
