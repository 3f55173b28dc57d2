//! Hardware counters of passes (`VK_KHR_performance_query`).
//!
//! A counter set may need several executions of the same command buffer. A step changes the state, and cannot
//! be executed twice: counters are measured in groups that one execution gives, each with other steps
//! ([`Device::counter_groups`]).

use crate::device::{Device, Shared};
use crate::performance_queries::{Group, PerformanceQueries};
use crate::timeline::Retired;
use crate::{Error, Result};
use ash::vk;
use std::ffi::{CStr, c_char};
use std::sync::Arc;

/// A hardware counter of a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counter {
    /// Name in the driver's words.
    pub name: String,
    /// Category in the driver's words.
    pub category: String,
    /// Description in the driver's words; may be empty.
    pub description: String,
    /// Unit as the driver declares it: `cycles`, `%`, `B` …; empty for a number without one.
    pub unit: &'static str,
    /// False for a counter of whole command buffers, which cannot be measured for a pass.
    pub is_per_pass: bool,
    /// True if measuring it may slow the device down.
    pub slows: bool,
}

type RawCounter = vk::PerformanceCounterKHR<'static>;
type RawDescription = vk::PerformanceCounterDescriptionKHR<'static>;

/// Hardware counters that recorders with [`RecorderOptions::counters`](crate::RecorderOptions::counters)
/// measure around each pass that they time, while this lives. It holds the device's profiling lock.
pub struct CounterSession {
    shared: Arc<Shared>,
}

/// Maximum number of passes of one recorder whose counters are measured; later ones have none.
const MAX_COUNTED_PASSES: u32 = 2048;
/// Time for which another holder of the profiling lock is waited for, in ns.
const LOCK_TIMEOUT_NS: u64 = 1_000_000_000;

impl Device {
    fn performance_queries(&self) -> Result<&PerformanceQueries> {
        self.shared.performance_queries.as_ref().ok_or_else(|| Error::NoCounters {
            device: self.info().name.trim().to_owned(),
            driver: self.info().driver.clone(),
        })
    }

    /// Lists the hardware counters of the queue; their indices are those of this list.
    ///
    /// # Errors
    /// [`Error::NoCounters`] if the device has none or was opened without them
    /// ([`DeviceOptions::counters`](crate::DeviceOptions::counters)).
    pub fn counters(&self) -> Result<Vec<Counter>> {
        let (counters, words) = self.raw_counters()?;
        let counter = |(counter, words): (&RawCounter, &RawDescription)| Counter {
            name: text(&words.name),
            category: text(&words.category),
            description: text(&words.description),
            // RADV of Mesa 26.2 declares ratios in bytes.
            unit: if text(&words.name).ends_with("ratio") { "" } else { unit(counter.unit) },
            is_per_pass: counter.scope != vk::PerformanceCounterScopeKHR::COMMAND_BUFFER,
            slows: words.flags.contains(vk::PerformanceCounterDescriptionFlagsKHR::PERFORMANCE_IMPACTING),
        };
        Ok(counters.iter().zip(&words).map(counter).collect())
    }

    fn raw_counters(&self) -> Result<(Vec<RawCounter>, Vec<RawDescription>)> {
        let instance = &self.performance_queries()?.instance;
        let (handle, family) = (self.shared.candidate.handle, self.shared.candidate.queue_family);
        let fails = || Error::call("list counters", &self.info().name);
        // SAFETY: the physical device has the extension, and the queue family.
        let n = unsafe {
            instance.enumerate_physical_device_queue_family_performance_query_counters_len(handle, family)
        }
        .map_err(fails())?;
        let (mut counters, mut words) = (vec![RawCounter::default(); n], vec![RawDescription::default(); n]);
        // SAFETY: as above; both arrays have the number of elements that the driver said.
        unsafe {
            instance.enumerate_physical_device_queue_family_performance_query_counters(
                handle,
                family,
                &mut counters,
                &mut words,
            )
        }
        .map_err(fails())?;
        Ok((counters, words))
    }

    /// Distributes counters, by their indices, over groups that one execution of a command buffer gives: in
    /// order, each into the first group that it fits. A counter that needs several executions by itself, or
    /// is not one of passes, is in the second list.
    ///
    /// # Errors
    /// Like [`Self::counters`]; [`Error::Misuse`] for an index that is none.
    pub fn counter_groups(&self, counters: &[u32]) -> Result<(Vec<Vec<u32>>, Vec<u32>)> {
        let all = self.counters()?;
        self.check_indices(counters, all.len())?;
        let (mut groups, mut left): (Vec<Vec<u32>>, Vec<u32>) = Default::default();
        'counters: for counter in counters {
            if !all[*counter as usize].is_per_pass || self.counter_executions(&[*counter])? != 1 {
                left.push(*counter);
                continue;
            }
            for group in &mut groups {
                group.push(*counter);
                if self.counter_executions(group)? == 1 {
                    continue 'counters;
                }
                group.pop();
            }
            groups.push(vec![*counter]);
        }
        Ok((groups, left))
    }

    fn check_indices(&self, counters: &[u32], n: usize) -> Result<()> {
        match counters.iter().find(|counter| **counter as usize >= n) {
            None => Ok(()),
            Some(found) => Err(Error::Misuse {
                object: "hardware counters".into(),
                problem: format!("found the index {found}, expected one below {n}"),
            }),
        }
    }

    /// Returns the number of executions that give these counters.
    fn counter_executions(&self, counters: &[u32]) -> Result<u32> {
        let queries = self.performance_queries()?;
        let info = vk::QueryPoolPerformanceCreateInfoKHR::default()
            .queue_family_index(self.shared.candidate.queue_family)
            .counter_indices(counters);
        let handle = self.shared.candidate.handle;
        // SAFETY: the device has the extension; the callers checked the indices, and that there is one.
        Ok(unsafe {
            queries.instance.get_physical_device_queue_family_performance_query_passes(handle, &info)
        })
    }

    /// Begins to measure counters, by their indices: one of the groups of [`Self::counter_groups`].
    ///
    /// # Errors
    /// Like [`Self::counter_groups`]; [`Error::Misuse`] if another session lives or the counters do not fit
    /// one execution; [`Error::ProfilingLock`] if the driver refuses the lock, for lack of rights or because
    /// another program holds it.
    pub fn measure_counters(&self, counters: &[u32]) -> Result<CounterSession> {
        let queries = self.performance_queries()?;
        let (all, _) = self.raw_counters()?;
        self.check_indices(counters, all.len())?;
        let misuse =
            |problem: &str| Error::Misuse { object: "hardware counters".into(), problem: problem.into() };
        if counters.is_empty() || self.counter_executions(counters)? != 1 {
            return Err(misuse(
                "found counters that one execution does not give, expected one of counter_groups",
            ));
        }
        if queries.group().is_some() {
            return Err(misuse("found a session, expected none: it holds the profiling lock"));
        }
        let info = vk::AcquireProfilingLockInfoKHR::default().timeout(LOCK_TIMEOUT_NS);
        // SAFETY: the device was opened with the extension, and this process does not hold the lock.
        unsafe { queries.device.acquire_profiling_lock(&info) }
            .map_err(|result| Error::ProfilingLock { device: self.info().name.trim().to_owned(), result })?;
        let storages = counters.iter().map(|counter| all[*counter as usize].storage).collect();
        queries.set_group(Some(Arc::new(Group { indices: counters.to_vec(), storages })));
        Ok(CounterSession { shared: self.shared.clone() })
    }
}

impl Drop for CounterSession {
    fn drop(&mut self) {
        let Some(queries) = &self.shared.performance_queries else { return };
        if queries.set_group(None).is_some() {
            // SAFETY: the session holds the lock. Submissions that use it were waited for, or are left to a
            // device that hangs.
            unsafe { queries.device.release_profiling_lock() };
        }
    }
}

/// A query pool with a query per pass.
pub(crate) struct CounterQueries {
    shared: Arc<Shared>,
    group: Arc<Group>,
    pool: vk::QueryPool,
    n_passes: u32,
}

impl CounterQueries {
    /// Makes a pool for the counters of the session.
    pub fn new(shared: &Arc<Shared>) -> Result<Self> {
        let group = shared.performance_queries.as_ref().and_then(PerformanceQueries::group);
        let group = group.ok_or_else(|| Error::Misuse {
            object: "a recorder with counters".into(),
            problem: "found no session of counters, expected one of Device::measure_counters".into(),
        })?;
        let mut counters = vk::QueryPoolPerformanceCreateInfoKHR::default()
            .queue_family_index(shared.candidate.queue_family)
            .counter_indices(&group.indices);
        let info = vk::QueryPoolCreateInfo::default()
            .query_type(vk::QueryType::PERFORMANCE_QUERY_KHR)
            .query_count(MAX_COUNTED_PASSES)
            .push_next(&mut counters);
        // SAFETY: the device was opened with the extension, and the indices were checked.
        let pool = unsafe { shared.raw.create_query_pool(&info, None) }
            .map_err(Error::call("create query pool", "counters"))?;
        // SAFETY: host query reset is enabled, and the pool is new.
        unsafe { shared.raw.reset_query_pool(pool, 0, MAX_COUNTED_PASSES) };
        Ok(Self { shared: shared.clone(), group, pool, n_passes: 0 })
    }

    /// Begins the query of the next pass; there is none if the pool is full.
    pub fn begin(&mut self, commands: vk::CommandBuffer) {
        if self.n_passes < MAX_COUNTED_PASSES {
            let flags = vk::QueryControlFlags::empty();
            // SAFETY: the command buffer is recording, since the lock was taken, and the query is unused.
            unsafe { self.shared.raw.cmd_begin_query(commands, self.pool, self.n_passes, flags) };
        }
        self.n_passes += 1;
    }

    /// Ends the query of the pass begun last.
    pub fn end(&self, commands: vk::CommandBuffer) {
        if (1..=MAX_COUNTED_PASSES).contains(&self.n_passes) {
            // SAFETY: the query was begun in this command buffer.
            unsafe { self.shared.raw.cmd_end_query(commands, self.pool, self.n_passes - 1) };
        }
    }

    /// Returns the values of each pass that has a query; the submission must have finished.
    pub fn read(&self) -> Result<Vec<Vec<f64>>> {
        let (n, width) = (self.n_passes.min(MAX_COUNTED_PASSES), self.group.indices.len());
        if n == 0 {
            return Ok(Vec::new());
        }
        // A result is a union of eight bytes.
        let mut values = vec![0_u64; n as usize * width];
        let is_dry_run = self.shared.is_dry_run;
        let flags = if is_dry_run { vk::QueryResultFlags::empty() } else { vk::QueryResultFlags::WAIT };
        let (bytes, stride) = (size_of_val(values.as_slice()), (size_of::<u64>() * width) as u64);
        // SAFETY: the pool is alive and the submission wrote the queries; the array has a stride for each.
        let read = unsafe {
            (self.shared.raw.fp_v1_0().get_query_pool_results)(
                self.shared.raw.handle(),
                self.pool,
                0,
                n,
                bytes,
                values.as_mut_ptr().cast(),
                stride,
                flags,
            )
        };
        match read {
            vk::Result::SUCCESS => {}
            vk::Result::NOT_READY if is_dry_run => values.fill(0),
            result => return Err(Error::call("read", "counters")(result)),
        }
        let value = |(bits, storage): (&u64, &vk::PerformanceCounterStorageKHR)| value(*bits, *storage);
        let of_pass = |bits: &[u64]| bits.iter().zip(&self.group.storages).map(value).collect();
        Ok(values.chunks_exact(width).map(of_pass).collect())
    }
}

impl Drop for CounterQueries {
    fn drop(&mut self) {
        self.shared.timeline.retire(Retired::Queries(self.pool));
    }
}

impl std::fmt::Debug for CounterQueries {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "CounterQueries of {} passes", self.n_passes)
    }
}

/// Returns the value of a result from the bytes of its union.
fn value(bits: u64, storage: vk::PerformanceCounterStorageKHR) -> f64 {
    use vk::PerformanceCounterStorageKHR as S;
    let [a, b, c, d, ..] = bits.to_ne_bytes();
    let word = [a, b, c, d];
    match storage {
        S::INT32 => i32::from_ne_bytes(word).into(),
        S::UINT32 => u32::from_ne_bytes(word).into(),
        S::FLOAT32 => f32::from_ne_bytes(word).into(),
        S::INT64 => bits as i64 as f64,
        S::UINT64 => bits as f64,
        S::FLOAT64 => f64::from_bits(bits),
        _ => f64::NAN,
    }
}

fn unit(unit: vk::PerformanceCounterUnitKHR) -> &'static str {
    use vk::PerformanceCounterUnitKHR as U;
    match unit {
        U::PERCENTAGE => "%",
        U::NANOSECONDS => "ns",
        U::BYTES => "B",
        U::BYTES_PER_SECOND => "B/s",
        U::KELVIN => "K",
        U::WATTS => "W",
        U::VOLTS => "V",
        U::AMPS => "A",
        U::HERTZ => "Hz",
        U::CYCLES => "cycles",
        _ => "",
    }
}

/// Returns the text of an array that ends with a zero; all of it without one.
fn text(array: &[c_char]) -> String {
    let bytes: Vec<u8> = array.iter().map(|c| *c as u8).collect();
    let text = CStr::from_bytes_until_nul(&bytes).map_or(&bytes[..], CStr::to_bytes);
    String::from_utf8_lossy(text).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DeviceOptions;
    use vk::PerformanceCounterStorageKHR as S;

    #[test]
    fn results_are_read_by_their_storage() {
        let low = |word: [u8; 4]| {
            let [a, b, c, d] = word;
            // The other half of the union has no meaning.
            u64::from_ne_bytes([a, b, c, d, 7, 7, 7, 7])
        };
        assert_eq!(value(low((-5_i32).to_ne_bytes()), S::INT32), -5.0);
        assert_eq!(value(low(u32::MAX.to_ne_bytes()), S::UINT32), 4_294_967_295.0);
        assert_eq!(value(low(0.25_f32.to_ne_bytes()), S::FLOAT32), 0.25);
        assert_eq!(value(-6_i64 as u64, S::INT64), -6.0);
        assert_eq!(value(1 << 40, S::UINT64), 2_f64.powi(40));
        assert_eq!(value(0.1_f64.to_bits(), S::FLOAT64), 0.1);
        assert!(value(1, S::from_raw(99)).is_nan());
    }

    #[test]
    fn words_of_a_driver_end_at_a_zero_or_with_their_array() {
        let array = |text: &[u8]| text.iter().map(|byte| *byte as c_char).collect::<Vec<_>>();
        assert_eq!(text(&array(b"VALU Busy\0rest")), "VALU Busy");
        assert_eq!(text(&array(b"full")), "full");
        assert_eq!(
            (unit(vk::PerformanceCounterUnitKHR::CYCLES), unit(vk::PerformanceCounterUnitKHR::GENERIC)),
            ("cycles", "")
        );
    }

    #[test]
    fn a_device_without_counters_says_so() {
        let device =
            Device::open(&DeviceOptions { validation: true, counters: true, ..Default::default() }).unwrap();
        if device.capabilities().counters {
            println!("skipped: {} has counters", device.info().name);
            return;
        }
        for error in [device.counters().err(), device.measure_counters(&[0]).err()] {
            let error = error.unwrap().to_string();
            assert!(error.contains("VK_KHR_performance_query"), "{error}");
        }
        let options = crate::RecorderOptions { profile: true, counters: true, ..Default::default() };
        let error = device.recorder_with(options).err().unwrap().to_string();
        assert!(error.contains("found no session of counters"), "{error}");
        device.check_validation().unwrap();
    }
}
