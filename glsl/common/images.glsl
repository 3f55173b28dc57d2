// Images of particles behind the faces of a box that a linear grid of cells of one support radius h fills
// from its lower corner on: as if the box continued as its own mirror image or, along an axis whose bit is
// set in `periodic`, as its own copy.
//
// The image R x_j is as far from x_i as R x_i is from x_j, so only particles in the cells beside the faces
// that R reflects can have images near i: one layer of cells, two beside an upper face that cuts the last
// cell. A copy beyond a face is that of particles beside the opposite one. By cells, both ends of a pair
// agree on the images that they count, and threads of one cell on the loops.
#ifndef COMMON_IMAGES
#define COMMON_IMAGES

// Box of cells, the last included.
struct Cells {
    uvec3 first;
    uvec3 last;
};

// Faces of the box near a cell: by axis, the number of places of a neighbour (its own, and its images behind
// one or two faces), and 1 if the first image is behind the lower face.
struct Faces {
    uvec3 n_places;
    uvec3 has_lower;
};

// Reflection at faces, or translation from the opposite ones: by axis, the coordinate in m of the face, that
// of the face beside the particle itself, and −1 for a reflection; 0, 0 and 1 without any.
struct Reflection {
    vec3 face_m;
    vec3 source_m;
    vec3 sign;
};

// Image of the particles around a cell: by axis, 0 without reflection, 1 behind the lower and 2 behind the
// upper face. `cells` may hold particles whose images are near.
struct Image {
    uvec3 sides;
    Cells cells;
};

// Returns the distances in cells between the upper faces and cells, 0 for the last.
vec3 cells_below_upper(Grid grid, vec3 max_m, vec3 cell) {
    return max((max_m - grid.origin_m) / grid.cell_size_m - cell - 1.0, 0.0);
}

Faces near_faces(Grid grid, vec3 max_m, uvec3 home) {
    uvec3 lower = uvec3(equal(home, uvec3(0u)));
    uvec3 upper = uvec3(lessThan(cells_below_upper(grid, max_m, vec3(home)), vec3(1.0)));
    return Faces(1u + lower + upper, lower);
}

uint place_count(Faces faces) { return faces.n_places.x * faces.n_places.y * faces.n_places.z; }

// Returns image 1 … place_count − 1 of the particles around a cell; 0 stands for these themselves.
Image image_of(Grid grid, vec3 max_m, uint periodic, Faces faces, uvec3 home, uint place) {
    uvec3 n = faces.n_places;
    uvec3 places = uvec3(place % n.x, place / n.x % n.y, place / (n.x * n.y));
    Cells around = Cells(max(home, 1u) - 1u, min(home + 1u, grid.dims - 1u));
    Image image = Image(uvec3(0u), around);
    vec3 below_upper = cells_below_upper(grid, max_m, vec3(home));
    [[unroll]] for (int axis = 0; axis < 3; ++axis) {
        if (places[axis] == 0u) continue;
        bool is_lower = places[axis] == 1u && faces.has_lower[axis] != 0u;
        image.sides[axis] = is_lower ? 1u : 2u;
        // Pairs whose distances from the face, or from both, add up to less than a cell.
        bool is_from_lower = is_lower != (bitfieldExtract(periodic, axis, 1) != 0u);
        if (is_from_lower) {
            image.cells.first[axis] = 0u;
            image.cells.last[axis] = 0u;
        } else {
            uint last = grid.dims[axis] - 1u;
            uint before = last - min(1u, last);
            float of_before = cells_below_upper(grid, max_m, vec3(before))[axis];
            float of_home = is_lower ? 0.0 : below_upper[axis];
            image.cells.first[axis] = of_home + of_before < 1.0 ? before : last;
            image.cells.last[axis] = last;
        }
    }
    return image;
}

Reflection reflection_at(vec3 min_m, vec3 max_m, uint periodic, uvec3 sides) {
    bvec3 is_upper = equal(sides, uvec3(2u));
    bvec3 is_own = equal(sides, uvec3(0u));
    bvec3 is_copy = notEqual(periodic & uvec3(1u, 2u, 4u), uvec3(0u));
    vec3 face_m = mix(min_m, max_m, is_upper);
    vec3 opposite_m = mix(max_m, min_m, is_upper);
    return Reflection(mix(face_m, vec3(0.0), is_own),
                      mix(mix(face_m, opposite_m, is_copy), vec3(0.0), is_own),
                      mix(mix(vec3(-1.0), vec3(1.0), is_copy), vec3(1.0), is_own));
}

// Returns x_i − R x_j in h: the same length from both ends.
vec3 offset_from(Reflection reflection, float inverse_h, vec3 x, vec3 other_x) {
    precise vec3 own = x - reflection.face_m;
    precise vec3 other = other_x - reflection.source_m;
    precise vec3 offset = (own - reflection.sign * other) * inverse_h;
    return offset;
}

// Loops `j` over every particle in a box of cells, in sorted order within a row of cells.
#define FOR_EACH_IN_CELLS(cell_start, grid, cells, j)                                                   \
    for (uint z_ = (cells).first.z; z_ <= (cells).last.z; ++z_)                                         \
        for (uint y_ = (cells).first.y; y_ <= (cells).last.y; ++y_)                                     \
            for (uint row_ = (grid).dims.x * (y_ + (grid).dims.y * z_),                                 \
                      j = cell_start[row_ + (cells).first.x],                                           \
                      end_ = cell_start[row_ + (cells).last.x + 1u]; j < end_; ++j)

#endif
