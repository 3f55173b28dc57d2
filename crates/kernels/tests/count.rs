//! Dispatch arguments made on the device.

use frazil_kernels::Counts;
use frazil_testkit::own_device;

#[test]
fn dispatch_arguments_cover_every_count_with_every_tile() {
    let device = own_device();
    let counts = Counts::new(&device).unwrap();
    let max_groups = u64::from(device.capabilities().max_groups_x);
    for n in [0u32, 1, 2, 255, 256, 257, 65_535, 65_536, 1 << 24, (1 << 24) + 1, u32::MAX] {
        let count = counts.upload(&device, "test count", n, n).unwrap();
        for (row, args) in device.download(&count.args, 16).unwrap().into_iter().enumerate() {
            let groups = u64::from(n).div_ceil(1 << row);
            let [x, y, z] = args.map(u64::from);
            assert!(x <= max_groups && z == 1, "n {n}, row {row}: {args:?}");
            assert!(
                x * y >= groups && (groups == 0) == (x == 0),
                "n {n}, row {row}: {args:?} for {groups} groups"
            );
            assert!(x * y < groups + x.max(1), "n {n}, row {row}: a whole row of idle groups in {args:?}");
        }
    }
    device.check_validation().unwrap();
}
