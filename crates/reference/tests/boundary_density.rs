//! Boundary densities of bodies, compared with the kernel's integral over the solid, summed on a lattice of
//! some 30 000 points.

use frazil_reference::bodies::{Body, Motion, Shape};
use frazil_reference::uniform_bodies::Heights;
use glam::{DMat3, DQuat, DVec3};

const H: f64 = 0.04;

/// Error of the sums: that of a plane is below it.
const LATTICE: f64 = 4e-3;

/// Returns the maximum error of boundary densities at `points`, and its position.
fn worst(body: &Body, points: &[DVec3]) -> (f64, DVec3) {
    let error = |x: &DVec3| {
        let (density, _) = body.boundary_density(*x, 0.0, H, 1.0);
        ((density - body.boundary_density_on_lattice(*x, 0.0, H)).abs(), *x)
    };
    points.iter().map(error).max_by(|a, b| a.0.total_cmp(&b.0)).unwrap_or_default()
}

/// Returns points at distances of a quarter of h (where particles rest), a half and three quarters from
/// points of a surface along its normals.
fn out_of(surface: impl IntoIterator<Item = (DVec3, DVec3)>) -> Vec<DVec3> {
    let out = |(x, normal): (DVec3, DVec3)| [0.25, 0.5, 0.75].map(|q| x + q * H * normal);
    surface.into_iter().flat_map(out).collect()
}

fn container(shape: Shape) -> Body {
    Body { is_container: true, ..Body::new(shape) }
}

#[test]
fn planes_and_spheres_are_exact() {
    let tilted = DVec3::new(0.6, 0.8, 0.0);
    let plane = Body::new(Shape::Plane(DVec3::ZERO, tilted));
    assert!(worst(&plane, &out_of([(DVec3::ZERO, tilted)])).0 < LATTICE);
    // From smaller than the kernel to much larger.
    for radius in [0.2, 0.4, 1.0, 3.0, 20.0] {
        let sphere = Body::new(Shape::Sphere(DVec3::ZERO, radius * H));
        let points = out_of([(radius * H * tilted, tilted)]);
        assert!(worst(&sphere, &points).0 < LATTICE, "{radius}: {:?}", worst(&sphere, &points));
        if radius > 1.0 {
            let hollow = container(Shape::Sphere(DVec3::ZERO, radius * H));
            let points = out_of([(radius * H * tilted, -tilted)]);
            assert!(worst(&hollow, &points).0 < LATTICE, "{radius}: {:?}", worst(&hollow, &points));
        }
    }
}

#[test]
fn cylinders_and_capsules_are_right_to_first_order_of_their_curvature() {
    let axis = DVec3::new(0.0, 0.6, 0.8);
    let side = DVec3::X;
    // Errors decrease with the square of the curvature, down to the error of the sums.
    for (radius, bound) in [(0.5, 0.006), (1.0, 0.005), (2.0, 0.005)] {
        let (r, half) = (radius * H, 3.0 * H * axis);
        let outside = out_of([(r * side, side), (half + r * axis, axis)]);
        let capsule = Body::new(Shape::Capsule(DVec3::ZERO, half, r));
        let cylinder = Body::new(Shape::Cylinder(DVec3::ZERO, half, r));
        let found = [worst(&capsule, &outside), worst(&cylinder, &out_of([(r * side, side)]))];
        assert!(found.iter().all(|f| f.0 < bound), "{radius}: {found:?}");
        if radius > 1.0 {
            let inside = out_of([(r * side, -side)]);
            for shape in [Shape::Capsule(DVec3::ZERO, half, r), Shape::Cylinder(DVec3::ZERO, half, r)] {
                assert!(worst(&container(shape), &inside).0 < bound);
            }
        }
    }
}

/// Returns points around an edge and a corner at the origin, of a solid that lies in negative directions.
fn about_edge() -> Vec<DVec3> {
    let along = |angle: f64, z: f64| DVec3::new(angle.cos(), angle.sin(), z);
    let mut points = Vec::new();
    for step in 0..7 {
        let angle = (-60.0 + 35.0 * f64::from(step)).to_radians();
        for q in [0.25, 0.5, 0.75] {
            points.push(q * H * along(angle, -3.0 / q));
            points.push(q * H * along(angle, 0.0));
        }
    }
    points.push(0.25 * H * DVec3::ONE);
    points
}

#[test]
fn edges_and_corners_are_products_of_faces() {
    let rotation = DMat3::from_rotation_y(0.4) * DMat3::from_rotation_x(0.7);
    let half = DVec3::splat(4.0 * H);
    let solid = Body::new(Shape::Box(rotation * -half, half, rotation));
    let points: Vec<DVec3> = about_edge().into_iter().map(|x| rotation * x).collect();
    let outside: Vec<DVec3> =
        points.iter().copied().filter(|x| solid.distance_m(*x, 0.0).0 > 0.2 * H).collect();
    assert!(outside.len() > 20);
    let found = worst(&solid, &outside);
    assert!(found.0 < 0.008, "{found:?}");
    // In the corner of a container.
    let hollow = container(Shape::Box(rotation * half, half, rotation));
    let inside: Vec<DVec3> =
        points.iter().copied().filter(|x| hollow.distance_m(*x, 0.0).0 > 0.2 * H).collect();
    assert!(!inside.is_empty());
    let found = worst(&hollow, &inside);
    assert!(found.0 < 0.008, "{found:?}");
    // A plate thinner than the kernel, and a post.
    for half in [DVec3::new(3.0, 0.2, 3.0), DVec3::new(0.3, 3.0, 0.3)] {
        let body = Body::new(Shape::Box(DVec3::ZERO, H * half, DMat3::IDENTITY));
        let found = worst(&body, &out_of([(H * half * DVec3::X, DVec3::X), (H * half * DVec3::Y, DVec3::Y)]));
        assert!(found.0 < 0.008, "{half}: {found:?}");
    }
}

#[test]
fn heightfields_count_their_relief() {
    // A valley, a ridge, and a slope with waves: between columns of heights 0.75 h apart, in y.
    let spacing_m = 0.75 * H;
    let field = |height: &dyn Fn(f64) -> f64| {
        let row: Vec<f64> = (0..41).map(|i| H * height(0.75 * f64::from(i - 20))).collect();
        let origin_m = [-20.0 * spacing_m; 2];
        Body::new(Shape::Heightfield(Heights { origin_m, spacing_m, heights_m: vec![row; 41] }, 1))
    };
    let fields = [
        ("valley", field(&|x| 0.5 * x.abs())),
        ("ridge", field(&|x| -0.5 * x.abs())),
        ("waves", field(&|x| 0.3 * (1.5 * x).sin() - 0.4 * x)),
        ("slope", field(&|x| 0.6 * x)),
    ];
    let tangent = |body: &Body, x: DVec3| {
        let (distance, normal) = body.distance_m(x, 0.0);
        Body::new(Shape::Plane(x - distance * normal, normal)).boundary_density(x, 0.0, H, 1.0).0
    };
    for (name, body) in fields {
        let points: Vec<DVec3> = (-12..=12)
            .flat_map(|i| {
                let x = 0.15 * H * f64::from(i);
                let floor = -body.distance_m(DVec3::new(x, 0.0, 0.0), 0.0).0;
                [0.3, 0.5, 0.8].map(|q| DVec3::new(x, 1.2 * floor + q * H, 0.0))
            })
            .filter(|x| (0.2 * H..H).contains(&body.distance_m(*x, 0.0).0))
            .collect();
        let found = worst(&body, &points);
        let of_plane = points
            .iter()
            .map(|x| (tangent(&body, *x) - body.boundary_density_on_lattice(*x, 0.0, H)).abs())
            .fold(0.0, f64::max);
        println!("{name}: {:.4}, as a tangent plane {of_plane:.4}", found.0);
        assert!(found.0 < 0.02, "{name}: {found:?}, as a tangent plane {of_plane}");
    }
}

/// Returns bodies of all kinds, rotated and moving.
fn all() -> Vec<Body> {
    let (axis, half) = (DVec3::new(0.3, 0.5, 0.2).normalize(), DVec3::new(0.06, 0.05, 0.08));
    let rotation = DMat3::from_rotation_z(0.4) * DMat3::from_rotation_x(0.7);
    let shapes = [
        Shape::Sphere(DVec3::ZERO, 0.07),
        Shape::Box(DVec3::ZERO, half, rotation),
        Shape::Cylinder(DVec3::ZERO, 0.05 * axis, 0.06),
        Shape::Capsule(DVec3::ZERO, 0.05 * axis, 0.06),
    ];
    let keys = vec![
        (0.0, DVec3::ZERO, DQuat::IDENTITY),
        (1.0, DVec3::new(0.01, 0.02, 0.0), DQuat::from_rotation_x(0.8)),
    ];
    let motions = [
        None,
        Some(Motion::Spinning(DVec3::new(0.01, 0.0, 0.0), DVec3::new(0.5, 2.0, -1.0), [0.0, 9.0])),
        Some(Motion::Keyframed(DVec3::ZERO, keys)),
    ];
    let each = |shape: &Shape, motion: &Option<Motion>| {
        [false, true].map(|is_container| Body {
            is_container,
            motion: motion.clone(),
            ..Body::new(shape.clone())
        })
    };
    shapes.iter().flat_map(|shape| motions.iter().flat_map(move |motion| each(shape, motion))).collect()
}

#[test]
fn gradients_are_derivatives_of_densities_and_velocities_those_of_poses() {
    let step = 1e-6;
    let time_s = 0.6;
    let mut n_near = 0;
    for body in all() {
        for i in 0..400 {
            let at = |k: u32| f64::from(i * (7 + 4 * k) % 41) / 41.0 - 0.5;
            let x = 0.3 * DVec3::new(at(0), at(1), at(2));
            let (distance, normal) = body.distance_m(x, time_s);
            // The curvature of capsules changes with the position near their caps, which their gradient
            // neglects.
            let is_capsule = matches!(body.shape, Shape::Capsule(..));
            if !(0.005..0.9 * H).contains(&distance) || is_capsule {
                continue;
            }
            n_near += 1;
            let (_, gradient) = body.boundary_density(x, time_s, H, 1.0);
            for axis in DVec3::AXES {
                let density = |x: DVec3| body.boundary_density(x, time_s, H, 1.0).0;
                let slope = H * (density(x + step * axis) - density(x - step * axis)) / (2.0 * step);
                assert!((slope - gradient.dot(axis)).abs() < 1e-4, "{body:?} at {x}: {slope} {gradient}");
            }
            // A point that moves with the body keeps its distance.
            let velocity = body.velocity_m_s(x, time_s);
            let (later, _) = body.distance_m(x + step * velocity, time_s + step);
            let is_smooth = !matches!(body.shape, Shape::Box(..));
            assert!((later - distance).abs() < 1e-9 || !is_smooth, "{body:?} at {x}: {distance} {later}");
            assert!((normal.length() - 1.0).abs() < 1e-9);
        }
    }
    assert!(n_near > 300, "{n_near}");
}
