//! Properties by which particles are coloured: columns, and values derived from them.

use frazil_particles::{ColumnKind, ColumnView, Display, Material, ParticleSet, SetInfo};
use frazil_render::Column;
use frazil_scene::{Scene, SceneError, nearest};
use frazil_vk::{Buffer, Device};

/// Colour by material (snow or water): the only property without a number.
pub const PHASE: &str = "phase";
/// Magnitude of the velocity.
const SPEED: &str = "speed";
/// Position along the up axis, from the domain's floor.
const HEIGHT: &str = "height";
const COMPONENTS: [&str; 3] = ["x", "y", "z"];

/// Display-encoded colours of snow and of water, for colouring by material.
const SNOW_COLOUR: [f32; 3] = [0.94, 0.96, 0.99];
pub const WATER_COLOUR: [f32; 3] = [0.13, 0.42, 0.72];

/// Returns the display-encoded colour of a material.
pub fn material_colour(material: Material) -> [f32; 3] {
    if material == Material::Water { WATER_COLOUR } else { SNOW_COLOUR }
}

/// A number that each particle of a set has, with the text of its legend.
pub struct Property {
    pub values: Values,
    pub title: String,
    /// Unit, or an empty string.
    pub unit: String,
    pub display: Display,
}

/// Values of a property on the device.
pub enum Values {
    Scalar(Buffer<f32>),
    /// Magnitude of a vector.
    Vector(Buffer<[f32; 3]>),
    Index(Buffer<u32>),
    /// One component of a vector, minus an origin.
    Component {
        numbers: Buffer<f32>,
        stride: u32,
        index: u32,
        origin: f32,
    },
}

/// Range of heights of a scene: axis, origin and extent.
#[derive(Clone, Copy)]
pub struct Heights {
    axis: usize,
    floor_m: f32,
    extent_m: f32,
}

impl Heights {
    pub fn of(scene: &Scene) -> Self {
        let axis = scene.up_axis.index();
        let (floor_m, top_m) = (scene.domain.min_m[axis], scene.domain.max_m[axis]);
        Self { axis, floor_m: floor_m as f32, extent_m: (top_m - floor_m) as f32 }
    }
}

/// Lists the names that particles with these columns can be coloured by: first derived values, then
/// the columns, then components of vectors.
pub fn names<'a>(
    columns: impl Iterator<Item = (&'a str, ColumnKind)> + Clone,
    has_phases: bool,
) -> Vec<String> {
    let is_there = |name: &str| columns.clone().any(|column| column == (name, ColumnKind::Vec3));
    let derived = [(PHASE, has_phases), (SPEED, is_there("velocity")), (HEIGHT, is_there("position"))];
    let derived = derived.into_iter().filter(|(_, is_there)| *is_there).map(|(name, _)| name.to_owned());
    let plain = columns.clone().filter(|(_, kind)| !matches!(kind, ColumnKind::Matrix(_)));
    let vectors = columns.clone().filter(|(_, kind)| *kind == ColumnKind::Vec3);
    let components = vectors.flat_map(|(name, _)| COMPONENTS.map(|component| format!("{name}.{component}")));
    let mut names: Vec<String> =
        derived.chain(plain.map(|(name, _)| name.to_owned())).chain(components).collect();
    // A column may have the name of a derived value.
    let mut known = std::collections::HashSet::new();
    names.retain(|name| known.insert(name.clone()));
    names
}

/// Returns an error for a scene whose pictures show a column that its solver does not have. A solver that
/// does not describe its columns is queried once it exists.
pub fn check(scene: &Scene) -> Result<(), SceneError> {
    let infos = frazil_solvers::set_infos(scene, 0);
    let Some(first) = infos.first() else { return Ok(()) };
    let columns = first.columns.iter().map(|column| (column.name, column.kind));
    let names = names(columns, infos.len() > 1);
    if names.contains(&scene.render.colour_by) {
        Ok(())
    } else {
        Err(unknown(scene, &scene.render.colour_by, &names))
    }
}

/// Creates the error that particles cannot be coloured by `name` but by `names` only.
pub fn unknown(scene: &Scene, name: &str, names: &[String]) -> SceneError {
    let known: Vec<&str> = names.iter().map(String::as_str).collect();
    let whole: Vec<&str> = known.iter().copied().filter(|name| !name.contains('.')).collect();
    let mut expected = frazil_scene::one_of(&whole);
    if let Some(component) = known.iter().find(|name| name.contains('.')) {
        expected += &format!(", or a component such as {component}");
    }
    if let Some(nearest) = nearest(name, &known) {
        expected += &format!("; did you mean {nearest}?");
    }
    scene.value_error("render.colour_by", format!("\"{name}\""), expected)
}

/// Finds the property of a name, if the set has it; `info` is the solver's description of the set.
pub fn find(set: &ParticleSet<'_>, info: Option<&SetInfo>, name: &str, heights: Heights) -> Option<Property> {
    let stated = |column: &ColumnView| {
        let by_solver = || info?.columns.iter().find(|stated| column.name == stated.name);
        column.display.or_else(|| by_solver().map(|stated| stated.display)).unwrap_or_default()
    };
    let whole = |column: &ColumnView| {
        let words = &column.words;
        let values = match column.kind {
            ColumnKind::F32 => Values::Scalar(words.cast()),
            ColumnKind::Vec3 => Values::Vector(words.cast()),
            ColumnKind::U32 => Values::Index(words.clone()),
            ColumnKind::Component { stride, index } => {
                Values::Component { numbers: words.cast(), stride, index, origin: 0.0 }
            }
            ColumnKind::Matrix(_) => return None,
        };
        let display = stated(column);
        let title = display.title.unwrap_or(&column.name).to_owned();
        let unit = display.unit.unwrap_or(&column.unit);
        let unit = if unit == "1" { String::new() } else { unit.to_owned() };
        Some(Property { values, title, unit, display })
    };
    let vector = |name: &str| set.column(name).filter(|column| column.kind == ColumnKind::Vec3);
    if let Some(column) = set.column(name) {
        return whole(column);
    }
    match name {
        SPEED => Some(Property { title: SPEED.to_owned(), ..whole(vector("velocity")?)? }),
        HEIGHT => {
            let numbers = vector("position")?.words.cast();
            let (index, origin) = (heights.axis as u32, heights.floor_m);
            let values = Values::Component { numbers, stride: 3, index, origin };
            let display = Display::up_to(heights.extent_m);
            Some(Property { values, title: HEIGHT.to_owned(), unit: "m".to_owned(), display })
        }
        _ => {
            let (column, component) = name.rsplit_once('.')?;
            let index = COMPONENTS.iter().position(|known| *known == component)? as u32;
            let column = vector(column)?;
            let values = Values::Component { numbers: column.words.cast(), stride: 3, index, origin: 0.0 };
            // Symmetric about 0, up to the maximum magnitude.
            let range = stated(column).range.map(|[_, max]| [-max, max]);
            let display = Display { range, ..stated(column) }.diverging();
            Some(Property { values, title: name.to_owned(), display, ..whole(column)? })
        }
    }
}

impl Values {
    pub fn column(&self) -> Column<'_> {
        match self {
            Self::Scalar(values) => Column::Scalar(values),
            Self::Vector(values) => Column::Vector(values),
            Self::Index(values) => Column::Index(values),
            &Self::Component { ref numbers, stride, index, origin } => {
                Column::Component { numbers, stride, index, origin }
            }
        }
    }

    /// Downloads the first `n` values. It waits for the device.
    pub fn download(&self, device: &Device, n: usize) -> frazil_vk::Result<Vec<f32>> {
        Ok(match self {
            Self::Scalar(values) => device.download(values, n)?,
            Self::Index(values) => {
                device.download(values, n)?.into_iter().map(|value| value as f32).collect()
            }
            Self::Vector(values) => {
                let length = |[x, y, z]: [f32; 3]| (x * x + y * y + z * z).sqrt();
                device.download(values, n)?.into_iter().map(length).collect()
            }
            &Self::Component { ref numbers, stride, index, origin } => {
                let stride = stride as usize;
                let numbers = device.download(numbers, n * stride)?;
                numbers.chunks_exact(stride).map(|element| element[index as usize] - origin).collect()
            }
        })
    }
}
