// Volumes of particles of snow, which have the mass of those of water. Where both have one density, they take
// no registers.

// 1 if particles of snow are not as large as those of water.
layout(constant_id = 9) const uint IS_EXPANDED = 0;

// Returns the volume of a particle of snow over that of water. It grows with α: water that freezes expands by
// and by.
float volume_of_snow(SnowTerms terms, float alpha) {
    return IS_EXPANDED != 0u ? 1.0 + (terms.snow_volume - 1.0) * min(alpha, 1.0) : 1.0;
}

// Returns the walls at the distance of a particle of snow, half of its own spacing, which grows with α.
Walls walls_of_snow(SnowTerms terms, float alpha) {
    Walls walls = terms.walls;
    if (IS_EXPANDED != 0u)
        walls.clearance_m = grown_clearance_m(walls.clearance_m, terms.snow_spacing, alpha);
    return walls;
}

// Returns the distance at which snow and water touch, in h.
float mixed_contact_distance(SnowTerms terms) {
    return IS_EXPANDED != 0u ? terms.mixed_contact_q : terms.contact_q;
}
