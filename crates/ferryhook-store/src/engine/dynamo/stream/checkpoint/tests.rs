use super::*;

fn number(text: &str) -> Sequence {
    Sequence::parse(text).unwrap()
}

fn spots<const N: usize>(spots: [(&str, Spot); N]) -> Spots {
    spots.into_iter().map(|(shard, spot)| (shard.to_owned(), spot)).collect()
}

#[test]
fn a_place_says_how_far_each_shard_was_read() {
    let cases = [
        (spots([]), "~"),
        (spots([("12-ab", Spot::Start)]), "12-ab~s"),
        (spots([("12-ab", Spot::Over)]), "12-ab~e"),
        (spots([("12-ab", Spot::Since(1_700_000_000_000))]), "12-ab~t1700000000000"),
        (
            spots([("12-ab", Spot::After(number("7"))), ("9-cd", Spot::Start)]),
            "12-ab~000000000000000000007.9-cd~s",
        ),
    ];
    for (spots, expected) in cases {
        assert_eq!(text(&spots, false), expected);
        assert_eq!(parse(expected), Some(Checkpoint::Spots(spots)), "{expected}");
    }
}

#[test]
fn of_one_shard_the_number_is_all() {
    let long = "4421584500000000017450439091";
    let one = spots([("12-ab", Spot::After(number(long)))]);
    assert_eq!(text(&one, true), long);
    assert_eq!(text(&one, false), format!("12-ab~{long}"));
    assert_eq!(text(&spots([("12-ab", Spot::Start)]), true), "12-ab~s");
    assert_eq!(parse(long), Some(Checkpoint::Number(number(long))));
    assert_eq!(parse("17"), Some(Checkpoint::Number(number("000000000000000000017"))));
}

#[test]
fn what_is_no_place_is_refused() {
    let too_long = "1".repeat(41);
    let wrong = [
        "", "x", "-1", "1.2", "a~", "~s", "a~x", "a~t", "a~t-1", "a~tx", "a~s.", "a~s.a~e",
        "a b~s", "a~1~2", "a~-1", "~.~", &too_long,
    ];
    for text in wrong {
        assert_eq!(parse(text), None, "{text:?}");
    }
}

#[test]
fn numbers_are_compared_as_numbers() {
    assert!(number("9") < number("10"));
    assert!(number("000000000000000000009") < number("10"));
    assert_eq!(number("0007"), number("7"));
    assert!(number("199999999999999999999") < number("200000000000000000000"));
}

#[test]
fn the_name_of_a_shard_is_short() {
    assert_eq!(short("shardId-00000001414562045508-2bac9cd2"), "1414562045508-2bac9cd2");
    assert_eq!(short("other"), "other");
}
