use frazil_reference::snow::{LinkLimit, LinkRule};

const RULE: LinkRule = LinkRule {
    radius_m: 0.1,
    link_temperature_c: 0.0,
    limit: LinkLimit::Dynamic { homogeneous_c: -30.0, freezing_c: 0.0 },
    break_ratio: 1.2,
};

#[test]
fn limits_follow_equation_6_8() {
    for (temperature_c, links) in [
        (-100.0, 8),
        (-30.0, 8),
        (-29.0, 8),
        (-28.0, 7),
        (-15.0, 4),
        (-10.0, 3),
        (-1.875, 1),
        (-1.874, 0),
        (0.0, 0),
        (0.1, 0),
        (f32::NEG_INFINITY, 8),
        (f32::MIN, 8),
        (f32::MAX, 0),
        (f32::NAN, 0),
    ] {
        assert_eq!(RULE.link_limit(8, temperature_c), links, "{temperature_c} °C");
    }
    let constant = LinkRule { limit: LinkLimit::Constant(5), link_temperature_c: -4.0, ..RULE };
    for (temperature_c, links) in [(-1e30, 5), (-4.0, 5), (-3.999, 0), (f32::NAN, 0)] {
        assert_eq!(constant.link_limit(8, temperature_c), links, "{temperature_c} °C");
    }
}
