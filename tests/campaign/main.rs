//! Campaign against faults: breaks runs in every way that a part knows, and checks that nothing is lost and
//! nothing is silently wrong. `tools/campaign` builds what it needs and starts it.
//!
//! Each part has a file of its own, a line in [`PARTS`], and its results in `PART.csv`, a row each; a
//! campaign that is started again goes on with the cases that have no row yet.

mod drivers;
mod file_faults;
mod guided;
mod kills;
mod mutations;
mod outcome;
mod part;
mod process;
mod programs;
mod scenes;
mod soak;
mod table;
mod vulkan_faults;
mod workers;

use part::{Part, Setting};
use std::process::ExitCode;
use std::time::{Duration, Instant};

const USAGE: &str = "usage: campaign --list\n       campaign PROGRAM FOLDER [--minutes N] [--jobs N] \
                     [PART…]\nPROGRAM is `frazil`";

const PARTS: &[Part] = &[
    file_faults::PART,
    kills::PART,
    vulkan_faults::PART,
    mutations::PART,
    guided::PART,
    programs::PART,
    soak::PART,
    drivers::PART,
];

fn main() -> ExitCode {
    match run(std::env::args().skip(1).collect()) {
        Ok(0) => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(problem) => {
            eprintln!("campaign: {problem}");
            ExitCode::from(2)
        }
    }
}

/// Runs the requested parts, all of them if none is named; returns the number of failures.
fn run(arguments: Vec<String>) -> Result<usize, String> {
    if arguments == ["--list"] {
        PARTS.iter().for_each(|part| println!("{:<12} {}", part.name, part.about));
        return Ok(0);
    }
    let (mut words, mut minutes) = (Vec::new(), None);
    let mut jobs = std::thread::available_parallelism().map_or(1, usize::from);
    let mut arguments = arguments.into_iter();
    while let Some(argument) = arguments.next() {
        if argument == "--minutes" {
            let value = arguments.next().unwrap_or_default();
            let number = value.parse::<f64>().ok().filter(|number| (0.0..=1e6).contains(number));
            minutes = Some(number.ok_or(format!("--minutes: found \"{value}\", expected a number"))?);
        } else if argument == "--jobs" {
            let value = arguments.next().unwrap_or_default();
            let number = value.parse().ok().filter(|number| (1..=1024).contains(number));
            jobs = number.ok_or(format!("--jobs: found \"{value}\", expected a number from 1 to 1024"))?;
        } else {
            words.push(argument);
        }
    }
    let [program, folder, names @ ..] = &words[..] else { return Err(USAGE.into()) };
    if let Some(unknown) = names.iter().find(|name| PARTS.iter().all(|part| part.name != **name)) {
        let known: Vec<_> = PARTS.iter().map(|part| part.name).collect();
        return Err(format!("no part \"{unknown}\", expected {}", known.join(", ")));
    }
    std::fs::create_dir_all(folder).map_err(|error| format!("{folder}: {error}"))?;
    let mut n_failed = 0;
    for part in PARTS.iter().filter(|part| names.is_empty() || names.iter().any(|name| name == part.name)) {
        println!("{}: {}", part.name, part.about);
        let deadline = minutes.map(|minutes| Instant::now() + Duration::from_secs_f64(minutes * 60.0));
        let setting = Setting { program: program.into(), folder: folder.into(), deadline, jobs };
        n_failed += (part.run)(&setting)?.failed;
    }
    Ok(n_failed)
}
