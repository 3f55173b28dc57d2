//! Frames per second and memory of the three schemes that an avalanche is drawn in, in the form of table 4.1
//! of Gucer2010.
//!
//! `cargo run --release --example render_schemes -- [HEIGHT_PX] [COUNT…]`

use frazil_bench::{AxisOverride, Bench, Profile, Session, benches, plan};
use frazil_vk::{Device, DeviceOptions};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let height_px = arguments.first().map_or("720", String::as_str);
    let counts = match arguments.get(1..).unwrap_or_default() {
        [] => "128000,256000,512000,1024000".to_owned(),
        counts => counts.join(","),
    };
    let bench: &dyn Bench = *benches::all()
        .iter()
        .find(|bench| bench.id() == "render.scheme")
        .ok_or("there is no bench render.scheme")?;
    let device = Device::open(&DeviceOptions::default())?;
    let session = Session::new(&device, None)?;
    let axes: Vec<AxisOverride> =
        vec![format!("count={counts}").parse()?, format!("height_px={height_px}").parse()?];
    println!("{}, pictures of {height_px} lines; each verified", device.info().name);
    println!("| particles | scheme | frames a second | ms | memory in MB |");
    println!("|---|---|---|---|---|");
    for planned in plan(&[bench], &axes, Profile::Full)? {
        let bytes = || device.memory().iter().map(|held| held.bytes).sum::<u64>();
        let before = bytes();
        let mut running = session.prepare(planned.bench, &planned.point)?;
        let mb = (bytes() - before) as f64 / 1e6;
        let mut samples_ns = Vec::new();
        for _ in 0..5 {
            samples_ns.push(running.sample()?.ns);
        }
        running.verify("after the last picture")?;
        samples_ns.sort_by(f64::total_cmp);
        let ms = samples_ns[samples_ns.len() / 2] / 1e6;
        let of = |axis: &str| planned.point.get(axis).map(ToString::to_string).unwrap_or_default();
        println!("| {} | {} | {:.2} | {ms:.1} | {mb:.0} |", of("count"), of("scheme"), 1e3 / ms);
    }
    Ok(())
}
