//! Images of an avalanche in the three schemes of Gucer2010 (table 4.1).

use crate::axis::{Axis, Domain, Point, Value};
use crate::bench::{Bench, DeviceWorkload, Difference, Prepared, Work};
use crate::error::Result;
use frazil_kernels::Counts;
use frazil_render::glam::{Vec3, vec3};
use frazil_render::{
    Coloring, Frame, Material, OrbitCamera, ParticleSurface, Particles, PieceShapes, Pieces, Projection,
    Radius, Renderer, Shading, SurfaceOptions, UpAxis,
};
use frazil_vk::{Buffer, Device, DeviceCount, ReadbackRing, Recorder};

/// Bench of the schemes; elements are particles.
pub struct Scheme;

const SCHEMES: &[&str] = &["sprites", "surface", "surface_and_slabs"];
/// Number of pieces of ice, as in Gucer2010.
const PIECES: usize = 232;
const PICTURE_ASPECT: (u64, u64) = (16, 9);
/// Background colour.
const BACKGROUND: [f32; 3] = [0.25, 0.5, 0.75];
/// Colour that images are overwritten with before a run.
const POISON_COLOUR: [f32; 3] = [1.0, 0.0, 1.0];
const SNOW: [f32; 3] = [0.96, 0.97, 0.99];
const ICE: [f32; 3] = [0.62, 0.79, 0.90];
/// Particle radius: particles are a metre apart, and fill space.
const RADIUS_M: f32 = 0.5;
const LEVEL: f32 = 0.35;

struct Workload {
    places: Vec<Vec3>,
    renderer: Renderer,
    camera: OrbitCamera,
    position: Buffer<[f32; 3]>,
    count: DeviceCount,
    surface: Option<ParticleSurface>,
    ice: Option<Ice>,
    ring: ReadbackRing,
}

struct Ice {
    shapes: PieceShapes,
    centre: Buffer<[f32; 3]>,
    rotation: Buffer<[f32; 4]>,
    places: Vec<Vec3>,
    /// Distance from the centre of a plate to its farthest point, in m.
    reach_m: f32,
}

/// Makes a body four times as long and wide as high, with slight disorder; each fiftieth particle flies above
/// it.
fn avalanche(n: usize) -> (Vec3, Vec<Vec3>) {
    let height = (n as f64 / 16.0).cbrt().ceil().max(1.0) as usize;
    let side = 4 * height;
    let place = |i: usize| {
        let mut bits = (i as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        bits ^= bits >> 29;
        let jitter = |axis: u32| 0.3 * ((bits >> (16 * axis) & 0xffff) as f32 / 65536.0 - 0.5);
        let [x, y, z] = [i % side, i / side % side, i / side / side];
        let flies = i % 50 == 49;
        let up = if flies { height as f32 + 3.0 + (bits % 7) as f32 } else { 0.0 };
        vec3(x as f32 + jitter(0), y as f32 + jitter(1), z as f32 + jitter(2) + up) + Vec3::splat(0.5)
    };
    (vec3(side as f32, side as f32, 2.0 * height as f32 + 10.0), (0..n).map(place).collect())
}

impl Bench for Scheme {
    fn id(&self) -> &'static str {
        "render.scheme"
    }

    fn about(&self) -> &'static str {
        "a picture of an avalanche: sprites; the surface found and drawn, with spray; the same with 232 \
         pieces of ice"
    }

    fn axes(&self) -> Vec<Axis> {
        let counts = [128_000, 256_000, 512_000, 1_024_000];
        vec![
            Axis::integers("count", Domain::Integers(0, 1 << 24), &counts, &[1_000]),
            Axis::names("scheme", SCHEMES, SCHEMES, SCHEMES),
            Axis::integers("height_px", Domain::Integers(16, 4096), &[720], &[90]),
        ]
    }

    fn prepare(&self, device: &Device, point: &Point) -> Result<Prepared> {
        let (n, height) = (point.count()?, point.integer("height_px")?);
        let (extent, places) = avalanche(n);
        let width = (height * PICTURE_ASPECT.0 / PICTURE_ASPECT.1) as u32;
        let renderer = Renderer::new(device, width, height as u32)?;
        let mut camera = OrbitCamera {
            azimuth_deg: 25.0,
            elevation_deg: 35.0,
            up_axis: UpAxis::Z,
            // Without perspective, the expected content of an image is known to the pixel.
            projection: Projection::Orthographic,
            ..OrbitCamera::default()
        };
        camera.frame_box(Vec3::ZERO, extent, width as f32 / height as f32);
        let is = |name: &str| point.get("scheme") == Some(&Value::Name(name.to_owned()));
        let positions: Vec<[f32; 3]> = places.iter().map(Vec3::to_array).collect();
        let position = device.buffer_from("position", &positions)?;
        let count = Counts::new(device)?.upload(device, "count", n as u32, (n as u32).max(1))?;
        let surface = if is("sprites") {
            None
        } else {
            let options = SurfaceOptions {
                min_m: [0.0; 3],
                max_m: extent.to_array(),
                cell_m: 1.0,
                particle_mass_kg: 1.0,
                level_kg_m3: LEVEL,
            };
            let mut surface = ParticleSurface::new(device, n as u32, options)?;
            surface.find(&count, &position)?;
            Some(surface)
        };
        let ice = if is("surface_and_slabs") { Some(Ice::new(device, extent)?) } else { None };
        let ring = ReadbackRing::new(device);
        Ok(Prepared::Device(Box::new(Workload {
            places,
            renderer,
            camera,
            position,
            count,
            surface,
            ice,
            ring,
        })))
    }
}

impl Ice {
    /// Makes plates over the body, each with its own rotation.
    fn new(device: &Device, extent: Vec3) -> Result<Self> {
        // Large enough that even the smallest image has a pixel in the middle of each plate.
        let size = vec3(0.12 * extent.x, 0.12 * extent.x, 0.02 * extent.x);
        let corners: Vec<[f32; 3]> = (0..8)
            .map(|i| vec3((i & 1) as f32, (i >> 1 & 1) as f32, (i >> 2) as f32))
            .map(|unit| ((unit - 0.5) * size).to_array())
            .collect();
        let faces: Vec<Vec<u32>> =
            [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]]
                .map(Vec::from)
                .to_vec();
        let shapes = PieceShapes::new(device, (0..PIECES).map(|_| (corners.clone(), faces.as_slice())))?;
        let places: Vec<Vec3> = (0..PIECES)
            .map(|i| extent * vec3((i % 4) as f32 / 8.0 + 0.1, (i / 4) as f32 / 60.0 + 0.02, 0.9))
            .collect();
        let turned = |i: usize| {
            let (sine, cosine) = (0.1 * i as f32).sin_cos();
            [0.0, 0.0, sine, cosine]
        };
        let centres: Vec<[f32; 3]> = places.iter().map(Vec3::to_array).collect();
        let rotations: Vec<[f32; 4]> = (0..PIECES).map(turned).collect();
        Ok(Self {
            shapes,
            centre: device.buffer_from("slab centres", &centres)?,
            rotation: device.buffer_from("slab rotations", &rotations)?,
            places,
            reach_m: 0.5 * size.length(),
        })
    }
}

impl Workload {
    /// Returns the pixels that must be drawn, and the distance in pixels from all of them beyond which
    /// nothing may be drawn.
    ///
    /// A particle is inside the surface, which hides it, or it is drawn as a sphere: at its centre, something
    /// is visible. A surface is less than two cells away from some particle.
    fn expected(&self) -> (Vec<[u32; 2]>, f32) {
        let (width, height) = self.renderer.size();
        let ice = self.ice.iter().flat_map(|ice| &ice.places);
        let seen = self.places.iter().chain(ice).filter_map(|place| {
            let (pixel, _) = self.camera.project(*place, width, height)?;
            Some([pixel.x as u32, pixel.y as u32]).filter(|[x, y]| *x < width && *y < height)
        });
        let px_per_m = 0.5 * height as f32
            / (self.camera.distance_m * (0.5 * self.camera.vertical_fov_deg.to_radians()).tan());
        let reach_m = if self.surface.is_some() { 2.0 } else { RADIUS_M };
        let ice_m = self.ice.as_ref().map_or(0.0, |ice| ice.reach_m);
        (seen.collect(), px_per_m * reach_m.max(ice_m) + 2.0)
    }
}

impl DeviceWorkload for Workload {
    fn work(&self) -> Work {
        let n = self.places.len() as u64;
        Work { elements: n, bytes_minimum: 12 * n }
    }

    fn poison(&mut self, recorder: &mut Recorder) {
        let empty = Frame { camera: self.camera, background: POISON_COLOUR, ..Frame::default() };
        // An empty image cannot fail.
        drop(self.renderer.record(recorder, &empty));
    }

    fn record(&mut self, recorder: &mut Recorder) -> Result<()> {
        let coloring = Coloring::Uniform(SNOW);
        let all = Particles {
            positions: &self.position,
            count: &self.count,
            max_count: u32::MAX,
            radius: Radius::Uniform(RADIUS_M),
            coloring,
            shading: Shading::Sunlit,
        };
        let (particles, mesh) = match &self.surface {
            None => (all, None),
            Some(surface) => {
                surface.record(recorder, &self.count, &self.position)?;
                let (positions, count) = (surface.spray(), surface.spray_count());
                let spray = Particles { positions, count, max_count: surface.found().spray, ..all };
                (spray, Some(surface.mesh(Material::Snow, SNOW)))
            }
        };
        let pieces = self.ice.as_ref().map(|ice| Pieces {
            shapes: &ice.shapes,
            centre: &ice.centre,
            rotation: &ice.rotation,
            color: ICE,
        });
        let frame = Frame {
            camera: self.camera,
            background: BACKGROUND,
            particles: &[particles],
            meshes: mesh.as_slice(),
            pieces: pieces.as_slice(),
            occlusion: 0.4,
            ..Frame::default()
        };
        Ok(self.renderer.record(recorder, &frame)?)
    }

    fn verify(&self, device: &Device) -> Result<Option<Difference>> {
        let mut recorder = device.recorder()?;
        let pending = self.ring.read_image(&mut recorder, self.renderer.image())?;
        device.submit(recorder)?;
        let pixels = pending.wait()?;
        let (width, height) = self.renderer.size();
        let nothing = BACKGROUND.map(|component| (255.0 * component).round() as u8);
        let is_drawn = |[x, y]: [u32; 2]| {
            let [r, g, b, _] = pixels[(y * width + x) as usize].to_le_bytes();
            // The display's rounding is the device's.
            [r, g, b].iter().zip(nothing).any(|(found, nothing)| found.abs_diff(nothing) > 1)
        };
        let (seen, reach_px) = self.expected();
        // Within a pixel: the rim of a body may be visible beside the middle of its pixel.
        let is_drawn_near = |[x, y]: &[u32; 2]| {
            let rows = y.saturating_sub(1)..(y + 2).min(height);
            let mut around =
                rows.flat_map(|b| (x.saturating_sub(1)..(x + 2).min(width)).map(move |a| [a, b]));
            around.any(is_drawn)
        };
        if let Some(missing) = seen.iter().find(|pixel| !is_drawn_near(pixel)) {
            return Ok(Some(Difference(format!(
                "nothing is drawn at pixel {missing:?}, where a particle or a piece is"
            ))));
        }
        let mut is_near = vec![false; (width * height) as usize];
        let reach = reach_px.ceil() as u32;
        // One centre per pixel: all of them would be compared millions of times.
        let centres: std::collections::BTreeSet<[u32; 2]> = seen.into_iter().collect();
        for [x, y] in centres {
            for b in y.saturating_sub(reach)..(y + reach + 1).min(height) {
                let row = (b * width) as usize;
                let (from, to) = (x.saturating_sub(reach) as usize, (x + reach + 1).min(width) as usize);
                is_near[row + from..row + to].fill(true);
            }
        }
        let stray = (0..height).flat_map(|y| (0..width).map(move |x| [x, y]));
        let mut stray = stray.filter(|[x, y]| !is_near[(y * width + x) as usize]);
        Ok(stray.find(|pixel| is_drawn(*pixel)).map(|pixel| {
            Difference(format!(
                "something is drawn at pixel {pixel:?}, where neither a particle nor a piece is near"
            ))
        }))
    }
}
