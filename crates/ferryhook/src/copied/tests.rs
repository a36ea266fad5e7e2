use super::in_units;

#[test]
fn sizes_are_told_in_fitting_units() {
    let sizes = [0, 1023, 1024, 1_572_864, 3 << 30, u64::MAX];
    let told: Vec<_> = sizes.into_iter().map(in_units).collect();
    assert_eq!(told, ["0 bytes", "1023 bytes", "1.0 KiB", "1.5 MiB", "3.0 GiB", "16777216.0 TiB"]);
}
