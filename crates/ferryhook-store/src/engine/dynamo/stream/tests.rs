use super::*;
use checkpoint::Sequence;

mod server;
mod shards;

fn told(number: u32, created: Option<i64>) -> Arc<Told> {
    let sequence = number.to_string();
    let number = Sequence::parse(&sequence).unwrap();
    Arc::new(Told { number, sequence, created, change: None })
}

type Shards<'a> = &'a [(&'a str, &'a [u32])];
type Merged<'a> = &'a [(&'a str, u32)];

#[test]
fn shards_are_merged_by_number_and_stay_in_order() {
    let cases: [(Shards<'_>, Merged<'_>); 4] = [
        (&[], &[]),
        (&[("a", &[1, 2])], &[("a", 1), ("a", 2)]),
        (
            &[("a", &[1, 9, 10]), ("b", &[2, 11])],
            &[("a", 1), ("b", 2), ("a", 9), ("a", 10), ("b", 11)],
        ),
        // Not that it should be so: but then it is the shard that knows.
        (&[("a", &[5, 1]), ("b", &[3])], &[("b", 3), ("a", 5), ("a", 1)]),
    ];
    for (shards, expected) in cases {
        let shards = shards.iter().map(|(shard, numbers)| {
            ((*shard).to_owned(), numbers.iter().map(|number| told(*number, None)).collect())
        });
        let merged: Vec<_> = merge(shards.collect())
            .into_iter()
            .map(|(shard, told)| (shard, told.sequence.clone()))
            .collect();
        let expected: Vec<_> = expected
            .iter()
            .map(|(shard, number)| ((*shard).to_owned(), number.to_string()))
            .collect();
        assert_eq!(merged, expected);
    }
}

#[test]
fn a_moment_passes_over_what_is_surely_older() {
    let moment = Spot::Since(1_000_000);
    assert!(!is_behind(&moment, &told(1, Some(900))));
    assert!(is_behind(&moment, &told(1, Some(940))), "may have been rounded to the minute");
    assert!(is_behind(&moment, &told(1, Some(1001))));
    assert!(is_behind(&moment, &told(1, None)));
    assert!(is_behind(&Spot::Start, &told(1, Some(0))));
}

#[test]
fn refusals_have_a_meaning() {
    use requests::refusal;
    assert_eq!(refusal("TrimmedDataAccessException", true), Some(Refusal::Trimmed));
    assert_eq!(refusal("ResourceNotFoundException", true), Some(Refusal::Trimmed));
    assert_eq!(refusal("ExpiredIteratorException", true), Some(Refusal::Expired));
    assert_eq!(refusal("ValidationException", true), Some(Refusal::Unknown));
    assert_eq!(refusal("InternalFailure", true), None, "that passes");
    assert_eq!(refusal("LimitExceededException", true), None, "that passes");
}

#[test]
fn streams_have_a_host_of_their_own() {
    for (tables, streams) in [
        ("http://127.0.0.1:8000", "http://127.0.0.1:8000"),
        (
            "https://dynamodb.eu-west-1.amazonaws.com",
            "https://streams.dynamodb.eu-west-1.amazonaws.com",
        ),
        ("https://dynamodb.example.com", "https://dynamodb.example.com"),
    ] {
        assert_eq!(requests::endpoint(tables), streams);
    }
}
