use proptest::prelude::*;

use super::*;

fn compile(patterns: &[&str]) -> Result<EventTypes, BadPattern> {
    let patterns: Vec<_> = patterns.iter().map(|text| (*text).to_owned()).collect();
    EventTypes::compile(&patterns)
}

#[test]
fn a_star_is_any_run_of_characters() {
    for (patterns, event_type, wanted) in [
        (&[][..], "order.created", true),
        (&["*"], "order.created", true),
        (&["**"], "order.created", true),
        (&["order.created"], "order.created", true),
        (&["order.created"], "Order.Created", false),
        (&["order.created"], "order.created.late", false),
        (&["order.*"], "order.created", true),
        (&["order.*"], "order.", true),
        (&["order.*"], "order", false),
        (&["order.*"], "orders.created", false),
        (&["*.created"], "order.created", true),
        (&["order.*.done"], "order.line.done", true),
        (&["order.*.done"], "order.done", false),
        (&["o*d*d"], "order.created", true),
        (&["o*x*d"], "order.created", false),
        (&["ab*ba"], "aba", false),
        (&["a*a"], "a", false),
        (&["*aab*"], "aaab", true),
        (&["*ü*"], "grün", true),
        (&["invoice.*", "order.*"], "order.created", true),
        (&["invoice.*", "charge.*"], "order.created", false),
    ] {
        let types = compile(patterns).unwrap();
        assert_eq!(types.wants(Some(event_type)), wanted, "{patterns:?} {event_type}");
    }
}

#[test]
fn an_unknown_type_is_wanted_by_those_who_want_everything() {
    assert!(EventTypes::default().wants(None));
    assert!(compile(&["order.*", "*"]).unwrap().wants(None));
    assert!(!compile(&["order.*"]).unwrap().wants(None));
}

#[test]
fn the_list_is_bounded_and_says_what_is_wrong() {
    let longest = "x".repeat(PATTERN_BYTES_MAX);
    assert!(compile(&vec![longest.as_str(); PATTERNS_MAX]).is_ok());
    for (patterns, error) in [
        (vec!["a"; PATTERNS_MAX + 1], BadPattern::TooMany(PATTERNS_MAX + 1)),
        (vec![&*format!("{longest}x")], BadPattern::TooLong(PATTERN_BYTES_MAX + 1)),
        (vec!["a", ""], BadPattern::Empty),
        (vec!["a\n"], BadPattern::Control("a\n".to_owned())),
    ] {
        assert_eq!(compile(&patterns), Err(error));
    }
}

/// The textbook definition, which takes exponential time.
fn matches(pattern: &[char], text: &[char]) -> bool {
    match pattern.split_first() {
        None => text.is_empty(),
        Some(('*', rest)) => (0..=text.len()).any(|at| matches(rest, &text[at..])),
        Some((first, rest)) => {
            text.split_first().is_some_and(|(c, t)| c == first && matches(rest, t))
        }
    }
}

proptest! {
    #[test]
    fn every_pattern_means_what_the_textbook_says(pattern in "[ab*é]{1,8}", text in "[abé]{0,10}") {
        let chars = |text: &str| text.chars().collect::<Vec<_>>();
        let expected = matches(&chars(&pattern), &chars(&text));
        prop_assert_eq!(compile(&[&pattern]).unwrap().wants(Some(&text)), expected);
    }
}
