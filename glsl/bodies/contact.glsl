// Contacts of dynamic bodies with other bodies and with the faces of the domain.
#ifndef BODIES_CONTACT
#define BODIES_CONTACT

// Surfaces that a point may touch at once.
const uint MAX_CONTACTS_OF_POINT = 4u;
// Partner of a contact that no load moves.
const uint NO_PARTNER = 0xffffffffu;

struct BodyContact {
    // Number of the surface: of a face of the domain, or 6 + that of a body.
    uint surface;
    // Index of the other dynamic body, or NO_PARTNER.
    uint partner;
    // Unit normal, towards the body.
    vec3 normal;
    // The point from the centres of mass of the body and of its partner.
    vec3 arm_m;
    vec3 partner_arm_m;
    // Distance of the surfaces, negative where they overlap.
    float gap_m;
    // Velocity of the surface; of a dynamic partner zero.
    vec3 surface_m_s;
    float friction;
    // Least velocity along the normal after the contact, and that which an impulse of 1 N s gives.
    float least_m_s;
    float inverse_kg;
    // Sum of the impulses along and across the normal; at first those of the step before.
    float normal_n_s;
    vec3 tangential_n_s;
};

#endif
