//! Snow on a grid: elastic waves.

use crate::validate::case::{Bound, Case, Check, Cost, Lab, Outcome, larger};
use crate::validate::experiment::Experiment;
use frazil_engine::Failure;
use frazil_report::{Mark, Series};

/// Length of the bar in m.
const LENGTH_M: f64 = 0.5;
const CELL_M: f64 = 0.01;

pub fn cases() -> Vec<Case> {
    vec![Case {
        name: "grid.wave".to_owned(),
        about: "speed of a pressure wave through a bar that hits a wall",
        reference: "√((λ + 2μ)/ρ)",
        cost: Cost::Quick,
        known: None,
        run: Box::new(wave),
    }]
}

/// Returns the scene of an elastic bar, as wide as its domain, that moves along −x against a wall.
fn bar(transfer: &str, poissons_ratio: f64, speed_m_s: f64, dt_s: f64) -> String {
    // Rigid walls: those of contact of particles yield like a cell of snow.
    format!(
        "version = 1\nname = \"bar\"\nup_axis = \"y\"\ngravity_m_s2 = [0.0, 0.0, 0.0]\n\
         solver = {{ kind = \"mpm\" }}\n\
         time = {{ dt_s = {dt_s:?}, duration_s = 1.0 }}\n\
         domain = {{ min_m = [0.0, 0.0, 0.0], max_m = [{:?}, 0.1, 0.0] }}\n\
         [mpm]\ndimensions = 2\ncell_size_m = {CELL_M:?}\ntransfer = \"{transfer}\"\ncontact = \"nodes\"\n\
         walls = {{ friction = 0.0 }}\n\
         material = {{ plastic = false, poissons_ratio = {poissons_ratio:?} }}\n\
         [[particles]]\nvelocity_m_s = [{:?}, 0.0, 0.0]\n\
         shape.rectangle = {{ min_m = [0.0, 0.0], max_m = [{LENGTH_M:?}, 0.1] }}\n",
        LENGTH_M + 0.1,
        -speed_m_s
    )
}

/// Strain is uniaxial, as the side walls prevent lateral strain. The material behind the front is at rest, so
/// that the share of momentum lost is the share of the bar that the front has passed.
fn wave(lab: &Lab) -> Result<Outcome, Failure> {
    let (mut worst, mut curves) = (0.0_f64, Vec::new());
    for (transfer, poissons_ratio) in [("apic", 0.2), ("mls", 0.3), ("pic_flip", 0.0)] {
        // E and ρ are the defaults.
        let modulus =
            1.4e5 * (1.0 - poissons_ratio) / ((1.0 + poissons_ratio) * (1.0 - 2.0 * poissons_ratio));
        let c = (modulus / 400.0_f64).sqrt();
        // The strain is 10⁻³, so that waves are linear.
        let mut bar = Experiment::text(lab, &bar(transfer, poissons_ratio, 1e-3 * c, 0.3 * CELL_M / c))?;
        let start = bar.advance_to(0)?.vector("momentum")[0];
        let mut front = Vec::new();
        for part in 0..=4 {
            let share = 0.25 + 0.55 * f64::from(part) / 4.0;
            let momentum = bar.advance_to_s(share * LENGTH_M / c)?.vector("momentum")[0];
            front.push((bar.time_s() * c / LENGTH_M, 1.0 - momentum / start));
        }
        let speed = (front[4].1 - front[0].1) / (front[4].0 - front[0].0);
        worst = larger(worst, (speed - 1.0).abs());
        curves.push(Series::new(format!("{transfer}, ν = {poissons_ratio}"), Mark::Points, front));
    }
    curves.push(Series::new("exact", Mark::Dashes, vec![(0.25, 0.25), (0.8, 0.8)]));
    let check = Check {
        quantity: "largest relative error of the speed, three transfers".to_owned(),
        unit: "1",
        found: worst,
        bound: Bound::AtMost(5e-3),
        reason: "waves as long as a cell are slower, which hardly changes the momentum",
    };
    Ok(Outcome::of(vec![check]).with_curve("time c t/L", "share of the bar passed", curves))
}
