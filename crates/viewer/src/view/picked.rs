//! The particle under the pointer, with all its columns and its neighbours.

use crate::failure::Failure;
use crate::picture::Shown;
use frazil_particles::{ColumnKind, ColumnView, ParticleSet};
use frazil_render::OrbitCamera;
use frazil_vk::Device;
use glam::{Vec2, Vec3};

/// Number of neighbours that are listed.
const N_NEAREST: usize = 8;
/// Distance in particle spacings up to which particles are neighbours.
const REACH_SPACINGS: f32 = 2.0;

/// A chosen particle at the last time it was looked up.
#[derive(Clone, Debug, PartialEq)]
pub struct Picked {
    pub id: u32,
    /// Name of its set.
    pub set: &'static str,
    pub position_m: Vec3,
    /// Names, values and units of its columns.
    pub columns: Vec<(String, String)>,
    /// Number of particles of all sets within two spacings.
    pub n_neighbours: usize,
    /// Ids and distances in m of the nearest ones.
    pub nearest: Vec<(u32, f32)>,
}

/// Particles of a set on the host.
struct Particles {
    position: Vec<Vec3>,
    id: Vec<u32>,
}

impl Particles {
    /// Downloads positions and ids of a set. It waits for the device.
    fn of(device: &Device, set: &ParticleSet<'_>) -> Result<Self, Failure> {
        let n = device.download(&set.count.count, 1)?.first().map_or(0, |n| *n as usize);
        let of = |name, kind| set.column(name).filter(|column| column.kind == kind);
        let position = match of("position", ColumnKind::Vec3) {
            Some(column) => device.download(&column.words.cast::<[f32; 3]>(), n)?,
            None => Vec::new(),
        };
        let id = match of("id", ColumnKind::U32) {
            Some(column) => device.download(&column.words, n)?,
            None => (0..n as u32).collect(),
        };
        Ok(Self { position: position.into_iter().map(Vec3::from).collect(), id })
    }
}

/// Returns the id of the particle that a pixel shows: the nearest one to the eye within `radius_m` of the ray
/// through it. It waits for the device.
pub fn pick(
    device: &Device,
    shown: &Shown<'_>,
    camera: &OrbitCamera,
    (pixel, size): (Vec2, (u32, u32)),
    radius_m: f32,
) -> Result<Option<u32>, Failure> {
    let (origin, direction) = camera.ray(pixel, size.0, size.1);
    let mut nearest: Option<(f32, u32)> = None;
    for set in &shown.sets {
        let particles = Particles::of(device, set)?;
        for (position, id) in particles.position.iter().zip(&particles.id) {
            let from_origin = *position - origin;
            let depth = from_origin.dot(direction);
            let is_hit = (from_origin - depth * direction).length() <= radius_m
                && camera.project(*position, size.0, size.1).is_some();
            if is_hit && nearest.is_none_or(|(before, _)| depth < before) {
                nearest = Some((depth, *id));
            }
        }
    }
    Ok(nearest.map(|(_, id)| id))
}

/// Looks up the present values of a particle; `None` if no set has it any more. It waits for the device.
pub fn look_up(
    device: &Device,
    shown: &Shown<'_>,
    id: u32,
    spacing_m: f32,
) -> Result<Option<Picked>, Failure> {
    let mut found = None;
    let mut others: Vec<(u32, Vec3)> = Vec::new();
    for set in &shown.sets {
        let particles = Particles::of(device, set)?;
        if let Some(place) = particles.id.iter().position(|own| *own == id) {
            let columns: Result<Vec<_>, Failure> =
                set.columns.iter().map(|column| value(device, column, place)).collect();
            found = Some((set.name, particles.position.get(place).copied(), columns?));
        }
        others.extend(particles.id.iter().copied().zip(particles.position.iter().copied()));
    }
    let Some((set, Some(position_m), columns)) = found else { return Ok(None) };
    let reach_m = REACH_SPACINGS * spacing_m;
    let mut nearest: Vec<(u32, f32)> = others
        .into_iter()
        .filter(|(other, _)| *other != id)
        .map(|(other, position)| (other, position.distance(position_m)))
        .filter(|(_, distance)| *distance <= reach_m)
        .collect();
    nearest.sort_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)));
    let n_neighbours = nearest.len();
    nearest.truncate(N_NEAREST);
    Ok(Some(Picked { id, set, position_m, columns, n_neighbours, nearest }))
}

/// Downloads the value of a column at a place, as text with its unit.
fn value(device: &Device, column: &ColumnView, place: usize) -> Result<(String, String), Failure> {
    let words = column.kind.words() as usize;
    let all = device.download(&column.words, (place + 1) * words)?;
    let own = &all[place * words..];
    let number = |word: u32| format!("{:.5}", f32::from_bits(word));
    let numbers = |words: &[u32]| words.iter().copied().map(number).collect::<Vec<_>>().join(", ");
    let text = match column.kind {
        ColumnKind::U32 => own[0].to_string(),
        ColumnKind::F32 => number(own[0]),
        ColumnKind::Vec3 | ColumnKind::Matrix(_) => numbers(own),
        ColumnKind::Component { index, .. } => number(own[index as usize]),
    };
    let unit = if column.unit == "1" { "" } else { &*column.unit };
    Ok((column.name.to_string(), format!("{text} {unit}").trim_end().to_owned()))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on fails there")]

    use super::*;
    use frazil_kernels::Counts;
    use frazil_particles::Material;
    use frazil_testkit::own_device;

    #[test]
    fn the_nearest_particle_on_the_line_of_sight_is_picked_with_its_values() {
        let device = own_device();
        let camera = OrbitCamera { azimuth_deg: 0.0, elevation_deg: 0.0, ..Default::default() };
        // The camera looks along −z: the second particle hides the first, the third is beside them.
        let positions: [[f32; 3]; 4] = [[0.0, 0.0, -0.5], [0.0, 0.0, 0.5], [0.3, 0.0, 0.0], [9.0; 3]];
        let ids = [7_u32, 5, 6, 4];
        let heat = [1.5_f32, 2.5, -3.5, 9.0];
        // The capacity is one more than the count.
        let count = Counts::new(&device).unwrap().upload(&device, "count", 3, 4).unwrap();
        let columns = vec![
            ColumnView::new(
                "position",
                "m",
                ColumnKind::Vec3,
                device.buffer_from("position", &positions).unwrap().cast(),
            ),
            ColumnView::new("id", "1", ColumnKind::U32, device.buffer_from("id", &ids).unwrap()),
            ColumnView::new("heat", "°C", ColumnKind::F32, device.buffer_from("h", &heat).unwrap().cast()),
        ];
        let set = ParticleSet { name: "snow", material: Material::Snow, count: &count, columns };
        let shown = Shown { sets: vec![set], slabs: None, blocks: None };
        let size = (640, 400);
        let at = |point: [f32; 3]| camera.project(Vec3::from(point), size.0, size.1).unwrap().0;
        let picked = |pixel: Vec2| pick(&device, &shown, &camera, (pixel, size), 0.05).unwrap();
        assert_eq!(picked(at([0.0; 3])), Some(5));
        assert_eq!(picked(at([0.3, 0.0, 0.0])), Some(6));
        assert_eq!(picked(at([0.0, 0.3, 0.0])), None);
        assert_eq!(picked(at([9.0, 9.0, 0.0])), None);

        let found = look_up(&device, &shown, 6, 0.3).unwrap().unwrap();
        assert_eq!((found.id, found.set, found.n_neighbours), (6, "snow", 2));
        let row = |name: &str| found.columns.iter().find(|(of, _)| of == name).unwrap().1.clone();
        assert_eq!([row("id"), row("heat")], ["6", "-3.50000 °C"]);
        assert_eq!(row("position"), "0.30000, 0.00000, 0.00000 m");
        let nearest: Vec<u32> = found.nearest.iter().map(|(id, _)| *id).collect();
        assert_eq!(nearest, [5, 7]);
        assert!((found.nearest[0].1 - 0.34_f32.sqrt()).abs() < 1e-6);
        assert_eq!(look_up(&device, &shown, 4, 0.3).unwrap(), None);
        device.check_validation().unwrap();
    }
}
