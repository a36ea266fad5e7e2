//! Logging in and out: a key is kept, a password never is.

use std::os::unix::fs::PermissionsExt;

use ferryhook_core::{Env, Secret, totp};
use serde_json::{Value, json};

use super::calm::narrow;
use super::shell::{EMAIL, PASSWORD, Shell, output};
use crate::ferry::show;

fn said(shell: &Shell, arguments: &[&str], input: &str) -> String {
    narrow(&show(&output(&mut shell.stranger(arguments), input)))
        .replace(&*shell.home.path().to_string_lossy(), "HOME")
}

fn file(shell: &Shell) -> std::path::PathBuf {
    shell.home.path().join(".config/ferryhook/config.toml")
}

#[test]
fn a_password_is_exchanged_for_a_key() {
    let shell = Shell::new();
    let url = shell.url();
    let input = format!("{EMAIL}\n{PASSWORD}\n");
    insta::assert_snapshot!(said(&shell, &["login", &url, "--name", "work"], &input), @"
    exit 0
    logged in to http://127.0.0.1:PORT as admin of Ada
      the key is in HOME/.config/ferryhook/config.toml, context work
    ");
    let mode = std::fs::metadata(file(&shell)).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let text = std::fs::read_to_string(file(&shell)).unwrap();
    assert!(text.contains("fh_live_") && !text.contains(PASSWORD), "{text}");
    // From now on nothing has to be said.
    insta::assert_snapshot!(said(&shell, &["whoami"], ""), @"
    exit 0
    server http://127.0.0.1:PORT
    context work
    account Ada (acc_ID)
    user usr_ID
    role admin
    key key_ID
    ");
    insta::assert_snapshot!(said(&shell, &["sources", "list"], ""), @"
    exit 0
    no sources; ferryhook sources create NAME makes one
    ");
    insta::assert_snapshot!(said(&shell, &["context", "list"], ""), @"
    exit 0
       NAME SERVER ACCOUNT
    * work http://127.0.0.1:PORT Ada
    ");
    // The session that made the key is over, and the key is revoked with the login.
    let keys = shell.json(&["api-keys", "list", "--json"]);
    let ours = |keys: &Value| {
        let all = keys["data"].as_array().unwrap().clone();
        all.into_iter()
            .find(|key| key["name"].as_str().unwrap().starts_with("ferryhook on "))
            .unwrap()
    };
    assert_eq!(ours(&keys)["status"], "active");
    insta::assert_snapshot!(said(&shell, &["logout"], ""), @"
    exit 0
    logged out of http://127.0.0.1:PORT (work)
    ");
    assert_eq!(ours(&shell.json(&["api-keys", "list", "--json"]))["status"], "revoked");
    assert!(!std::fs::read_to_string(file(&shell)).unwrap().contains("fh_live_"));
    insta::assert_snapshot!(said(&shell, &["logout"], ""), @"
    exit 0
    nobody is logged in
    ");
}

#[test]
fn a_wrong_password_is_said_and_nothing_is_kept() {
    let shell = Shell::new();
    let input = format!("{EMAIL}\nwrong\n");
    insta::assert_snapshot!(said(&shell, &["login", &shell.url()], &input), @"
    exit 3
    ferryhook: http://127.0.0.1:PORT does not know this address with this password or code
    ");
    insta::assert_snapshot!(said(&shell, &["login", &shell.url(), "--email", EMAIL], ""), @"
    exit 1
    ferryhook: nothing was answered to: password
    ");
    assert!(!file(&shell).exists());
}

#[test]
fn a_second_factor_is_asked_for() {
    let shell = Shell::new();
    let call = |token: &str, path: &str, body: Value| {
        let headers =
            format!("content-type: application/json\r\nauthorization: Bearer {token}\r\n");
        shell.ferry.post_with(path, &headers, body.to_string().as_bytes()).json()
    };
    let in_ = call("none", "/v1/auth/login", json!({ "email": EMAIL, "password": PASSWORD }));
    let token = in_["accessToken"].as_str().unwrap();
    let secret = call(token, "/v1/auth/totp", json!({}))["secret"].as_str().unwrap().to_owned();
    let secret = Secret::new(secret);
    let code = totp::code(&secret, Env::system().now()).unwrap();
    let recovery = call(token, "/v1/auth/totp/confirm", json!({ "code": code }));
    let recovery = recovery["recoveryCodes"][0].as_str().unwrap_or_else(|| panic!("{recovery}"));
    let url = shell.url();
    let input = format!("{EMAIL}\n{PASSWORD}\n{recovery}\n");
    let inside = said(&shell, &["login", &url], &input);
    assert!(inside.starts_with("exit 0\nlogged in to "), "{inside}");
    let again = said(&shell, &["login", &url], &input);
    assert!(again.starts_with("exit 3\n"), "a recovery code counts once: {again}");
}

#[test]
fn a_key_is_enough_and_several_servers_are_kept_apart() {
    let shell = Shell::new();
    let url = shell.url();
    let key = format!("{}\n", shell.key);
    said(&shell, &["login", &url, "--api-key", "-", "--name", "one"], &key);
    said(&shell, &["login", &url, "--api-key", "-", "--name", "two"], &key);
    insta::assert_snapshot!(said(&shell, &["context", "list"], ""), @"
    exit 0
       NAME SERVER ACCOUNT
       one http://127.0.0.1:PORT Ada
    * two http://127.0.0.1:PORT Ada
    ");
    insta::assert_snapshot!(said(&shell, &["context", "use", "one"], ""), @"
    exit 0
    one (http://127.0.0.1:PORT) is the current login
    ");
    insta::assert_snapshot!(said(&shell, &["context", "use", "three"], ""), @r#"
    exit 4
    ferryhook: there is no login "three"; `ferryhook context list` shows them
    "#);
    insta::assert_snapshot!(said(&shell, &["whoami", "--context", "three"], ""), @r#"
    exit 4
    ferryhook: there is no context "three"; there is one, two
    "#);
    let listed = output(&mut shell.stranger(&["context", "list", "--json"]), "");
    let listed: Value = serde_json::from_slice(&listed.stdout).unwrap();
    assert_eq!((&listed[0]["name"], &listed[0]["isCurrent"]), (&json!("one"), &json!(true)));
    // A login is for its server: another one is not shown the key.
    let other = Shell::new();
    let nobody = said(&shell, &["whoami", "--server", &other.url()], "");
    assert!(
        nobody.starts_with("exit 3\nferryhook: http://127.0.0.1:PORT wants to know"),
        "{nobody}"
    );
    let bad = said(&shell, &["login", &url, "--api-key", "fh_live_nonsense"], "");
    assert!(bad.starts_with("exit 3\n"), "{bad}");
}
