// Parameters that the two stages of `ball` share.
layout(scalar, push_constant) uniform Params {
    View view;
    vec3 ball_center;
    float radius;
    vec3 color;
    Fog fog;
};
