use super::*;
use crate::samples;

fn session(path: &str) -> CliSession {
    CliSession {
        id: "lsn_0000000000000001".parse().unwrap(),
        account_id: "acc_0000000000000001".parse().unwrap(),
        user_id: "usr_0000000000000001".parse().unwrap(),
        path: path.to_owned(),
        connections: Vec::new(),
    }
}

#[test]
fn the_local_app_gets_what_followed_the_source_behind_its_own_path() {
    let at = |own: &str, path: Option<&str>, query: Option<&str>| {
        let (path, query) = (path.map(str::to_owned), query.map(str::to_owned));
        session(own).path_of(&Event { path, query, ..samples::event() })
    };
    assert_eq!(at("/", None, None), "/");
    assert_eq!(at("/", None, Some("a=b%20c")), "/?a=b%20c");
    assert_eq!(at("/hooks", None, None), "/hooks");
    assert_eq!(at("/hooks", Some("/github/"), Some("x")), "/hooks/github/?x");
    assert_eq!(at("/", Some("github"), Some("")), "/github");
}

#[test]
fn a_connection_knows_until_when_it_is_listened_to() {
    let until = Timestamp::from_millis(1_700_000_000_123);
    let http = samples::connection();
    assert!(!http.is_listened_to());
    assert_eq!(http.listening_until(until).listens_until(), None);
    let cli = Connection {
        destination_type: DestinationType::Cli,
        destination_config: Some(session("/").destination(until)),
        ..http
    };
    assert_eq!(cli.listens_until(), Some(until));
    let later = until + Duration::from_secs(60);
    assert_eq!(cli.listening_until(later).listens_until(), Some(later));
    assert_eq!(serde_json::to_value(&cli).unwrap()["destinationType"], "cli");
}
