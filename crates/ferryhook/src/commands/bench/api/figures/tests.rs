use super::*;

fn answered(operation: Operation, millis: u64, failure: Option<&str>) -> Answered {
    let took = Duration::from_millis(millis);
    Answered { operation, took, failure: failure.map(str::to_owned) }
}

#[test]
fn each_operation_has_its_line_and_reads_are_told_from_writes() {
    let gathered = Gathered {
        api: vec![
            answered(Operation::GetEvent, 2, None),
            answered(Operation::GetEvent, 4, None),
            answered(Operation::CreateSource, 9, Some("answered 500 instead of 201")),
        ],
        floor: vec![answered(Operation::Health, 1, None)],
        disk: vec![Duration::from_millis(5)],
        ..Gathered::default()
    };
    let figures = gathered.figures(None);
    let of = |wanted| figures.operations.iter().find(|line| line.operation == wanted).unwrap();
    let ms = Percentiles { p50: 2.0, p99: 4.0, max: 4.0 };
    assert_eq!(of(Operation::GetEvent).times, Times { count: 2, ms, failed: 0 });
    assert_eq!(of(Operation::WhoAmI).times, Times::default());
    assert_eq!((figures.reads.count, figures.writes.count, figures.all.count), (2, 1, 3));
    assert_eq!((figures.writes.failed, figures.all.ms.p99), (1, 9.0));
    assert_eq!((figures.floor.ms.p50, figures.disk_ms.p50), (1.0, 5.0));
    assert_eq!(gathered.failures(), ["sources.create: answered 500 instead of 201, 1 times"]);
}
