//! Reduction, scan, compaction, radix sort, grid and the permutation of columns, over counts that are no powers of two.

use criterion::Criterion;
use frazil_benches::Bench;
use frazil_kernels::{
    Compaction, Counts, ExclusiveScan, Operation, RadixSort, ReductionF32, ReductionU32, UniformGrid,
};
use frazil_particles::{Permutation, PhaseArray};
use frazil_reference::primitives::{
    Grid, ReduceShape, cell_keys, cell_starts, exclusive_scan_u32, gather, radix_sort_pairs, reduce_sum_f32,
    reduce_sum_u32, stream_compaction,
};
use frazil_vk::{Buffer, DeviceCount, Recorder};
use std::time::Duration;

/// Numbers without a pattern, the same in every run.
fn noise(n: usize) -> Vec<u32> {
    (0..n as u32).map(|i| i.wrapping_mul(2_654_435_761).rotate_left(13) ^ 0x9e37_79b9).collect()
}

struct Point<'a> {
    bench: &'a Bench,
    n: usize,
    count: DeviceCount,
}

impl Point<'_> {
    /// Runs once and reads `output` back, for verification.
    fn once<T: bytemuck::Pod>(
        &self,
        output: &Buffer<T>,
        len: usize,
        record: impl FnOnce(&mut Recorder),
    ) -> Vec<T> {
        let mut recorder = self.bench.device.recorder().expect("a recorder");
        record(&mut recorder);
        self.bench.device.submit(recorder).expect("a submission").wait().expect("a device");
        self.bench.device.download(output, len).expect("the output")
    }

    fn reductions(&self, criterion: &mut Criterion) {
        let device = &self.bench.device;
        let values = noise(self.n);
        let input = device.buffer_from("values", &values).expect("memory");
        let sum = ReductionU32::new(device, Operation::Sum, self.n as u32).expect("a reduction");
        let mut result = None;
        self.once(&input, 0, |r| result = Some(sum.record(r, &self.count, &input).expect("fits").clone()));
        let found = device.download(&result.expect("recorded"), 1).expect("the sum")[0];
        assert_eq!(found, reduce_sum_u32(&values));
        self.bench.measure(criterion, "reduction", "u32 sum", self.n as u64, |r| {
            sum.record(r, &self.count, &input).expect("fits");
        });

        let floats: Vec<f32> = values.iter().map(|v| *v as f32).collect();
        let input = device.buffer_from("floats", &floats).expect("memory");
        let sum = ReductionF32::new(device, Operation::Sum, self.n as u32).expect("a reduction");
        let mut result = None;
        self.once(&input, 0, |r| result = Some(sum.record(r, &self.count, &input).expect("fits").clone()));
        let found = device.download(&result.expect("recorded"), 1).expect("the sum")[0];
        assert_eq!(found.to_bits(), reduce_sum_f32(&floats, ReduceShape::default()).to_bits());
        self.bench.measure(criterion, "reduction", "f32 sum", self.n as u64, |r| {
            sum.record(r, &self.count, &input).expect("fits");
        });
    }

    fn scan_and_compaction(&self, criterion: &mut Criterion) {
        let device = &self.bench.device;
        let values = noise(self.n);
        let input = device.buffer_from("values", &values).expect("memory");
        let output = device.buffer("scanned", self.n).expect("memory");
        let scan = ExclusiveScan::new(device, self.n as u32).expect("a scan");
        let found =
            self.once(&output, self.n, |r| scan.record(r, &self.count, &input, &output, None).expect("fits"));
        assert_eq!(found, exclusive_scan_u32(&values).0);
        self.bench.measure(criterion, "scan", "reduce-then-scan", self.n as u64, |r| {
            scan.record(r, &self.count, &input, &output, None).expect("fits");
        });

        let flags: Vec<u32> = values.iter().map(|v| v & 1).collect();
        let input = device.buffer_from("flags", &flags).expect("memory");
        let compaction = Compaction::new(device, self.n as u32).expect("a compaction");
        let kept = DeviceCount::new(device, "kept", self.n as u32).expect("memory");
        let expected = stream_compaction(&flags);
        let found = self.once(&output, expected.len(), |r| {
            compaction.record(r, &self.count, &input, &output, &kept).expect("fits");
        });
        assert_eq!(found, expected);
        self.bench.measure(criterion, "compaction", "half kept", self.n as u64, |r| {
            compaction.record(r, &self.count, &input, &output, &kept).expect("fits");
        });
    }

    fn sort(&self, criterion: &mut Criterion) {
        let device = &self.bench.device;
        let (mut keys, mut order) = (noise(self.n), (0..self.n as u32).collect::<Vec<_>>());
        let original = device.buffer_from("keys to sort", &keys).expect("memory");
        let key_buffer = device.buffer("keys", self.n).expect("memory");
        let order_buffer = device.buffer("order", self.n).expect("memory");
        let sort = RadixSort::new(device, self.n as u32).expect("a sort");
        radix_sort_pairs(&mut keys, &mut order, 0..32);
        let found = self.once(&order_buffer, self.n, |r| {
            r.copy(&original, &key_buffer, self.n);
            sort.record_order(r, &self.count, &key_buffer, &order_buffer, 0..32).expect("fits");
        });
        assert_eq!(found, order);
        for (variant, bits) in [("16 bits", 0..16), ("32 bits", 0..32)] {
            self.bench.measure(criterion, "radix_sort", variant, self.n as u64, |r| {
                r.copy(&original, &key_buffer, self.n);
                sort.record_order(r, &self.count, &key_buffer, &order_buffer, bits.clone()).expect("fits");
            });
        }
    }

    fn grid_and_permutation(&self, criterion: &mut Criterion) {
        let device = &self.bench.device;
        let side = (self.n as f64 / 8.0).cbrt().ceil().max(1.0) as f32;
        let unit = |bits: u32| (bits >> 8) as f32 / (1 << 24) as f32;
        let random = noise(3 * self.n);
        let points: Vec<[f32; 3]> =
            random.chunks_exact(3).map(|c| [c[0], c[1], c[2]].map(|x| side * unit(x))).collect();
        let twin = Grid::covering([0.0; 3], [side; 3], 1.0);
        let (mut keys, mut order) = (cell_keys(&twin, &points), (0..self.n as u32).collect::<Vec<_>>());
        radix_sort_pairs(&mut keys, &mut order, 0..32);

        let grid = UniformGrid::new(device, [0.0; 3], [side; 3], 1.0).expect("a grid");
        let key_buffer = device.buffer_from("sorted keys", &keys).expect("memory");
        let found = self.once(grid.cell_start(), grid.cells() as usize + 1, |r| {
            grid.record_cell_ranges(r, &self.count, &key_buffer);
        });
        assert_eq!(found, cell_starts(&keys, twin.n_cells()));
        self.bench.measure(criterion, "grid", "cell ranges", self.n as u64, |r| {
            grid.record_cell_ranges(r, &self.count, &key_buffer);
        });

        let counts = Counts::new(device).expect("kernels");
        let mut phase = PhaseArray::upload(device, &counts, &points, &points, self.n as u32).expect("memory");
        let permutation = Permutation::new(device).expect("kernels");
        let order_buffer = device.buffer_from("order", &order).expect("memory");
        let mut recorder = device.recorder().expect("a recorder");
        phase.permute(&mut recorder, &permutation, &order_buffer);
        device.submit(recorder).expect("a submission").wait().expect("a device");
        assert_eq!(
            device.download(phase.position.front(), self.n).expect("positions"),
            gather(&points, &order)
        );
        self.bench.measure(criterion, "permutation", "position, velocity, id", self.n as u64, |r| {
            phase.permute(r, &permutation, &order_buffer);
        });
    }
}

fn main() {
    let bench = Bench::new();
    let mut criterion = Criterion::default()
        .sample_size(20)
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_secs(1))
        .without_plots()
        .configure_from_args();
    let counts = Counts::new(&bench.device).expect("kernels");
    for n in [1_000, 100_003, (1 << 20) + 7] {
        let count = counts.upload(&bench.device, "count", n as u32, n as u32).expect("memory");
        let point = Point { bench: &bench, n, count };
        point.reductions(&mut criterion);
        point.scan_and_compaction(&mut criterion);
        point.sort(&mut criterion);
        point.grid_and_permutation(&mut criterion);
    }
    criterion.final_summary();
}
