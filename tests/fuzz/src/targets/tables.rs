//! Tables and reports: metrics, `run.json`, `sweep.json`, `shape.json`, `runout.json`, `profile.json`,
//! budgets of kernels.

use frazil_io::{Metric, MetricsTable, MetricsWriter, RunInfo, SweepInfo};
use frazil_report::{KernelBudget, Profile, RunOut, ShapeStatistics};

use crate::mutate::Kind;
use crate::target::{Input, Outcome, Target, Verdict, check_message, must_equal, refused};

pub(super) const TARGETS: &[Target] = &[
    Target::new("metrics", "metrics.csv", Kind::Text, metrics, check_metrics),
    Target::new("run_info", "run.json", Kind::Text, run_infos, check_run_info),
    Target::new("sweep_info", "sweep.json", Kind::Text, sweep_infos, check_sweep_info),
    Target::new("shape", "shape.json", Kind::Text, shapes, check_shape),
    Target::new("run_out", "runout.json", Kind::Text, run_outs, check_run_out),
    Target::new("profile", "profile.json", Kind::Text, profiles, check_profile),
    Target::new("kernel_budget", "budget.csv", Kind::Text, budgets, check_budget),
];

fn file(text: &str) -> Vec<Vec<u8>> {
    vec![text.as_bytes().to_vec()]
}

fn metrics() -> Vec<Vec<u8>> {
    file(
        "step,time [s],kinetic_energy [J],max_speed [m/s]\n0,0,0,0\n5,0.005,1.25e-7,inf\n10,0.01,NaN,-3\n\
         15,0.015,0.1,2.5e-300\n",
    )
}

fn check_metrics(input: &Input) -> Verdict {
    let table = match MetricsTable::read(&input.path) {
        Ok(table) => table,
        Err(error) => return refused(input, &error.to_string()),
    };
    let values = |table: &MetricsTable| -> Vec<Vec<u64>> {
        // All NaN are written alike.
        let bits = |x: &f64| if x.is_nan() { f64::NAN.to_bits() } else { x.to_bits() };
        table.columns().map(|(_, column)| column.iter().map(bits).collect()).collect()
    };
    let again = input.folder.join("again.csv");
    let write = || -> frazil_io::Result<MetricsTable> {
        let metrics: Vec<Metric> = table.metrics().to_vec();
        let mut writer = MetricsWriter::create(&again, &metrics)?;
        for row in 0..table.n_rows() {
            let row: Vec<f64> = table.columns().filter_map(|(_, column)| column.get(row).copied()).collect();
            writer.row(&row)?;
        }
        drop(writer);
        // A resumed run keeps all rows up to the last.
        MetricsWriter::resume(&again, &metrics, &metrics[0].name, f64::INFINITY)?;
        MetricsTable::read(&again)
    };
    let read = write().map_err(|error| format!("what was written is refused: {error}"))?;
    must_equal("metrics", &table.metrics().to_vec(), &read.metrics().to_vec())?;
    // Rows after one whose key is NaN are not continued.
    let is_kept = table.columns().next().is_some_and(|(_, keys)| keys.iter().all(|key| !key.is_nan()));
    if is_kept {
        must_equal("metrics", &values(&table), &values(&read))?;
    }
    Ok(Outcome::Accepted)
}

fn run_infos() -> Vec<Vec<u8>> {
    file(
        r#"{"format_version": 1, "frazil_version": "0.1.0", "git_commit": null, "scene": "dam_break",
"effective_scene": {"version": 1, "name": "dam_break", "time": {"dt_s": 0.001}},
"changes": [{"step": 3, "time_s": 0.003, "key": "fluid.viscosity", "from": null, "to": 0.5}],
"derived_parameters": {"particle_mass_kg": 0.001}, "n_particles": 1728, "seed": 1, "device": "none",
"driver": "none 1.2", "api_version": "1.3.204", "limits": {"maxStorageBufferRange": 134217728}, "steps": 10,
"simulated_time_s": 0.01, "wall_time_s": {"total": 1.5, "steps": 0.25}, "final_state_hash": "00ff00ff00ff00ff",
"warnings": ["slow"], "run_out": {"along_m": 12.5}, "tuning": {"pbd.group_size": 64}}"#,
    )
}

fn check_run_info(input: &Input) -> Verdict {
    let info = match RunInfo::read(&input.path) {
        Ok(info) => info,
        Err(error) => return refused(input, &error.to_string()),
    };
    let again = input.folder.join("again.json");
    let write = || info.write(&again).and_then(|()| RunInfo::read(&again));
    must_equal("run.json", &info, &write().map_err(|error| error.to_string())?)?;
    info.changes.iter().for_each(|change| drop(change.to_string()));
    Ok(Outcome::Accepted)
}

fn sweep_infos() -> Vec<Vec<u8>> {
    file(
        r#"{"format_version": 1, "frazil_version": "0.1.0", "git_commit": "abc", "scene": "drop", "device": "none",
"axes": [{"keys": ["time.dt_s", "seed"], "points": [["0.001", "1"], ["0.002", "2"]]}],
"columns": ["kinetic_energy [J]", "n_pieces"],
"cases": [{"folder": "cases/1", "values": ["0.001", "1"], "status": "done", "reason": null, "steps": 10,
"wall_time_s": 0.5, "state_hash": "00ff", "measured": {"kinetic_energy [J]": 0.125, "n_pieces": 2.0}},
{"folder": "cases/2", "values": ["0.002", "2"], "status": "failed", "reason": "a fault, in \"pbd\"", "steps": 0,
"wall_time_s": null, "state_hash": null, "measured": {}}]}"#,
    )
}

fn check_sweep_info(input: &Input) -> Verdict {
    let info = match SweepInfo::read(&input.path) {
        Ok(info) => info,
        Err(error) => return refused(input, &error.to_string()),
    };
    let again = input.folder.join("again.json");
    let write = || info.write(&again).and_then(|()| SweepInfo::read(&again));
    must_equal("sweep.json", &info, &write().map_err(|error| error.to_string())?)?;
    info.write_csv(&input.folder.join("again.csv")).map_err(|error| error.to_string())?;
    Ok(Outcome::Accepted)
}

fn shapes() -> Vec<Vec<u8>> {
    file(
        r#"{"run_out_m": 1.5, "centre_m": [0.5, 0.25, 0.125], "spread_m": 0.75, "n_pieces": 3, "n_fragments": 2,
"n_isolated": 1, "largest_share": 0.5, "powder_share": 0.0625, "linking_length_m": 0.02}"#,
    )
}

fn check_shape(input: &Input) -> Verdict {
    let shape = match ShapeStatistics::read(&input.path) {
        Ok(shape) => shape,
        Err(error) => return refused(input, &error.to_string()),
    };
    let again = input.folder.join("again.json");
    let write = || shape.write(&again).and_then(|()| ShapeStatistics::read(&again));
    must_equal("shape.json", &shape, &write().map_err(|error| error.to_string())?)?;
    shape.columns();
    Ok(Outcome::Accepted)
}

fn run_outs() -> Vec<Vec<u8>> {
    // The fields of its parts are those that a run on a map writes.
    let Some(run_out) = run_out() else { return Vec::new() };
    serde_json::to_vec_pretty(&run_out).into_iter().collect()
}

/// Measures a flow that covers a few cells of a slope.
fn run_out() -> Option<RunOut> {
    const N: usize = 8;
    let heights = (0..N * N).map(|idx| 20.0 - 2.0 * (idx % N) as f64).collect();
    let terrain = frazil_scene::Terrain::new(N, N, 5.0, [0.0; 2], heights).ok()?;
    let is_covered = |idx: usize| (2..5).contains(&(idx / N)) && idx % N < 6;
    let cells = |value: f32, other: f32| -> Vec<f32> {
        (0..N * N).map(|idx| if is_covered(idx) { value } else { other }).collect()
    };
    let mut arrival_s = cells(2.5, f32::NAN);
    [2 * N, 3 * N, 4 * N].into_iter().for_each(|idx| arrival_s[idx] = 0.0);
    let flow = frazil_io::FlowHistory {
        volume_m3: cells(5.0, 0.0),
        peak_volume_m3: cells(9.0, 0.0),
        peak_speed_m_s: cells(12.0, 0.0),
        arrival_s,
    };
    let rasters = frazil_io::FlowRasters::new(&terrain, &flow, 500.0, 270.0);
    let snow = frazil_report::FlowSnow { mass_kg: 2500.0, bulk_density_kg_m3: 270.0 };
    RunOut::measure(&terrain, &rasters, snow, 10.0)
}

fn check_run_out(input: &Input) -> Verdict {
    match frazil_io::json::read_version::<RunOut>(&input.path, "runout.json", RunOut::FORMAT_VERSION) {
        Ok(_) => Ok(Outcome::Accepted),
        Err(error) => refused(input, &error.to_string()),
    }
}

fn profiles() -> Vec<Vec<u8>> {
    let row = r#""kernel": "pbd.solve_density", "calls": 3, "empty": {"calls": 2, "total_ns": 3, "min_ns": 1, "median_ns": 1},
"total_ns": 9000, "typical_ns": 9000, "min_ns": 2900, "median_ns": 3000,
"p95_ns": 3100, "share": 0.75, "bytes": 4096, "gb_per_s": 1.25, "share_of_copy": 0.5"#;
    file(&format!(
        r#"{{"format_version": 3, "scene": "drop", "scene_hash": "00ff", "device": "none", "is_software": true,
"driver": "none", "git_commit": null, "tuning": {{"a": 1}}, "n_particles": 100, "steps_before": 5, "steps": 3,
"state_hash": null, "copy_gb_per_s": 2.5, "copies": [{{"bytes": 4096, "gb_per_s": 2.5}}], "launch_ns": 900.0,
"peak_gflop_per_s": 10.0,
"work": [{{"item": "particle", "kernels": ["pbd.solve_density"], "count": 100}}],
"stamping": {{"steps": 3, "stamped_ns": 12, "unstamped_ns": 11}},
"pictures": {{"scheme": "fluid", "width_px": 160, "height_px": 90, "pictures": 2, "wall_ns": 100, "ground_triangles": 0, "surface_triangles": 8}},
"idle_between_submissions": 0.125, "host_busy": 0.5, "step_samples_ns": [12000, 12100, 11900], "rows": [{{{row}}}],
"passes": [{{"position": 0, "occurrence": 1, "occurrences": 2, {row}}}],
"kernels": [{{"kernel": "pbd.solve_density", "specialization": {{"WORKGROUP_SIZE": 64}}, "workgroup_size": 64,
"shared_memory_bytes": 256, "subgroup_size": 8, "registers": 32, "spills": 0, "scratch_bytes": 0, "code_bytes": 1024,
"groups": 2.0, "theoretical_occupancy": 0.5, "tail": 0.25, "work": {{"particle": 1}},
"driver_statistics": [{{"executable": "a", "name": "b", "description": "c", "value": "1"}}]}}],
"memory": {{"bytes": 10, "bytes_peak": 12, "columns": [{{"name": "position", "objects": 1, "bytes": 10, "bytes_peak": 12}}]}},
"gaps": {{"submissions": 2, "total_ns": 5, "median_ns": 5, "largest": [{{"start_ns": 1, "duration_ns": 5, "host_ns": {{"record": 3}}}}]}},
"timeline": [{{"kernel": "pbd.solve_density", "start_ns": 0, "duration_ns": 3000}}],
"vary": {{"key": "a", "candidates": [{{"value": 1, "refused": null, "kernels_ns": {{"pbd.solve_density": 3000}}, "step_samples_ns": [12000], "state_hash": "00ff"}}]}},
"samples_ns": {{"pbd.solve_density": [2900, 3000, 3100]}}}}"#
    ))
}

/// A profile is read, compared with another and shown.
fn check_profile(input: &Input) -> Verdict {
    let profile = match Profile::read(&input.path) {
        Ok(profile) => profile,
        Err(error) => return refused(input, &error.to_string()),
    };
    let own: Option<Profile> = profiles().first().and_then(|json| serde_json::from_slice(json).ok());
    let own = own.ok_or("no profile to compare with")?;
    let _ = frazil_report::compare_profiles(&own, &profile, 0.05);
    let _ = frazil_report::profile_report(&profile, None);
    Ok(Outcome::Accepted)
}

fn budgets() -> Vec<Vec<u8>> {
    file(
        "# device: AMD\n# driver: radv \
         25\nkernel,registers,spills,scratch_bytes,shared_memory_bytes,resident_subgroups\n\
         dem.collide,96,0,0,,12\npbd.solve_density,48,,0,1024,16\n",
    )
}

fn check_budget(input: &Input) -> Verdict {
    match KernelBudget::parse(&String::from_utf8_lossy(input.bytes)) {
        Ok(budget) => {
            let again = KernelBudget::parse(&budget.text()).map_err(|error| error.to_string())?;
            must_equal("a budget", &budget, &again)?;
            Ok(Outcome::Accepted)
        }
        Err(error) => check_message(&error.to_string(), "line "),
    }
}
