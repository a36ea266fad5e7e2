use super::*;
use proptest::prelude::*;

struct Parcel;
impl Identified for Parcel {
    const PREFIX: &'static str = "prc_";
    const SORTABLE: bool = true;
}

struct Crate;
impl Identified for Crate {
    const PREFIX: &'static str = "crate_";
}

#[test]
fn an_id_is_its_prefix_and_sixteen_characters() {
    let env = Env::fixed("2026-01-01T00:00:00Z");
    let id = Id::<Crate>::new(&env);
    assert_eq!(id.as_str().len(), "crate_".len() + 16);
    assert_eq!(id.as_str().parse::<Id<Crate>>().unwrap(), id);
    assert_ne!(id, Id::new(&env), "two ids of one moment differ");
}

#[test]
fn what_is_not_an_id_is_refused() {
    for text in [
        "",
        "prc_",
        "prc_0123456789abcde",
        "prc_0123456789abcdefg",
        "src_0123456789abcdef",
        "prc_0123456789abcde!",
        "prc_0123456789abcdé",
        "PRC_0123456789abcdef",
    ] {
        assert!(text.parse::<Id<Parcel>>().is_err(), "{text:?} was taken");
    }
}

#[test]
fn only_sortable_ids_tell_their_time() {
    let env = Env::fixed("2026-01-01T00:00:00Z");
    assert_eq!(Id::<Parcel>::new(&env).made_at(), Some(env.now()));
    assert_eq!(Id::<Crate>::new(&env).made_at(), None);
}

/// Also where every digit carries over.
#[test]
fn the_next_in_order_is_behind() {
    let env = Env::fixed("2026-01-01T00:00:00Z");
    let id = Id::<Parcel>::new(&env);
    assert!(id < id.following() && id.following() < id.following().following());
    let last: Id<Parcel> = "prc_0123456zzzzzzzzz".parse().unwrap();
    assert_eq!(last.following().as_str(), "prc_0123457---------");
}

proptest! {
    #[test]
    fn sorting_by_id_is_sorting_by_time(a in 0i64..1 << 48, b in 0i64..1 << 48) {
        let env = Env::fixed("2026-01-01T00:00:00Z");
        let [first, second] = [a, b].map(|millis| Id::<Parcel>::at(Timestamp::from_millis(millis), &env));
        prop_assert_eq!(first.made_at(), Some(Timestamp::from_millis(a)));
        if a != b {
            prop_assert_eq!(first.cmp(&second), a.cmp(&b));
        }
    }

    #[test]
    fn any_text_is_an_id_or_an_error_and_never_a_panic(text in "\\PC{0,40}") {
        if let Ok(id) = text.parse::<Id<Parcel>>() {
            prop_assert_eq!(id.as_str(), text);
        }
    }
}

/// What clients are told an id looks like is what an id looks like.
#[test]
fn an_id_is_described_as_it_is() {
    use utoipa::{PartialSchema, ToSchema};

    assert_eq!(SourceId::name(), "SourceId");
    let schema = serde_json::to_value(SourceId::schema()).unwrap();
    let pattern = regex::Regex::new(schema["pattern"].as_str().unwrap()).unwrap();
    let id = SourceId::new(&Env::fixed("2026-01-01T00:00:00Z"));
    assert!(pattern.is_match(id.as_str()), "{pattern} {id}");
    assert!(!pattern.is_match(&id.as_str()[1..]));
    assert!(!pattern.is_match(&format!("{id}x")));
}
