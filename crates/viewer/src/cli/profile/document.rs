//! Measurements as `profile.json`, `trace.json` and `profile.html`.

use super::pass_log::PassLog;
use crate::build_info::GIT_COMMIT;
use frazil_engine::Failure;
use frazil_engine::Simulation;
use frazil_engine::outputs::Folder;
use frazil_io::{Span, write_trace};
use frazil_report::{
    DriverStatistic, KernelFact, Memory, MemoryRow, Profile, ProfileComparison, ProfileRow, profile_report,
};
use frazil_vk::{ComputeUnits, Device, KernelFacts};

/// Creates the profile of the steps in the log, without a variation.
pub fn document(
    simulation: &Simulation,
    passes: &PassLog,
    memory: Memory,
    kernels: Vec<KernelFact>,
    state_hash: Option<String>,
) -> Result<Profile, Failure> {
    let info = simulation.device.info();
    let idle = passes.idle();
    Ok(Profile {
        format_version: Profile::FORMAT_VERSION,
        scene: simulation.scene.name.clone(),
        scene_hash: frazil_engine::outputs::scene_hash(&simulation.scene)?,
        device: info.name.clone(),
        is_software: simulation.device.is_software(),
        driver: info.driver.clone(),
        git_commit: GIT_COMMIT.map(str::to_owned),
        tuning: simulation.changed_tunables(),
        n_particles: simulation.count_particles()? as u64,
        steps_before: simulation.step().saturating_sub(passes.steps()),
        steps: passes.steps(),
        state_hash,
        copy_gb_per_s: passes.copies().last().map(|copy| copy.gb_per_s),
        copies: passes.copies().to_vec(),
        launch_ns: passes.launch_ns(),
        peak_gflop_per_s: None,
        work: Vec::new(),
        counters: None,
        stamping: None,
        pictures: None,
        idle_between_submissions: idle.map(|idle| idle.between_submissions),
        host_busy: idle.map(|idle| idle.host_busy),
        step_samples_ns: passes.samples().step_ns().to_vec(),
        rows: passes.rows(),
        passes: passes.passes(),
        kernels,
        memory,
        gaps: passes.host_gaps(),
        timeline: passes.timeline(),
        vary: None,
        samples_ns: passes.samples().by_kernel().map(|(name, ns)| (name.clone(), ns.clone())).collect(),
        runs: Vec::new(),
    })
}

/// Returns the memory of buffers and images.
pub fn memory(device: &Device) -> Memory {
    let statistics = device.statistics();
    let row = |used: frazil_vk::MemoryUse| MemoryRow {
        name: used.name,
        objects: used.objects,
        bytes: used.bytes,
        bytes_peak: used.bytes_peak,
    };
    Memory {
        bytes: statistics.bytes_held,
        bytes_peak: statistics.bytes_peak,
        columns: device.memory().into_iter().map(row).collect(),
    }
}

/// Returns the compilation facts of the kernels in `rows`, in the order of the rows, once for each variant
/// that was recorded.
pub fn kernel_facts(device: &Device, rows: &[ProfileRow]) -> Vec<KernelFact> {
    let place = |name: &str| rows.iter().position(|row| row.kernel == name);
    let used = device.kernel_facts().into_iter().filter(|k| k.dispatches > 0 && place(k.name).is_some());
    let mut facts: Vec<KernelFact> =
        used.map(|kernel| kernel_fact(kernel, device.capabilities().compute_units)).collect();
    facts.sort_by_key(|fact| place(&fact.kernel));
    facts.dedup();
    facts
}

/// Returns the compilation facts of a kernel for a report.
pub fn kernel_fact(kernel: KernelFacts, units: Option<ComputeUnits>) -> KernelFact {
    let known = kernel.occupancy();
    let utilization = units.and_then(|units| units.utilization(&kernel));
    let mean_groups = (kernel.dispatches > 0).then(|| kernel.groups as f64 / kernel.dispatches as f64);
    let executables = kernel.executables.unwrap_or_default();
    let statistics = executables.iter().flat_map(|executable| {
        executable.statistics.iter().map(|statistic| DriverStatistic {
            executable: executable.name.clone(),
            name: statistic.name.clone(),
            description: statistic.description.clone(),
            value: statistic.value.to_string(),
        })
    });
    KernelFact {
        kernel: kernel.name.to_owned(),
        specialization: kernel
            .specialization
            .iter()
            .map(|(name, bits)| ((*name).to_owned(), *bits))
            .collect(),
        workgroup_size: kernel.workgroup_size,
        shared_memory_bytes: known.shared_memory_bytes.or(kernel.shared_memory_bytes),
        subgroup_size: executables.iter().map(|e| e.subgroup_size).find(|size| *size > 0),
        registers: known.registers,
        spills: known.spills,
        scratch_bytes: known.scratch_bytes,
        code_bytes: known.code_bytes,
        register_moves: known.register_moves,
        resident_subgroups: known.resident_subgroups,
        instructions: known.instructions,
        latency_cycles: known.latency_cycles,
        inverse_throughput_cycles: known.inverse_throughput_cycles,
        groups: mean_groups,
        theoretical_occupancy: utilization.and_then(|use_of| use_of.theoretical_occupancy),
        tail: utilization.and_then(|use_of| use_of.tail),
        work: kernel.work.iter().map(|(item, flop)| ((*item).to_owned(), *flop)).collect(),
        driver_statistics: statistics.collect(),
    }
}

/// Writes `profile.json`, `trace.json` and `profile.html`.
pub fn write(
    folder: &Folder,
    profile: &Profile,
    spans: &[Span],
    comparison: Option<&ProfileComparison>,
) -> Result<(), Failure> {
    profile.write(&folder.profile()).map_err(Failure::other)?;
    write_trace(&folder.trace(), &profile.device, spans).map_err(Failure::other)?;
    let path = folder.profile_page();
    std::fs::write(&path, profile_report(profile, comparison))
        .map_err(|error| Failure::other(format!("cannot write {}: {error}", path.display())))
}
