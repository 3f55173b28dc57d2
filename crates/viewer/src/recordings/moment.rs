//! A point in a recording.

/// A point in a recording.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Moment {
    Step(u64),
    Seconds(f64),
}

impl std::str::FromStr for Moment {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let trimmed = text.trim();
        let seconds = |(number, unit_s): (&str, f64)| {
            let seconds = number.trim().parse::<f64>().ok()? * unit_s;
            (seconds.is_finite() && seconds >= 0.0).then_some(Self::Seconds(seconds))
        };
        let time = trimmed.strip_suffix("ms").map(|number| (number, 1e-3));
        let time = time.or_else(|| Some((trimmed.strip_suffix('s')?, 1.0)));
        let found = time.map_or_else(|| trimmed.parse().ok().map(Self::Step), seconds);
        found.ok_or_else(|| {
            format!("found \"{text}\", expected a step from 0 (120) or a simulated time from 0 (0.5s, 20ms)")
        })
    }
}
