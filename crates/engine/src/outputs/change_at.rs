//! A change of a parameter, as the command line gives it.

/// A change of a live parameter before a step, as the command line gives it: `STEP:KEY=VALUE`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangeAt {
    /// Number of steps after which it is made.
    pub step: u64,
    /// The change, `KEY=VALUE`.
    pub change: String,
}

impl std::str::FromStr for ChangeAt {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parsed =
            text.split_once(':').and_then(|(step, change)| Some((step.trim().parse().ok()?, change)));
        match parsed {
            Some((step, change)) if change.contains('=') => {
                Ok(Self { step, change: change.trim().to_owned() })
            }
            _ => {
                Err(format!("found \"{text}\", expected STEP:KEY=VALUE, such as 100:fluid.wall_friction=0.5"))
            }
        }
    }
}
