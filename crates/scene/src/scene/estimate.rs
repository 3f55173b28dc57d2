//! Number of particles and the host's memory that they take, before any is made.

use crate::check::{Check, Checker, MAX_PARTICLES, number, whole};
use crate::scene::Scene;
use crate::scene::sample::Sampled;
use crate::shapes::blue_noise;
use crate::{Fill, ParticleBlock, SceneError};

/// Number of particles from which the host's memory is described.
const MANY_PARTICLES: u64 = 1_000_000;

/// Maximum number of lattice points, of cells of a block filled with blue noise, and of points drawn at
/// random, most of which may be outside of a thin shape: seconds to minutes of work.
const MAX_VISITS: f64 = u32::MAX as f64;

/// Cost of sampling a scene, before any particle is made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// Number of particles, exact for boxes, within a few percent for other shapes.
    pub n_particles: u64,
    /// Memory of the host in bytes that sampling them takes at most, about.
    pub host_bytes: u64,
}

/// A block, or another table that is filled with particles.
struct Filled {
    /// Path of the key that determines the number.
    key: String,
    n: f64,
    /// True if the number does not depend on the spacing.
    is_fixed: bool,
}

impl Scene {
    /// Returns the number of particles and the memory of the host that sampling takes, from volumes.
    pub fn estimate(&self) -> Estimate {
        let n = self.filled().iter().map(|filled| filled.n).sum::<f64>();
        let columns = self.solver_scene().map_or(0.0, |solver| solver.sampling_bytes(self, n));
        let is_even = |block: &&ParticleBlock| {
            let is_filled = block.shape.is_loaded() && block.shape.n_points().is_none();
            is_filled && block.fill_of_count() == Fill::BlueNoise
        };
        let spreading = self.particles.iter().filter(is_even).map(|block| {
            let n = self.block_count_estimate(block);
            if n < 1.0 { 0.0 } else { blue_noise::effort(&block.shape, n).bytes }
        });
        let bytes = columns + spreading.fold(0.0, f64::max);
        Estimate { n_particles: n as u64, host_bytes: bytes as u64 }
    }

    /// Refuses a scene of more than `limit` particles, which `reason` explains: for limits that are known
    /// only once there is a device. Call it before the scene is sampled.
    ///
    /// # Errors
    /// [`SceneError::Value`] of the largest block, with a spacing that fits.
    pub fn refuse_more_than(&self, limit: u64, reason: &str) -> Result<(), SceneError> {
        self.check_limit(&Checker::new(&self.source), &self.filled(), limit, reason)
    }

    /// Returns the summary of the scene, as labels and text, for `frazil check`: that of its solver and, of
    /// large scenes, the memory of the host.
    ///
    /// # Errors
    /// The errors of sampling parts of the scene.
    pub fn describe(&self, sampled: &Sampled) -> Result<Vec<(&'static str, String)>, SceneError> {
        let solver = self.solver_scene();
        let mut lines = solver.map_or(Ok(Vec::new()), |solver| solver.describe(self, sampled))?;
        lines.extend(self.describe_memory());
        Ok(lines)
    }

    /// Returns the label and the text about the memory that sampling takes, of scenes of more than a million
    /// particles. It is known before they are sampled.
    pub fn describe_memory(&self) -> Option<(&'static str, String)> {
        let estimate = self.estimate();
        if estimate.n_particles <= MANY_PARTICLES {
            return None;
        }
        let available = available_memory().map(|[free, _]| format!(", of {} available", gigabytes(free)));
        let text = format!(
            "about {} to sample {} particles{}",
            gigabytes(estimate.host_bytes as f64),
            whole(estimate.n_particles as f64),
            available.unwrap_or_default()
        );
        Some(("host memory", text))
    }

    /// Warns if the particles hardly fit into the memory of the host.
    pub(crate) fn advise_memory(&self, warn: &mut dyn FnMut(&str, String), estimate: &Estimate) {
        if let Some([free, _]) = available_memory()
            && estimate.n_particles > MANY_PARTICLES
            && estimate.host_bytes as f64 > free
        {
            let largest = self.largest_filled();
            warn(
                &largest,
                format!(
                    "{} particles take about {} of the host's memory to sample, of {} available",
                    whole(estimate.n_particles as f64),
                    gigabytes(estimate.host_bytes as f64),
                    gigabytes(free)
                ),
            );
        }
    }

    /// Refuses to sample particles that do not fit into the memory of the host.
    pub(crate) fn refuse_beyond_memory(&self) -> Result<(), SceneError> {
        let estimate = self.estimate();
        match available_memory() {
            Some([free, swap])
                if estimate.n_particles > MANY_PARTICLES && estimate.host_bytes as f64 > free + swap =>
            {
                let n_fit = estimate.n_particles as f64 * 0.9 * (free + swap) / estimate.host_bytes as f64;
                Err(self.out_of_memory(n_fit, &format!("of {} available", gigabytes(free + swap))))
            }
            _ => Ok(()),
        }
    }

    /// Returns the error about particles that do not fit into memory, of which `n_fit` would.
    pub(crate) fn out_of_memory(&self, n_fit: f64, available: &str) -> SceneError {
        let estimate = self.estimate();
        let key = self.largest_filled();
        let remedy = self.remedy(n_fit);
        SceneError::OutOfMemory {
            at: self.source.locate(&key),
            found: format!(
                "{key}: found {} particles, which take about {} of the host's memory",
                whole(estimate.n_particles as f64),
                gigabytes(estimate.host_bytes as f64)
            ),
            expected: format!("at most {} {available}; {remedy}", whole(n_fit)),
        }
    }

    /// Returns the blocks and other tables with their numbers of particles.
    fn filled(&self) -> Vec<Filled> {
        self.filled_with(self.filled_tables())
    }

    fn filled_with(&self, tables: Vec<(&'static str, Vec<f64>)>) -> Vec<Filled> {
        let blocks = self.particles.iter().enumerate().map(|(idx, block)| {
            let is_counted = block.count.is_some();
            let part = if is_counted { "count" } else { "shape" };
            Filled {
                key: format!("particles.{idx}.{part}"),
                n: self.block_count_estimate(block),
                is_fixed: is_counted || block.shape.n_points().is_some(),
            }
        });
        let others = tables.into_iter().flat_map(|(table, counts)| {
            let filled = move |(idx, n)| Filled { key: format!("{table}.{idx}"), n, is_fixed: false };
            counts.into_iter().enumerate().map(filled)
        });
        blocks.chain(others).collect()
    }

    /// Returns the key that determines how many particles fill a shape, and its value in m.
    pub(crate) fn spacing(&self) -> (&'static str, f64) {
        self.solver_scene().map_or(("particles", f64::NAN), |solver| solver.spacing_key(self))
    }

    fn largest_filled(&self) -> String {
        let filled = self.filled().into_iter();
        filled.max_by(|a, b| a.n.total_cmp(&b.n)).map_or("particles".to_owned(), |filled| filled.key)
    }

    pub(crate) fn check_count(&self, check: &Checker<'_>) -> Check {
        let filled = self.filled_tables();
        let is_filled = !self.particles.is_empty() || filled.iter().any(|(_, counts)| !counts.is_empty());
        if !is_filled && self.emitters.is_empty() {
            let emitters = self.may_have_emitters().then_some("emitters");
            let others = filled.iter().map(|(table, _)| *table).chain(emitters);
            let others = others.map(|table| format!(" or [[{table}]]")).collect::<String>();
            let expected = format!("at least one [[particles]] block{others}");
            return check.fail("particles", "no particles", expected);
        }
        self.check_limit(check, &self.filled_with(filled), MAX_PARTICLES, "")?;
        self.particles.iter().enumerate().try_for_each(|(idx, block)| self.check_effort(check, idx, block))
    }

    fn check_limit(&self, check: &Checker<'_>, filled: &[Filled], limit: u64, reason: &str) -> Check {
        let total: f64 = filled.iter().map(|filled| filled.n).sum();
        if total <= limit as f64 {
            return Ok(());
        }
        let reason = if reason.is_empty() { String::new() } else { format!(", {reason}") };
        check.fail_between(
            &[&self.largest_filled(), self.spacing().0],
            format!("{} particles", whole(total)),
            format!("at most {limit} in all{reason}; {}", self.remedy(limit as f64)),
        )
    }

    /// Returns what makes the scene's number of particles at most `limit`: a larger spacing, if there is one
    /// that is.
    fn remedy(&self, limit: f64) -> String {
        let filled = self.filled();
        let sum = |is_fixed: bool| {
            filled.iter().filter(|filled| filled.is_fixed == is_fixed).map(|filled| filled.n).sum::<f64>()
        };
        let (fixed, free) = (sum(true), sum(false));
        if fixed >= limit || free == 0.0 {
            let key = self.largest_filled();
            let is_counted = key.ends_with(".count");
            return if is_counted { format!("lower {key}") } else { format!("a file of fewer at {key}") };
        }
        let (key, spacing_m) = self.spacing();
        // The hundredth is for what estimates of volumes are off.
        let ratio = (1.01 * free / (limit - fixed)).powf(1.0 / self.n_dimensions() as f64);
        format!(
            "enlarge {key} ({} m) to {} m or more, or shrink the shape",
            number(spacing_m),
            number(rounded_up(ratio * spacing_m))
        )
    }

    /// Refuses shapes so thin against their bounds that nearly all work would be spent outside of them.
    fn check_effort(&self, check: &Checker<'_>, idx: usize, block: &ParticleBlock) -> Check {
        let shape = &block.shape;
        if !shape.is_loaded() || shape.n_points().is_some() {
            return Ok(());
        }
        let n = self.block_count_estimate(block);
        let (visits, what) = match block.fill_of_count() {
            Fill::Lattice => {
                let extent = shape.lattice_extent(self.block_spacing_m(block));
                (extent.iter().product::<f64>(), "lattice points in its bounds")
            }
            Fill::BlueNoise => {
                let effort = blue_noise::effort(shape, n);
                (effort.n_cells.max(effort.n_nodes), "cells in its bounds")
            }
            Fill::Uniform | Fill::Random => (n / shape.share_of_bounds(), "points drawn in its bounds"),
        };
        // A full box has up to 16 cells a particle.
        if visits <= MAX_VISITS.max(16.0 * n) {
            return Ok(());
        }
        let key = format!("particles.{idx}.shape.{}", shape.name());
        check.fail_between(
            &[&key, self.spacing().0],
            format!(
                "a shape that fills {} of its bounds, which takes {} {what} for {} particles",
                number(two_digits(shape.share_of_bounds())),
                whole(visits),
                whole(n)
            ),
            format!(
                "at most {}: fewer particles, or the shape in parts with bounds of their own",
                whole(MAX_VISITS)
            ),
        )
    }
}

/// Rounds a positive number up to three digits.
pub(crate) fn rounded_up(x: f64) -> f64 {
    let unit = 10.0_f64.powi(x.log10().floor() as i32 - 2);
    format!("{:.2e}", (x / unit - 1e-9).ceil() * unit).parse().unwrap_or(x)
}

/// Rounds a number to two digits.
pub(crate) fn two_digits(x: f64) -> f64 {
    format!("{x:.1e}").parse().unwrap_or(x)
}

fn gigabytes(bytes: f64) -> String {
    if bytes < 1e9 { format!("{:.0} MB", bytes / 1e6) } else { format!("{:.1} GB", bytes / 1e9) }
}

/// Returns the memory that this program can take without swapping, and the free swap space, in bytes; `None`
/// where the system has no such file. A limit of its address space (`ulimit -v`) bounds both.
fn available_memory() -> Option<[f64; 2]> {
    let read = std::fs::read_to_string;
    let [free, swap] = in_meminfo(&read("/proc/meminfo").ok()?)?;
    let left = read("/proc/self/limits").ok().zip(read("/proc/self/statm").ok());
    let left = left.and_then(|(limits, statm)| left_in_address_space(&limits, &statm));
    let left = left.unwrap_or(f64::INFINITY);
    Some([free.min(left), swap.min((left - free).max(0.0))])
}

/// Returns the bytes that are left of a limit of the address space, from the texts of `/proc/self/limits` and
/// `/proc/self/statm`; `None` without a limit.
fn left_in_address_space(limits: &str, statm: &str) -> Option<f64> {
    /// Size of the pages that `statm` counts; larger ones make the estimate too high.
    const PAGE_BYTES: f64 = 4096.0;
    let limit = limits.lines().find_map(|line| line.strip_prefix("Max address space"))?;
    let limit_bytes: f64 = limit.split_whitespace().next()?.parse().ok()?;
    let taken_pages: f64 = statm.split_whitespace().next()?.parse().ok()?;
    Some((limit_bytes - PAGE_BYTES * taken_pages).max(0.0))
}

fn in_meminfo(text: &str) -> Option<[f64; 2]> {
    let bytes = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
        line.trim().strip_suffix("kB")?.trim().parse::<f64>().ok().map(|kilobytes| 1024.0 * kilobytes)
    };
    Some([bytes("MemAvailable")?, bytes("SwapFree").unwrap_or(0.0)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_rounded_up_to_three_digits() {
        for (x, up) in
            [(0.012341, 0.0124), (0.0124, 0.0124), (1.0, 1.0), (999.1, 1000.0), (5.001e-7, 5.01e-7)]
        {
            assert_eq!(rounded_up(x), up);
        }
        assert_eq!([0.0123, 1.0].map(two_digits), [0.012, 1.0]);
    }

    #[test]
    fn what_does_not_fit_into_memory_is_refused_with_a_spacing_that_does() {
        let sets = ["fluid.particle_spacing_m=0.003".to_owned()];
        let scene = Scene::find("dam_break", &sets).expect("a built-in scene");
        let n = scene.estimate().n_particles as f64;
        let message = scene.out_of_memory(0.125 * n, "of 1.0 GB available").to_string();
        assert!(message.contains("particles.0.shape: found "), "{message}");
        assert!(message.contains(" of the host's memory, expected at most "), "{message}");
        assert!(
            message.contains(" of 1.0 GB available; enlarge fluid.particle_spacing_m (0.003 m) to 0.006")
        );
        assert!(scene.refuse_beyond_memory().is_ok() || n > 1e8);
    }

    #[test]
    fn available_memory_is_read() {
        let text = "MemTotal:       24600000 kB\nMemAvailable:   1000 kB\nSwapFree:  24 kB\n";
        assert_eq!(in_meminfo(text), Some([1_024_000.0, 24_576.0]));
        assert_eq!(in_meminfo("MemTotal: 3 kB\n"), None);
        let limits =
            "Max stack size   8388608  unlimited  bytes\nMax address space  716800000  unlimited  bytes";
        assert_eq!(
            left_in_address_space(limits, "1000 200 100 1 0 300 0\n"),
            Some(716_800_000.0 - 4_096_000.0)
        );
        assert_eq!(left_in_address_space(limits, "900000 1"), Some(0.0));
        assert_eq!(left_in_address_space("Max address space  unlimited  unlimited  bytes", "1 1"), None);
        if std::path::Path::new("/proc/meminfo").exists() {
            assert!(available_memory().is_some_and(|[free, _]| free > 1e6));
        }
    }
}
