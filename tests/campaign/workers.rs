//! Threads that share a list of work.

use std::sync::Mutex;

/// Calls `work` for all items, up to `jobs` at a time, and returns the results in the items' order.
pub fn map<T: Send, R: Send>(jobs: usize, items: Vec<T>, work: impl Fn(T) -> R + Sync) -> Vec<R> {
    let queue = Mutex::new(items.into_iter().enumerate());
    let results = Mutex::new(Vec::new());
    let next = || queue.lock().ok().and_then(|mut queue| queue.next());
    std::thread::scope(|scope| {
        for _ in 0..jobs.max(1) {
            scope.spawn(|| {
                while let Some((at, item)) = next() {
                    let result = work(item);
                    if let Ok(mut results) = results.lock() {
                        results.push((at, result));
                    }
                }
            });
        }
    });
    let mut results = results.into_inner().unwrap_or_default();
    results.sort_by_key(|(at, _)| *at);
    results.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::map;

    #[test]
    fn results_are_in_the_order_of_items_and_complete() {
        for jobs in [1, 3, 200] {
            let results = map(jobs, (0..100).collect(), |i: usize| {
                std::thread::sleep(std::time::Duration::from_micros(100 - i as u64));
                i * i
            });
            assert_eq!(results, (0..100).map(|i| i * i).collect::<Vec<_>>());
        }
    }
}
