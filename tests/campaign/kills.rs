//! Kills runs of all solvers at random instants and within the writing of checkpoints, again and again, until
//! they are allowed to finish: state and files must be those of a run that was never killed.

use crate::outcome::Outcome;
use crate::part::{Part, Setting};
use crate::process::{self, said};
use crate::scenes::{ALL, Fault, Runs, Scene, checkpoint_of, checkpoint_step, remove};
use crate::table::{Count, Table};
use crate::workers;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

pub const PART: Part =
    Part { name: "kills", about: "runs of all solvers are killed at random instants, and resumed", run };

/// Runs of each solver and class; each is killed [`KILLS`] times before it may finish.
const CHAINS: u64 = 34;
const KILLS: u64 = 3;
/// Operations by which a checkpoint is written: open, write, sync, rename.
const OPERATIONS: u64 = 4;
/// Bound of the number of starts of a run: some finish before they are killed.
const MAX_TRIES: usize = 100;
/// Bound of the wait for a process, which is killed long before.
const LONGEST: Duration = Duration::from_secs(300);

/// Moment of a kill.
#[derive(Clone, Copy)]
enum Moment {
    /// Any time from the start of the process on.
    Any,
    /// Any time from its first checkpoint on.
    Stepping,
    /// At a random operation on the files of a checkpoint, in a random way.
    Checkpoint,
}

/// Numbers from a seed (SplitMix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns a number below `n`.
    fn below(&mut self, n: u64) -> u64 {
        self.next() % n.max(1)
    }

    /// Returns a part of a duration.
    fn part_of(&mut self, duration: Duration) -> Duration {
        duration.mul_f64(self.below(1 << 20) as f64 / f64::from(1 << 20))
    }
}

struct Campaign<'a> {
    runs: Runs,
    library: PathBuf,
    folder: PathBuf,
    scene: &'a Scene,
    expected: Outcome,
    /// Duration of a whole run, as last seen.
    whole: Duration,
    /// Duration of its steps.
    steps: Duration,
}

/// Runs all cases that have no row yet, those of several solvers at a time.
fn run(setting: &Setting) -> Result<Count, String> {
    let table = Mutex::new(Table::open(&setting.folder, PART.name)?);
    let scenes: Vec<(usize, &Scene)> = ALL.iter().enumerate().collect();
    let done =
        workers::map(setting.jobs, scenes, |(number, scene)| of_scene(setting, number as u64, scene, &table));
    done.into_iter().collect::<Result<Vec<()>, String>>()?;
    let classes = ALL.iter().flat_map(|scene| [false, true].map(|within| class(scene, within)));
    let planned: Vec<String> = classes.flat_map(|class| vec![class; (CHAINS * KILLS) as usize]).collect();
    let table = table.into_inner().map_err(|error| error.to_string())?;
    Ok(table.report(planned.iter().map(String::as_str)))
}

fn class(scene: &Scene, is_in_checkpoint: bool) -> String {
    format!("{} {}", scene.name, if is_in_checkpoint { "checkpoint" } else { "instant" })
}

/// Runs the cases of a scene.
fn of_scene(setting: &Setting, number: u64, scene: &Scene, table: &Mutex<Table>) -> Result<(), String> {
    let folder = setting.folder.join("kills").join(scene.name);
    fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let table = || table.lock().map_err(|error| error.to_string());
    let mut campaign = None;
    for chain in 0..2 * CHAINS {
        let is_in_checkpoint = chain % 2 == 1;
        let class = class(scene, is_in_checkpoint);
        let case = |kill: u64| format!("{}.{kill}", chain / 2);
        if setting.is_over() || table()?.has(&class, &case(KILLS - 1)) {
            continue;
        }
        let campaign = match &mut campaign {
            Some(campaign) => campaign,
            empty => empty.insert(Campaign::new(setting, folder.clone(), scene)?),
        };
        let mut random = Random((number << 32) | chain);
        let mut kills = Vec::new();
        let verdict = campaign.chain(&mut random, is_in_checkpoint, &mut kills);
        // All kills of a run have its result.
        let mut table = table()?;
        for kill in 0..KILLS {
            let place = kills.get(kill as usize).map_or("not reached", String::as_str);
            let verdict = match &verdict {
                Ok(end) => Ok(format!("{place}; {end}")),
                Err(problem) => Err(format!("{place}; {problem}")),
            };
            if !table.has(&class, &case(kill)) {
                table.add(&class, &case(kill), verdict)?;
            }
        }
    }
    Ok(())
}

impl<'a> Campaign<'a> {
    fn new(setting: &Setting, folder: PathBuf, scene: &'a Scene) -> Result<Self, String> {
        let (runs, library) = (Runs::new(setting), setting.folder.join("file_faults.so"));
        let out = folder.join("reference");
        let expected = runs.reference(scene, &out)?;
        let (whole, steps) = Default::default();
        let mut campaign = Self { runs, library, folder, scene, expected, whole, steps };
        campaign.learn_durations(&out)?;
        Ok(campaign)
    }

    /// Reads how long a run took: the machine may be busy now and then.
    fn learn_durations(&mut self, out: &Path) -> Result<(), String> {
        let report = frazil_io::RunInfo::read(&out.join("run.json")).map_err(|error| error.to_string())?;
        let part = |name: &str| {
            let seconds = report.wall_time_s.get(name).copied().unwrap_or(0.5);
            Duration::from_secs_f64(seconds.clamp(0.01, 60.0))
        };
        (self.whole, self.steps) = (part("total"), part("steps"));
        Ok(())
    }

    /// Kills a run several times, lets it finish, and compares its results.
    fn chain(
        &mut self,
        random: &mut Random,
        is_in_checkpoint: bool,
        kills: &mut Vec<String>,
    ) -> Result<String, String> {
        let out = self.folder.join("run");
        remove(&out)?;
        remove(&out.with_extension("lost"))?;
        for _ in 0..MAX_TRIES {
            if kills.len() as u64 == KILLS {
                break;
            }
            let moment = match (is_in_checkpoint, random.below(4)) {
                (true, _) => Moment::Checkpoint,
                (false, 0) => Moment::Any,
                (false, _) => Moment::Stepping,
            };
            match self.kill(random, moment, &out)? {
                Some(place) => kills.push(place),
                // It was faster than the kill, and has finished.
                None => remove(&out)?,
            }
            checkpoint_step(&out)?;
        }
        if (kills.len() as u64) < KILLS {
            return Err(format!("{MAX_TRIES} runs finished before they were killed"));
        }
        let step = self.runs.must_reproduce(self.scene, &out, &self.expected)?;
        self.learn_durations(&out)?;
        Ok(step.map_or("begun anew".to_owned(), |step| format!("resumed from step {step}")))
    }

    /// Starts or resumes a run and kills it; returns the place, or none if it finished before.
    fn kill(&self, random: &mut Random, moment: Moment, out: &Path) -> Result<Option<String>, String> {
        let before = checkpoint_step(out)?;
        let checkpoint = Some(checkpoint_of(out)).filter(|_| before.is_some());
        if let Moment::Checkpoint = moment {
            let n = OPERATIONS * (self.scene.steps - before.unwrap_or(0));
            let kind = ["kill", "torn", "power_cut", "lost_names"][random.below(4) as usize];
            let at = 1 + random.below(n);
            remove(&out.with_extension("lost"))?;
            let fault =
                Fault::new(&self.library, out, kind, at).with("FRAZIL_FAULT_ONLY", "checkpoint.frazil-ckpt");
            let mut command = self.runs.command(self.scene, out, checkpoint.as_deref(), Some(&fault));
            let ended = process::run(&mut command, LONGEST)?;
            return match ended.status.code() {
                None => Ok(Some(format!("{kind} at operation {at} of checkpoints"))),
                Some(0) => Ok(None),
                Some(_) => Err(format!("ended with {}: {}", ended.status, said(&ended))),
            };
        }
        let mut command = self.runs.command(self.scene, out, checkpoint.as_deref(), None);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().map_err(|error| error.to_string())?;
        if let Moment::Stepping = moment {
            wait_for_steps(&mut child, out, before)?;
        }
        let left = match moment {
            Moment::Stepping => self.steps,
            _ => self.whole,
        };
        std::thread::sleep(random.part_of(left));
        let _ = child.kill();
        let status = child.wait().map_err(|error| error.to_string())?;
        if status.code() == Some(0) {
            return Ok(None);
        }
        if status.code().is_some() {
            return Err(format!("ended with {status}"));
        }
        let after = checkpoint_step(out)?;
        let within = if out.join(".checkpoint.frazil-ckpt.tmp").exists() {
            " within a checkpoint's writing"
        } else {
            ""
        };
        Ok(Some(format!("at step {}{within}", after.unwrap_or(0))))
    }
}

/// Waits until a run has written a checkpoint since it was started, or has ended.
fn wait_for_steps(child: &mut Child, out: &Path, before: Option<u64>) -> Result<(), String> {
    let begin = Instant::now();
    while begin.elapsed() < LONGEST && child.try_wait().map_err(|error| error.to_string())?.is_none() {
        // A rename replaces checkpoints: any that is there is whole.
        if checkpoint_step(out)? != before {
            return Ok(());
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    Ok(())
}
