use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::json::{Document, Value};

fn selected<'d>(path: &Path, root: Value<'d>) -> Vec<Value<'d>> {
    let mut found = Vec::new();
    let flow = path.select(root, &Effort::new(1_000_000), &mut |value| {
        found.push(value);
        Flow::Continue(())
    });
    assert_eq!(flow, Flow::Continue(()));
    found
}

/// The suite of the standard: every path is refused that it wants refused, and every other selects
/// what it says, in its order.
#[test]
fn the_compliance_test_suite_passes() {
    let suite = include_str!("../../tests/data/json_path/compliance.jsonl");
    let mut failures = Vec::new();
    let mut count = 0;
    for line in suite.lines() {
        count += 1;
        let test = Document::read(line).unwrap();
        let test = test.root();
        let name = test.get("name").unwrap().as_text().unwrap();
        let selector = test.get("selector").unwrap().as_text().unwrap();
        match (Path::parse(&selector), test.get("invalid").is_some()) {
            (Err(_), true) => {}
            (Ok(_), true) => failures.push(format!("{name}: {selector} is not refused")),
            (Err(error), false) => failures.push(format!("{name}: {selector}: {error}")),
            (Ok(path), false) => {
                let found = selected(&path, test.get("document").unwrap());
                let is_right = test.get("results").unwrap().items().any(|wanted| {
                    wanted.items().count() == found.len()
                        && wanted.items().zip(&found).all(|(wanted, found)| wanted.equals(*found))
                });
                if !is_right {
                    let found: Vec<_> = found.iter().map(|value| value.shown(100)).collect();
                    failures.push(format!("{name}: {selector} selects {found:?}"));
                }
            }
        }
    }
    assert!(failures.is_empty(), "{} of {count}:\n{}", failures.len(), failures.join("\n"));
    assert_eq!(count, 687);
}

/// Behind a root that is not written, names are freer than the standard has them.
#[test]
fn steps_are_read_freely() {
    let document = Document::read(r#"{"e-mail": [{"1": "x"}, [7]], "a b": 2}"#).unwrap();
    for (steps, found) in [
        (".e-mail[0].1", &[r#""x""#][..]),
        (".e-mail.0.1", &[r#""x""#]),
        (".e-mail.1.0", &["7"]),
        ("['a b']", &["2"]),
        ("..1", &["[7]", r#""x""#]),
        (".e-mail[*].*", &[r#""x""#, "7"]),
        (".e-mail[?@[0] == 7][0]", &["7"]),
        (".nothing", &[]),
    ] {
        let path = Path::parse_steps(steps).unwrap_or_else(|error| panic!("{steps}: {error}"));
        let values = selected(&path, document.root());
        let shown: Vec<_> = values.iter().map(|value| value.shown(100)).collect();
        assert_eq!(shown, found, "{steps}");
    }
    for steps in [
        "a",
        ".",
        "..",
        ".a b",
        ".a.",
        ".a[",
        ".a]",
        ".a[b]",
        ".a..",
        "[?@.e-mail]",
        ".length()",
        ".a*",
        ".'a'",
    ] {
        assert!(Path::parse_steps(steps).is_err(), "{steps}");
    }
}

#[test]
fn a_bad_path_is_refused_with_its_place() {
    for (path, error) in [
        ("", "expected \"$\", found the end (at byte 0 of the path)"),
        ("a", "expected \"$\", found 'a' (at byte 0 of the path)"),
        (
            "$.a[",
            "expected a name in quotes, a number, \"*\" or \"?\", found the end (at byte 4 of the path)",
        ),
        ("$.a.", "expected a name, found the end (at byte 4 of the path)"),
        ("$.a b", "expected a dot, a bracket or the end, found ' ' (at byte 3 of the path)"),
        ("$[01]", "expected a whole number within ±(2^53 - 1) (at byte 2 of the path)"),
        ("$[?@.a = 1]", "expected a comparison, found '=' (at byte 7 of the path)"),
        ("$[?nope(@)]", "there is no function \"nope\" (at byte 7 of the path)"),
        ("$['a\u{1}']", "a control character must be escaped (at byte 4 of the path)"),
    ] {
        assert_eq!(Path::parse(path).unwrap_err().to_string(), error, "{path}");
    }
}

#[test]
fn paths_are_bounded() {
    let at_most = |text: String, too_long: String| {
        assert!(Path::parse(&text).is_ok(), "{text}");
        assert!(Path::parse(&too_long).is_err(), "{too_long}");
    };
    at_most(
        format!("${}", ".a".repeat(SEGMENTS_MAX)),
        format!("${}", ".a".repeat(SEGMENTS_MAX + 1)),
    );
    at_most(
        format!("$.{}", "a".repeat(PATH_BYTES_MAX - 2)),
        format!("$.{}", "a".repeat(PATH_BYTES_MAX - 1)),
    );
    at_most(
        format!("$[0{}]", ",0".repeat(SELECTORS_MAX - 1)),
        format!("$[0{}]", ",0".repeat(SELECTORS_MAX)),
    );
    let nested = |depth: usize| format!("$[?{}@.a{}]", "(".repeat(depth), ")".repeat(depth));
    at_most(nested(NESTING_MAX - 1), nested(NESTING_MAX));
    let filters = |depth: usize| format!("${}@{}", "[?@".repeat(depth), "]".repeat(depth));
    assert!(Path::parse(&filters(NESTING_MAX + 1)).is_err());
}

/// Selecting costs what it looks at, and ends when that is too much.
#[test]
fn effort_ends_every_walk() {
    let wide = json!({"a": vec![vec![1; 100]; 100]}).to_string();
    let wide = Document::read(wide).unwrap();
    let deep = format!("{}1{}", r#"{"a":["#.repeat(60), "]}".repeat(60));
    let deep = Document::read(deep).unwrap();
    for path in [
        "$..*..*..*..*",
        "$..[*,*,*,*]..[*,*,*,*]",
        "$..[?count($..*) > 1000000]",
        "$..[?@ == $]",
        "$.a[*][?length($) == 7 || count(@..*) > 3]",
        "$..[?search($.a[0][0], @.b) || match('x', $.p)]..[?$..[?$..a]]",
        "$.a[?@[99] == 2][?$.a[-1][::-1]]",
    ] {
        for document in [&wide, &deep] {
            let path = Path::parse(path).unwrap();
            let effort = Effort::new(5_000);
            let mut visits = 0;
            let flow = path.select(document.root(), &effort, &mut |_| {
                visits += 1;
                Flow::Continue(())
            });
            assert!(visits <= 5_000);
            assert!(flow == Flow::Continue(()) || effort.is_spent());
        }
    }
    // Looking for an element that is not there costs the list.
    for path in ["$.a[99]", "$.a[7777]", "$.a[-1]", "$.a[-7777]"] {
        let effort = Effort::new(50);
        let flow =
            Path::parse(path).unwrap().select(wide.root(), &effort, &mut |_| Flow::Continue(()));
        assert_eq!(flow, Flow::Break(Stop::TooMuch), "{path}");
    }
    let effort = Effort::new(100);
    let flow =
        Path::parse("$..*").unwrap().select(wide.root(), &effort, &mut |_| Flow::Continue(()));
    assert_eq!(flow, Flow::Break(Stop::TooMuch));
}

#[test]
fn patterns_are_bounded() {
    assert!(compile(&"a".repeat(REGEX_BYTES_MAX)).is_ok());
    assert_eq!(compile(&"a".repeat(1025)).unwrap_err(), BadRegex::TooLong(1025));
    assert_eq!(compile("(\\w{100}){100}").unwrap_err(), BadRegex::TooLarge);
    assert_eq!(compile("a(").unwrap_err(), BadRegex::Malformed("unclosed group".to_owned()));
    assert_eq!(
        compile("(?=a)").unwrap_err().to_string(),
        "not a regular expression: look-around, including look-ahead and look-behind, is not supported"
    );
    assert!(compile(&format!("{}a{}", "(".repeat(60), ")".repeat(60))).is_err());
}

proptest! {
    #[test]
    fn no_text_makes_the_parser_panic(text in "[$@.\\[\\]?()!&|=<>*:,'\"a-c0-9\\\\ü -]{0,60}") {
        let _ = Path::parse(&text);
        let _ = Path::parse(&format!("$[?{text}]"));
        let _ = Path::parse_steps(&text);
    }
}
