//! Loads the files of a scene's ground: maps, release areas, and the meshes of bodies and slabs.

use std::path::Path;
use std::sync::Arc;

use crate::check::Checker;
use crate::load::mesh_file::read_triangles;
use crate::load::polygon_file::{CompanionFiles, read_polygons};
use crate::loaded::{Loaded, Missing, read, read_bounded};
use crate::terrain::{MapProjection, Refusal, TerrainSource};
use crate::{
    BodyShape, MAX_BODY_TRIANGLES, Polygon, Release, ReleaseArea, Scene, SceneError, Slab, SlabShape,
    Terrain, TriangleMesh,
};

/// Description of polygon files for error messages.
const POLYGONS: &str = "a shapefile (.shp) or GeoJSON (.geojson) of polygons";
const MESHES: &str = "an OBJ, STL or PLY file of a closed surface";
const BODY_MESHES: &str =
    "a closed surface of triangles, each with an area, of which no part lies in another";

impl Scene {
    /// Reads the files that terrain, releases, bodies and slabs name. Paths are relative to
    /// `folder`, and become absolute.
    pub(crate) fn load_ground(&mut self, folder: Option<&Path>, missing: Missing) -> Result<(), SceneError> {
        let mut loaded = Ok(());
        if let Some(source) = &mut self.terrain {
            loaded = load_terrain(source, self.seed, folder, missing);
        }
        let terrain = self.terrain.as_ref().and_then(|source| source.terrain.shared());
        for (idx, release) in self.releases_mut().iter_mut().enumerate() {
            loaded = loaded.and_then(|()| load_release(release, idx, terrain.as_deref(), folder, missing));
        }
        for (idx, body) in self.bodies.iter_mut().enumerate() {
            if let BodyShape::Mesh { path, mesh, .. } = &mut body.shape {
                let key = format!("bodies.{idx}.shape.mesh.path");
                loaded = loaded.and_then(|()| load_body_mesh(path, mesh, &key, folder, missing));
            }
        }
        for (idx, slab) in self.slabs_mut().iter_mut().enumerate() {
            loaded = loaded.and_then(|()| load_slab(slab, idx, folder, missing));
        }
        let check = Checker::new(&self.source);
        loaded.or_else(|refusal| check.fail(&refusal.key, refusal.found, refusal.expected))
    }
}

fn load_terrain(
    source: &mut TerrainSource,
    scene_seed: u64,
    folder: Option<&Path>,
    missing: Missing,
) -> Result<(), Refusal> {
    let terrain = match (&mut source.file, &source.generated) {
        (Some(path), None) => {
            let bytes = match read(path, folder) {
                Ok(bytes) => bytes,
                Err(_) if missing == Missing::Accept => return Ok(()),
                Err(found) => return Err(Refusal::new("terrain.file", found, "a file")),
            };
            let path = path.clone();
            let terrain = source.read(&path, &bytes, beside(&path, "prj"))?;
            let checksum = terrain.checksum();
            if let Some(expected) = &source.checksum
                && *expected != checksum
            {
                return Err(Refusal::new(
                    "terrain.file",
                    format!("{path}: heights of checksum {checksum}"),
                    format!("those of checksum {expected}, which the scene was made with (terrain.checksum)"),
                ));
            }
            source.checksum = Some(checksum);
            terrain
        }
        // Sizes are checked before heights are allocated.
        (None, Some(generated)) => match generated.terrain(scene_seed) {
            Ok(terrain) => terrain,
            Err(_) => return Ok(()),
        },
        // Neither or both: validation refuses the scene.
        _ => return Ok(()),
    };
    source.set(terrain);
    Ok(())
}

fn load_release(
    release: &mut Release,
    idx: usize,
    terrain: Option<&Terrain>,
    folder: Option<&Path>,
    missing: Missing,
) -> Result<(), Refusal> {
    let key = format!("dem.releases.{idx}.polygons");
    let Some(path) = &mut release.polygons else { return Ok(()) };
    let bytes = match read(path, folder) {
        Ok(bytes) => bytes,
        Err(_) if missing == Missing::Accept => return Ok(()),
        Err(found) => return Err(Refusal::new(key, found, POLYGONS)),
    };
    // Without a terrain, validation refuses the release.
    let Some(terrain) = terrain else { return Ok(()) };
    let files = CompanionFiles {
        dbf: match other_file(path, "dbf").map(|path| read_bounded(&path)) {
            Some(Err(problem)) => {
                return Err(Refusal::new(key, format!("{path}: the .dbf beside it: {problem}"), POLYGONS));
            }
            table => table.and_then(Result::ok),
        },
        prj: beside(path, "prj"),
    };
    let file = read_polygons(Path::new(path), &bytes, files)
        .map_err(|problem| Refusal::new(&*key, format!("{path}: {problem}"), POLYGONS))?;
    let projection = file.projection.map(MapProjection::new);
    if let Some(problem) = projection.as_ref().and_then(MapProjection::problem) {
        let system = terrain.projection().map_or("that of the terrain".to_owned(), MapProjection::name);
        return Err(Refusal::new(
            key,
            format!("{path}: {problem}"),
            format!("the projection of the terrain, in metres: ogr2ogr -t_srs {system} new.shp old.shp"),
        ));
    }
    if let (Some(theirs), Some(ours)) = (&projection, terrain.projection())
        && theirs.is_same(ours) == Some(false)
    {
        return Err(Refusal::new(
            key,
            format!("{path}: the projection {}", theirs.name()),
            format!("that of the terrain, {}", ours.name()),
        ));
    }
    if let Some(projection) = projection {
        release.projection = Loaded::new(Arc::new(projection));
    }
    let mut areas = Vec::with_capacity(file.areas.len());
    for (area_idx, (polygon, thickness)) in file.areas.into_iter().enumerate() {
        let Some(thickness_m) = release.thickness_m.or(thickness) else {
            return Err(Refusal::new(
                format!("dem.releases.{idx}.thickness_m"),
                format!(
                    "nothing, and no attribute \"thickness\" or \"d0\" of polygon {} of {path}",
                    area_idx + 1
                ),
                "the thickness of the snow in metres in one of them",
            ));
        };
        let rings =
            polygon.rings.into_iter().map(|ring| ring.into_iter().map(|at| terrain.from_map_m(at)).collect());
        areas.push(ReleaseArea { polygon: Polygon { rings: rings.collect() }, thickness_m });
    }
    release.areas = Loaded::new(Arc::new(areas));
    Ok(())
}

/// Loads the mesh of a body, which must be fit for contact.
fn load_body_mesh(
    path: &mut String,
    mesh: &mut Loaded<TriangleMesh>,
    key: &str,
    folder: Option<&Path>,
    missing: Missing,
) -> Result<(), Refusal> {
    if let Some(found) = load_mesh(path, key, folder, missing)? {
        let n = found.triangles().len();
        if n > MAX_BODY_TRIANGLES {
            return Err(Refusal::new(key, format!("{path}: {n} triangles"), fewer_triangles(n)));
        }
        if let Some(problem) = found.contact_problem() {
            return Err(Refusal::new(key, format!("{path}: {problem}"), BODY_MESHES));
        }
        *mesh = Loaded::new(Arc::new(found));
    }
    Ok(())
}

/// Returns what is expected of a mesh of too many triangles, with the way there.
fn fewer_triangles(n: usize) -> String {
    let ratio = 0.99 * MAX_BODY_TRIANGLES as f64 / n as f64;
    format!(
        "up to {MAX_BODY_TRIANGLES} triangles: simplify the surface, for example by Blender's modifier Decimate \
         with a ratio of {ratio:.3}, or give its separate parts as bodies of their own"
    )
}

fn load_slab(slab: &mut Slab, idx: usize, folder: Option<&Path>, missing: Missing) -> Result<(), Refusal> {
    let SlabShape::Meshes { paths, meshes, .. } = &mut slab.shape else { return Ok(()) };
    let mut found = Vec::with_capacity(paths.len());
    for (path_idx, path) in paths.iter_mut().enumerate() {
        let key = format!("dem.slabs.{idx}.shape.meshes.paths.{path_idx}");
        match load_mesh(path, &key, folder, missing)? {
            Some(mesh) => found.push(mesh),
            None => return Ok(()),
        }
    }
    *meshes = Loaded::new(Arc::new(found));
    Ok(())
}

fn load_mesh(
    path: &mut String,
    key: &str,
    folder: Option<&Path>,
    missing: Missing,
) -> Result<Option<TriangleMesh>, Refusal> {
    let bytes = match read(path, folder) {
        Ok(bytes) => bytes,
        Err(_) if missing == Missing::Accept => return Ok(None),
        Err(found) => return Err(Refusal::new(key, found, MESHES)),
    };
    read_triangles(Path::new(path), &bytes)
        .and_then(|triangles| TriangleMesh::new(&triangles))
        .map(Some)
        .map_err(|problem| Refusal::new(key, format!("{path}: {problem}"), MESHES))
}

/// Returns the path of the file with the same name but another extension, if it exists.
fn other_file(path: &str, ending: &str) -> Option<std::path::PathBuf> {
    let names =
        [ending.to_owned(), ending.to_uppercase()].map(|ending| Path::new(path).with_extension(ending));
    names.into_iter().find(|name| name.is_file())
}

/// Returns the text of that file.
fn beside(path: &str, ending: &str) -> Option<String> {
    let bytes = read_bounded(&other_file(path, ending)?).ok()?;
    Some(String::from_utf8_lossy(&bytes).trim().to_owned())
}
