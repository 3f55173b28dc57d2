// Images of particles behind the faces of a box: as if the box continued as its own mirror image. The image of
// j seen from i is as far as that of i seen from j.
#ifndef COMMON_IMAGES
#define COMMON_IMAGES

// Faces of the box within the support radius of a particle: by axis, the number of places of a neighbour (its
// own, and its images behind one or two faces), and 1 if the first image is behind the lower face.
struct Faces {
    uvec3 n_places;
    uvec3 has_lower;
};

Faces near_faces(vec3 min_m, vec3 max_m, float inverse_h, vec3 x) {
    // The margin covers rounding: both ends must agree on the images that are within the support radius.
    uvec3 lower = uvec3(lessThan((x - min_m) * inverse_h, vec3(1.001)));
    uvec3 upper = uvec3(lessThan((max_m - x) * inverse_h, vec3(1.001)));
    return Faces(1u + lower + upper, lower);
}

// Margin in squared distances over h² that covers rounding.
const float MAX_IMAGE_Q2 = 1.0001;

// Returns the faces of near_faces behind which the image of a neighbour may be within the support radius. The
// neighbour is at an offset in h of which q2 is the square. Each further reflection takes an image farther
// away.
Faces near_images(vec3 min_m, vec3 max_m, float inverse_h, vec3 x, vec3 other_x, vec3 offset, float q2) {
    vec3 behind_lower = ((x - min_m) + (other_x - min_m)) * inverse_h;
    vec3 behind_upper = ((x - max_m) + (other_x - max_m)) * inverse_h;
    vec3 rest = vec3(q2) - offset * offset;
    uvec3 lower = uvec3(lessThan(rest + behind_lower * behind_lower, vec3(MAX_IMAGE_Q2)));
    uvec3 upper = uvec3(lessThan(rest + behind_upper * behind_upper, vec3(MAX_IMAGE_Q2)));
    return Faces(1u + lower + upper, lower);
}

// Returns true if a face of the box is within the support radius of a particle.
bool is_near_face(vec3 min_m, vec3 max_m, float inverse_h, vec3 x) {
    return any(lessThan(min(x - min_m, max_m - x) * inverse_h, vec3(1.001)));
}

uint place_count(Faces faces) { return faces.n_places.x * faces.n_places.y * faces.n_places.z; }

// Offset in h from a place of a neighbour, and −1 on the axes on which that place is reflected, else 1.
struct Place {
    vec3 offset;
    vec3 reflection;
};

// Returns place 0 (the neighbour itself) … place_count − 1. No image is nearer than the neighbour.
Place place_of(vec3 min_m, vec3 max_m, float inverse_h, Faces faces, vec3 x, vec3 other_x, uint place) {
    precise vec3 offset = x - other_x;
    vec3 reflection = vec3(1.0);
    if (place != 0u) {
        uvec3 n = faces.n_places;
        uvec3 image = uvec3(place % n.x, place / n.x % n.y, place / (n.x * n.y));
        [[unroll]] for (int axis = 0; axis < 3; ++axis) {
            if (image[axis] == 0u) continue;
            bool is_lower = image[axis] == 1u && faces.has_lower[axis] != 0u;
            float face = is_lower ? min_m[axis] : max_m[axis];
            offset[axis] = (x[axis] - face) + (other_x[axis] - face);
            reflection[axis] = -1.0;
        }
    }
    precise vec3 scaled = offset * inverse_h;
    return Place(scaled, reflection);
}

#endif
