//! The particle under the pointer, with all its columns and its neighbours.

use frazil_engine::Failure;
use frazil_engine::picture::Shown;
use frazil_particles::{ColumnKind, ColumnView, ParticleSet};
use frazil_render::OrbitCamera;
use frazil_solvers::{Pair, Partner};
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
    /// Its bonds and contacts by kind.
    pub pairs: Vec<PairsOfKind>,
}

/// Pairs of a particle of one kind.
#[derive(Clone, Debug, PartialEq)]
pub struct PairsOfKind {
    /// Number and kind, such as "3 contacts".
    pub title: String,
    /// Text of each, and the id of the other particle if it is one.
    pub partners: Vec<PartnerText>,
}

/// Text of a pair's other end, and its id if it is a particle.
type PartnerText = (String, Option<u32>);

impl PairsOfKind {
    /// Groups the pairs of a particle; `bodies` has the names of the scene's bodies.
    pub fn group(pairs: &[Pair], bodies: &[String]) -> Vec<Self> {
        let mut groups: Vec<(&str, Vec<PartnerText>)> = Vec::new();
        for Pair { kind, partner, rest_length_m } in pairs {
            let wall = |number: u32| {
                let axis = ["x", "y", "z"][number as usize % 3];
                format!("wall {axis}{}", if number < 3 { "min" } else { "max" })
            };
            let text = match *partner {
                Partner::Particle(id) => id.to_string(),
                Partner::Wall(number) => wall(number),
                Partner::Body(index) => {
                    bodies.get(index as usize).cloned().unwrap_or(format!("body {index}"))
                }
                Partner::Piece(number) => format!("piece {number}"),
            };
            let text = match rest_length_m {
                Some(length_m) => format!("{text}: rest length {:.3} mm", 1e3 * length_m),
                None => text,
            };
            let id = match *partner {
                Partner::Particle(id) => Some(id),
                _ => None,
            };
            match groups.iter_mut().find(|(known, _)| known == kind) {
                Some((_, partners)) => partners.push((text, id)),
                None => groups.push((kind, vec![(text, id)])),
            }
        }
        let title = |kind, n| format!("{n} {kind}{}", if n == 1 { "" } else { "s" });
        groups
            .into_iter()
            .map(|(kind, partners)| Self { title: title(kind, partners.len()), partners })
            .collect()
    }
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
    pixel: Vec2,
    size: (u32, u32),
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

/// Looks up the present values of a particle with these pairs; `None` if no set has it any more. It waits for
/// the device.
pub fn look_up(
    device: &Device,
    shown: &Shown<'_>,
    id: u32,
    spacing_m: f32,
    pairs: Vec<PairsOfKind>,
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
    Ok(Some(Picked { id, set, position_m, columns, n_neighbours, nearest, pairs }))
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
    use frazil_engine::Simulation;
    use frazil_kernels::Counts;
    use frazil_particles::Material;
    use frazil_scene::Scene;
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
        let shown = Shown { sets: vec![set], slabs: None, bodies: None, blocks: None };
        let size = (640, 400);
        let at = |point: [f32; 3]| camera.project(Vec3::from(point), size.0, size.1).unwrap().0;
        let picked = |pixel: Vec2| pick(&device, &shown, &camera, pixel, size, 0.05).unwrap();
        assert_eq!(picked(at([0.0; 3])), Some(5));
        assert_eq!(picked(at([0.3, 0.0, 0.0])), Some(6));
        assert_eq!(picked(at([0.0, 0.3, 0.0])), None);
        assert_eq!(picked(at([9.0, 9.0, 0.0])), None);

        let found = look_up(&device, &shown, 6, 0.3, Vec::new()).unwrap().unwrap();
        assert_eq!((found.id, found.set, found.n_neighbours), (6, "snow", 2));
        let row = |name: &str| found.columns.iter().find(|(of, _)| of == name).unwrap().1.clone();
        assert_eq!([row("id"), row("heat")], ["6", "-3.50000 °C"]);
        assert_eq!(row("position"), "0.30000, 0.00000, 0.00000 m");
        let nearest: Vec<u32> = found.nearest.iter().map(|(id, _)| *id).collect();
        assert_eq!(nearest, [5, 7]);
        assert!((found.nearest[0].1 - 0.34_f32.sqrt()).abs() < 1e-6);
        assert_eq!(look_up(&device, &shown, 4, 0.3, Vec::new()).unwrap(), None);
        device.check_validation().unwrap();
    }

    #[test]
    fn pairs_are_the_same_from_both_ends() {
        for (scene, kind, steps) in [
            ("snow_drop_linked", "link", 2),
            ("viscoelastic_springs", "spring", 2),
            ("column_collapse", "contact", 1000),
        ] {
            let device = own_device();
            let half = ["scale=0.5".to_owned()];
            let mut simulation = Simulation::new(&device, Scene::find(scene, &half).unwrap()).unwrap();
            let mut recorder = device.recorder().unwrap();
            simulation.record_steps(&mut recorder, steps);
            simulation.solver.record_output(&mut recorder);
            device.submit(recorder).unwrap();
            let n = simulation.n_particles as u32;
            let pairs_of = |id: u32| simulation.pairs_of(id).unwrap();
            assert_eq!(pairs_of(n + 5), []);
            let (mut n_ids, mut n_found) = (0, 0);
            for id in (0..n).step_by(1 + n as usize / 20) {
                n_ids += 1;
                for pair in pairs_of(id) {
                    let Partner::Particle(other) = pair.partner else { continue };
                    assert_eq!(pair.kind, kind);
                    let back = Pair { partner: Partner::Particle(id), ..pair };
                    assert!(pairs_of(other).contains(&back), "{scene}: {id} has {pair:?}");
                    n_found += 1;
                }
            }
            assert!(n_found >= n_ids, "{scene}: {n_found} pairs of {n_ids} particles");
            device.check_validation().unwrap();
        }
    }

    #[test]
    fn pairs_are_grouped_by_kind_with_the_names_of_bodies_and_walls() {
        let pair = |kind, partner, rest_length_m| Pair { kind, partner, rest_length_m };
        let groups = PairsOfKind::group(
            &[
                pair("contact", Partner::Particle(7), None),
                pair("link", Partner::Particle(3), Some(0.0125)),
                pair("contact", Partner::Wall(4), None),
                pair("contact", Partner::Body(1), None),
                pair("contact", Partner::Piece(9), None),
            ],
            &["floor".to_owned(), "plow".to_owned()],
        );
        let text = |text: &str| (text.to_owned(), None);
        let expected = [
            ("4 contacts", vec![("7".to_owned(), Some(7)), text("wall ymax"), text("plow"), text("piece 9")]),
            ("1 link", vec![("3: rest length 12.500 mm".to_owned(), Some(3))]),
        ];
        let expected = expected.map(|(title, partners)| PairsOfKind { title: title.to_owned(), partners });
        assert_eq!(groups, expected);
    }
}
