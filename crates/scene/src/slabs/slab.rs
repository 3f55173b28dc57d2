//! The `[[slabs]]`: plates of ice that break into pieces.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::loaded::Loaded;
use crate::{TriangleMesh, Vec3};

/// A plate of ice: convex rigid pieces, neighbours linked at the faces that they share until a load breaks the link.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Slab {
    /// What it is called in tables; no two have the same name.
    pub name: String,
    /// Its pieces.
    pub shape: SlabShape,
    /// Density in kg/m³; by default that of ice.
    #[serde(default = "Slab::default_density_kg_m3")]
    pub density_kg_m3: f64,
    /// Stress in Pa at which a link breaks in tension, over the area of the face that its pieces share.
    #[serde(default = "Slab::default_link_strength_pa")]
    pub link_strength_pa: f64,
    /// Stress in Pa at which it breaks along that face; by default that in tension.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link_shear_strength_pa: Option<f64>,
    /// Stiffness of each link in N/m across the face that its pieces share; by default four times that of grains.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link_stiffness_n_m: Option<f64>,
    /// Coefficient of friction on its pieces; by default that of walls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub friction: Option<f64>,
    /// Coefficient of restitution on its pieces; by default that of walls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub restitution: Option<f64>,
    /// Initial velocity in m/s.
    #[serde(default)]
    pub velocity_m_s: Vec3,
}

/// The pieces of a slab.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
#[non_exhaustive]
pub enum SlabShape {
    /// A flat rectangle that lies on the terrain: along the plane that fits it best below, no higher than it must.
    Plate {
        /// Its corner, `[x, y]` in m.
        origin_m: [f64; 2],
        /// Lengths of its edges along the slope in m.
        size_m: [f64; 2],
        /// Turn of the first edge about the up axis, counter-clockwise from x (east), in degrees.
        #[serde(default)]
        rotation_deg: f64,
        /// Thickness at right angles to the slope in m.
        thickness_m: f64,
        /// Pieces along both edges.
        pieces: [u32; 2],
        /// How far corners within the plate are from a regular pattern: this share of a piece, drawn at random; 0 to 0.2, at which all
        /// pieces are still convex.
        #[serde(default)]
        #[schemars(range(min = 0, max = 0.2))]
        irregularity: f64,
    },
    /// What closed, convex surfaces of triangles enclose; a file may hold more than one.
    Meshes {
        /// Paths of OBJ, STL or PLY files, from the scene's.
        paths: Vec<String>,
        /// Metres that one unit of the files is.
        #[serde(default = "one")]
        scale: f64,
        /// Where the files' origin is, in m.
        #[serde(default)]
        offset_m: Vec3,
        /// The surfaces, one a file.
        #[serde(skip)]
        meshes: Loaded<Vec<TriangleMesh>>,
    },
}

fn one() -> f64 {
    1.0
}

impl Slab {
    fn default_density_kg_m3() -> f64 {
        917.0
    }
    fn default_link_strength_pa() -> f64 {
        1e4
    }

    /// Stress in Pa at which a link breaks along its face.
    pub fn link_shear_strength_pa(&self) -> f64 {
        self.link_shear_strength_pa.unwrap_or(self.link_strength_pa)
    }
}

impl SlabShape {
    /// The name used in scene files.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Plate { .. } => "plate",
            Self::Meshes { .. } => "meshes",
        }
    }
}
