#![allow(clippy::unwrap_used)]
use frazil_tests::SnowSimulation;
#[test]
fn explore() {
    let scene = std::env::var("SCENE").unwrap_or("melting".into());
    let over = std::env::var("SET").unwrap_or("scale=0.2".into());
    let over: Vec<&str> = over.split(';').collect();
    let steps: u64 = std::env::var("STEPS").unwrap_or("100".into()).parse().unwrap();
    let n: u64 = std::env::var("N").unwrap_or("20".into()).parse().unwrap();
    let mut s = SnowSimulation::new(&scene, &over);
    println!("{} particles", s.snow.capacity());
    for _ in 0..n {
        let t = std::time::Instant::now();
        let m = s.advance(steps);
        println!(
            "{:5} S{:6} F{:6} melt{:5} frz{:5} KE{:9.3e} v{:7.3} rho{:7.1}/{:7.1} Ts{:7.2} Tf{:7.2} [{:7.2},{:7.2}] links{:6} strain{:7.4} lo[{:6.3} {:6.3} {:6.3}] hi[{:6.3} {:6.3} {:6.3}] E{:9.3e} H{:.5e} bad{} out{} faults{:?} {:.1}ms",
            s.step,
            m.n_solid,
            m.n_fluid,
            m.n_melted,
            m.n_frozen,
            m.all.kinetic_energy_j,
            m.all.speed_max_m_s,
            m.all.density_mean_kg_m3,
            m.all.density_max_kg_m3,
            m.solid_mean_c,
            m.fluid_mean_c,
            m.coldest_c,
            m.warmest_c,
            m.n_links,
            m.strain_rms,
            m.solid_lower_m[0],
            m.solid_lower_m[1],
            m.solid_lower_m[2],
            m.solid_upper_m[0],
            m.solid_upper_m[1],
            m.solid_upper_m[2],
            m.all.total_energy_j(),
            m.sensible_heat_j,
            m.all.n_not_finite,
            m.all.n_outside,
            s.link_faults(),
            t.elapsed().as_secs_f64() * 1e3 / steps as f64
        );
    }
    frazil_tests::assert_no_validation_messages(&s.device);
}
