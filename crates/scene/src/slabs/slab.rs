//! The `[[dem.slabs]]` tables: plates of ice that break into pieces.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::loaded::Loaded;
use crate::properties::items_above_zero;
use crate::{TriangleMesh, Vec3};

/// A plate of ice: convex rigid pieces, neighbours linked at their shared faces until a load breaks the link.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Slab {
    /// Name in tables; unique among slabs.
    pub name: String,
    /// Shape of the pieces.
    pub shape: SlabShape,
    /// Density in kg/m³; by default that of ice.
    #[serde(default = "Slab::default_density_kg_m3")]
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub density_kg_m3: f64,
    /// Tensile strength of a link in Pa, over the area of the face that its pieces share.
    #[serde(default = "Slab::default_link_strength_pa")]
    #[schemars(range(min = 0))]
    pub link_strength_pa: f64,
    /// Shear strength of a link in Pa, along that face; by default the tensile strength.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub link_shear_strength_pa: Option<f64>,
    /// Stiffness of each link in N/m, normal to the face that its pieces share; by default four times that of
    /// grains.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub link_stiffness_n_m: Option<f64>,
    /// Coefficient of friction of its pieces; by default that of walls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 100))]
    pub friction: Option<f64>,
    /// Coefficient of restitution of its pieces; by default that of walls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = 1), extend("exclusiveMinimum" = 0))]
    pub restitution: Option<f64>,
    /// Initial velocity in m/s.
    #[serde(default)]
    pub velocity_m_s: Vec3,
}

/// Pieces of a slab.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
#[non_exhaustive]
pub enum SlabShape {
    /// A flat rectangle on the terrain: along the plane that fits it best, no higher than necessary.
    Plate {
        /// Corner of the plate, `[x, y]` in m.
        origin_m: [f64; 2],
        /// Lengths of its edges along the slope in m.
        #[schemars(transform = items_above_zero)]
        size_m: [f64; 2],
        /// Rotation of the first edge about the up axis, counter-clockwise from x (east), in degrees.
        #[serde(default)]
        #[schemars(range(min = -360, max = 360))]
        rotation_deg: f64,
        /// Thickness perpendicular to the slope in m.
        #[schemars(extend("exclusiveMinimum" = 0))]
        thickness_m: f64,
        /// Number of pieces along both edges.
        #[schemars(inner(range(min = 1, max = 256)))]
        pieces: [u32; 2],
        /// Random displacement of corners within the plate from a regular pattern, as a share of a piece. At
        /// the maximum all pieces are still convex.
        #[serde(default)]
        #[schemars(range(min = 0, max = 0.2))]
        irregularity: f64,
    },
    /// The regions enclosed by closed, convex surfaces of triangles; a file may hold more than one.
    Meshes {
        /// Paths of OBJ, STL or PLY files, relative to the scene file.
        paths: Vec<String>,
        /// Length of one unit of the files in m.
        #[serde(default = "one")]
        #[schemars(extend("exclusiveMinimum" = 0))]
        scale: f64,
        /// Position of the files' origin, in m.
        #[serde(default)]
        offset_m: Vec3,
        /// The loaded surfaces, one for each file.
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

    /// Returns the shear strength of a link in Pa.
    pub fn link_shear_strength_pa(&self) -> f64 {
        self.link_shear_strength_pa.unwrap_or(self.link_strength_pa)
    }
}

impl SlabShape {
    /// Returns the name used in scene files.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Plate { .. } => "plate",
            Self::Meshes { .. } => "meshes",
        }
    }
}
