use serde_json::json;

use super::*;
use crate::Env;

mod item;

fn settings(config: &serde_json::Value) -> Result<Settings, String> {
    Settings::parse(config.as_object()).map_err(|error| error.to_string())
}

#[test]
fn a_connection_names_its_group_and_its_patience() {
    assert_eq!(settings(&json!(null)), Ok(Settings::default()));
    let told = settings(&json!({"group": "billing", "maxLeases": 3}));
    assert_eq!(told, Ok(Settings { group: "billing".parse().unwrap(), leases_max: 3 }));
    for wrong in [
        json!({"group": "Billing"}),
        json!({"group": ""}),
        json!({"group": 7}),
        json!({"group": "a".repeat(65)}),
        json!({"maxLeases": 0}),
        json!({"maxLeases": 1001}),
        json!({"maxLeases": "3"}),
        json!({"visibility": 30}),
    ] {
        assert!(settings(&wrong).is_err(), "{wrong}");
    }
}

#[test]
fn a_token_is_read_back_and_in_one_spelling_only() {
    let env = Env::fixed("2026-01-01T00:00:00Z");
    let token = Token { event: Id::new(&env), connection: Id::new(&env), lease: 12 };
    let text = token.to_string();
    assert_eq!(text.parse(), Ok(token));
    let zero = text.replace(".12", ".012");
    let plus = text.replace(".12", ".+12");
    let more = format!("{text}.1");
    let less = text.rsplit_once('.').map(|(less, _)| less.to_owned()).unwrap();
    for wrong in [zero, plus, more, less, String::new(), "..".to_owned()] {
        assert_eq!(wrong.parse::<Token>(), Err(BadToken), "{wrong}");
    }
}
