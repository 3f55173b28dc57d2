//! Stream compaction: of indices, of columns, and partition of columns.

use crate::axis::{Axis, Domain, Point};
use crate::bench::{Bench, DeviceWorkload, Difference, HostWorkload, Prepared, Work, first_difference};
use crate::error::Result;
use frazil_kernels::{Counts, Method, Move, ScanOptions};
use frazil_reference::primitives::stream_compaction;
use frazil_testkit::noise;
use frazil_vk::{Buffer, Device, DeviceCount, Recorder};

pub struct Compaction;

const VARIANTS: &[&str] = &["look_back", "reduce_then_scan", "cpu_one_core"];
const MOVES: &[&str] = &["indices", "columns", "partition"];
/// Words of the columns that are moved: position, velocity and two numbers, as particles have.
const WORDS: [usize; 4] = [3, 3, 1, 1];

struct Workload {
    n: usize,
    count: DeviceCount,
    compaction: frazil_kernels::Compaction,
    flags: Buffer<u32>,
    moves: Vec<Moved>,
    kept_count: DeviceCount,
    dropped_count: DeviceCount,
}

/// A column to be moved, and the twin's result.
struct Moved {
    how: Move,
    from_words: u64,
    kept: Buffer<u32>,
    dropped: Option<Buffer<u32>>,
    expected: [Vec<u32>; 2],
}

struct OneCore {
    flags: Vec<u32>,
    kept: Vec<u32>,
    expected: Vec<u32>,
}

impl Bench for Compaction {
    fn id(&self) -> &'static str {
        "primitives.compaction"
    }

    fn about(&self) -> &'static str {
        "flagged elements to the front, in order: their indices, or 32 bytes in four columns, or the others, \
         too"
    }

    fn axes(&self) -> Vec<Axis> {
        let kept = Axis::integers("kept_percent", Domain::Integers(0, 100), &[50], &[50]);
        let moves = Axis::names("moves", MOVES, MOVES, &["indices", "partition"]);
        vec![Axis::count(), kept, moves, Axis::variant(VARIANTS)]
    }

    fn prepare(&self, device: &Device, point: &Point) -> Result<Prepared> {
        let (n, percent) = (point.count()?, point.integer("kept_percent")?);
        let flags: Vec<u32> = (0..n).map(|i| u32::from(u64::from(noise(i) % 100) < percent)).collect();
        let method = match point.name("variant")? {
            "look_back" => Method::LookBack,
            "reduce_then_scan" => Method::ReduceThenScan,
            "cpu_one_core" => {
                let expected = stream_compaction(&flags);
                return Ok(Prepared::Host(Box::new(OneCore {
                    kept: Vec::with_capacity(n),
                    flags,
                    expected,
                })));
            }
            _ => return Err(point.unknown("variant", VARIANTS)),
        };
        let kept_n = flags.iter().filter(|flag| **flag != 0).count();
        let (kept_count, dropped_count) = (
            DeviceCount::new(device, "kept count", n as u32)?,
            DeviceCount::new(device, "dropped count", n as u32)?,
        );
        kept_count.expect(kept_n as u32);
        dropped_count.expect((n - kept_n) as u32);
        let moves = match point.name("moves")? {
            "indices" => {
                let kept = device.buffer("kept", n)?;
                let expected = [stream_compaction(&flags), Vec::new()];
                vec![Moved { how: Move::index(&kept), from_words: 0, kept, dropped: None, expected }]
            }
            moves => {
                let partitions = moves == "partition";
                let column = |(k, words): (usize, &usize)| moved(device, &flags, *words, k, partitions);
                WORDS.iter().enumerate().map(column).collect::<Result<_>>()?
            }
        };
        let options = ScanOptions { method: Some(method), ..Default::default() };
        Ok(Prepared::Device(Box::new(Workload {
            n,
            count: Counts::new(device)?.upload(device, "count", n as u32, n as u32)?,
            compaction: frazil_kernels::Compaction::with_options(device, n as u32, options)?,
            flags: device.buffer_from("flags", &flags)?,
            moves,
            kept_count,
            dropped_count,
        })))
    }

    fn meaningless_axes(&self, point: &Point) -> &'static [&'static str] {
        if point.name("variant").is_ok_and(|variant| variant.starts_with("cpu_")) { &["moves"] } else { &[] }
    }
}

/// Makes a column of elements of the given number of words.
fn moved(device: &Device, flags: &[u32], words: usize, k: usize, partitions: bool) -> Result<Moved> {
    let data: Vec<u32> = (0..words * flags.len()).map(|i| noise(i + k)).collect();
    let wide = |flag: u32| -> Vec<u32> {
        let chosen = data.chunks(words).zip(flags).filter(|(_, f)| (**f != 0) == (flag != 0));
        chosen.flat_map(|(element, _)| element.to_vec()).collect()
    };
    let expected = [wide(1), if partitions { wide(0) } else { Vec::new() }];
    let from = device.buffer_from("column", &data)?;
    let kept = device.buffer("kept", data.len())?;
    let dropped = partitions.then(|| device.buffer("dropped", data.len())).transpose()?;
    let column = |from: &Buffer<u32>, kept: &Buffer<u32>| match words {
        3 => Move::column(&from.cast::<[u32; 3]>(), &kept.cast()),
        _ => Move::column(from, kept),
    };
    let how = column(&from, &kept);
    let how = match &dropped {
        Some(dropped) => how.dropping_to(dropped),
        None => how,
    };
    Ok(Moved { how, from_words: words as u64, kept, dropped, expected })
}

impl DeviceWorkload for Workload {
    fn work(&self) -> Work {
        let elements = self.n as u64;
        let moved = |m: &Moved| {
            let written = (m.expected[0].len() + m.expected[1].len()) as u64;
            written * if m.from_words == 0 { 1 } else { 2 }
        };
        Work { elements, bytes_minimum: 4 * (elements + self.moves.iter().map(moved).sum::<u64>()) }
    }

    fn poison(&mut self, recorder: &mut Recorder) {
        for moved in &self.moves {
            for buffer in [Some(&moved.kept), moved.dropped.as_ref()].into_iter().flatten() {
                recorder.fill(buffer, 0xdead_beef);
            }
        }
        recorder.fill(&self.kept_count.count, 0xdead_beef);
    }

    fn record(&mut self, recorder: &mut Recorder) -> Result<()> {
        let moves: Vec<Move> = self.moves.iter().map(|moved| moved.how.clone()).collect();
        let dropped_count = self.moves.iter().any(|m| m.dropped.is_some()).then_some(&self.dropped_count);
        let (count, flags, kept_count) = (&self.count, &self.flags, &self.kept_count);
        self.compaction.record_columns(recorder, count, flags, &moves, kept_count, dropped_count)?;
        Ok(())
    }

    fn verify(&self, device: &Device) -> Result<Option<Difference>> {
        let kept_count = device.download(&self.kept_count.count, 1)?;
        if let Some(wrong) = first_difference("kept count", &kept_count, &[self.kept_count.expected()]) {
            return Ok(Some(wrong));
        }
        for moved in &self.moves {
            let buffers = [Some(&moved.kept), moved.dropped.as_ref()];
            for ((buffer, expected), name) in
                buffers.into_iter().zip(&moved.expected).zip(["kept", "dropped"])
            {
                let Some(buffer) = buffer else { continue };
                let found = device.download(buffer, expected.len())?;
                if let Some(wrong) = first_difference(name, &found, expected) {
                    return Ok(Some(wrong));
                }
            }
        }
        Ok(None)
    }
}

impl HostWorkload for OneCore {
    fn work(&self) -> Work {
        let elements = self.flags.len() as u64;
        Work { elements, bytes_minimum: 4 * (elements + self.expected.len() as u64) }
    }

    fn reset(&mut self) {
        self.kept.clear();
    }

    fn run(&mut self) {
        let flagged = self.flags.iter().zip(0u32..).filter(|(flag, _)| **flag != 0);
        self.kept.extend(flagged.map(|(_, i)| i));
        std::hint::black_box(self.kept.as_slice());
    }

    fn verify(&self) -> Option<Difference> {
        let lengths = first_difference("kept count", &[self.kept.len()], &[self.expected.len()]);
        lengths.or_else(|| first_difference("kept", &self.kept, &self.expected))
    }
}
