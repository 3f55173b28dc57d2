//! The excerpt of a profile in `docs/commands.md` is what this build prints of a recorded profile,
//! `docs/measurements/profile_excerpt.json`. `FRAZIL_WRITE_EXCERPT=1 cargo test -p frazil-report --test
//! excerpt` rewrites it.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use frazil_report::{Profile, TableStyle, bound_table, profile_table, vary_table};
use std::path::Path;

/// Number of kernels in each table.
const KERNELS: usize = 3;

fn excerpt(profile: &Profile) -> String {
    let plain = TableStyle::Plain;
    let rows = &profile.rows[..KERNELS];
    let is_shown = |kernel: &str| rows.iter().any(|row| row.kernel == kernel);
    let bounds: Vec<_> = profile.bounds().into_iter().filter(|bound| is_shown(&bound.kernel)).collect();
    let mut vary = profile.vary.clone().unwrap();
    for candidate in &mut vary.candidates {
        candidate.kernels_ns.retain(|kernel, _| is_shown(kernel));
    }
    [profile_table(rows, false, plain), bound_table(&bounds, plain), vary_table(&vary, plain)].join("\n")
}

#[test]
fn the_excerpt_of_a_profile_is_what_this_build_prints() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let profile = Profile::read(&docs.join("measurements/profile_excerpt.json")).unwrap();
    let page = docs.join("commands.md");
    let text = std::fs::read_to_string(&page).unwrap();
    let section = text.find("\n## Profiling kernels\n").unwrap();
    let begin = section + text[section..].find("```text\n").unwrap() + "```text\n".len();
    let end = begin + text[begin..].find("```\n").unwrap();
    let expected = excerpt(&profile);
    if std::env::var_os("FRAZIL_WRITE_EXCERPT").is_some() {
        std::fs::write(&page, format!("{}{expected}{}", &text[..begin], &text[end..])).unwrap();
        return;
    }
    assert_eq!(&text[begin..end], expected, "FRAZIL_WRITE_EXCERPT=1 rewrites the excerpt");
}
