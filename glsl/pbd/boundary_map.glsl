// Boundary map of a mesh: the difference between its boundary density and that of its tangent plane, on a
// grid about the mesh, so that edges, corners and parts thinner than the kernel are represented. Zero where
// the surface is flat within the kernel. Made by crates/solvers/src/bodies/boundary_map.rs, in the manner of
// the volume maps of Bender2019.
//
// Layout in `body_data`: the lower corner of the grid relative to the mesh's middle (three numbers), the
// distance between nodes, the numbers of nodes along the axes (three), then the values, x fastest.

const uint BOUNDARY_MAP_HEADER_FLOATS = 7u;

// Returns the gradient per m (xyz) and the value (w) of a map at a position relative to the mesh's middle,
// trilinear between nodes.
vec4 boundary_map_at(uint first, vec3 x_m) {
    vec3 lower_m = vec3(body_data[first], body_data[first + 1u], body_data[first + 2u]);
    float cell_m = body_data[first + 3u];
    uvec3 n = uvec3(body_data[first + 4u], body_data[first + 5u], body_data[first + 6u]);
    vec3 at = (x_m - lower_m) / cell_m;
    vec3 last = vec3(n - 1u);
    if (any(lessThan(at, vec3(0.0))) || any(greaterThanEqual(at, last))) return vec4(0.0);
    uvec3 low = uvec3(at);
    vec3 t = at - vec3(low);
    uint base = first + BOUNDARY_MAP_HEADER_FLOATS + low.x + n.x * (low.y + n.y * low.z);
    vec4 lower = vec4(body_data[base], body_data[base + 1u], body_data[base + n.x], body_data[base + n.x + 1u]);
    base += n.x * n.y;
    vec4 upper = vec4(body_data[base], body_data[base + 1u], body_data[base + n.x], body_data[base + n.x + 1u]);
    vec4 middle = mix(lower, upper, t.z);
    vec2 rows = mix(middle.xz, middle.yw, t.x);
    vec4 rise = upper - lower;
    vec2 rises = mix(rise.xz, rise.yw, t.x);
    vec3 gradient =
        vec3(mix(middle.y - middle.x, middle.w - middle.z, t.y), rows.y - rows.x, mix(rises.x, rises.y, t.y));
    return vec4(gradient / cell_m, mix(rows.x, rows.y, t.y));
}
