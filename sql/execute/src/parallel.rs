//! Work on several threads at once.

/// Returns `f` of each item, computed on a thread each.
pub fn parallel<T: Sync, R: Send>(items: &[T], f: impl Fn(&T) -> R + Sync) -> Vec<R> {
    std::thread::scope(|scope| {
        let f = &f;
        let others: Vec<_> = items.iter().skip(1).map(|item| scope.spawn(move || f(item))).collect();
        let mut all: Vec<R> = items.first().map(f).into_iter().collect();
        for other in others {
            match other.join() {
                Ok(result) => all.push(result),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        all
    })
}
