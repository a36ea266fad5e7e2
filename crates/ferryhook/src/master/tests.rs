use std::fs;
use std::os::unix::fs::PermissionsExt;

use super::*;

fn env() -> Env {
    Env::fixed("2026-01-01T00:00:00Z")
}

fn ids(keys: &MasterKeys) -> Vec<&str> {
    std::iter::once(&keys.current).chain(&keys.former).map(MasterKey::id).collect()
}

#[test]
fn several_keys_are_read_in_their_order() {
    let env = env();
    let [new, old] = [(); 2].map(|()| MasterKey::generate(&env));
    let (new_text, old_text) = (new.text().expose(), old.text().expose());
    for text in [format!("{new_text},{old_text}"), format!(" {new_text}\r\n{old_text}\n")] {
        assert_eq!(ids(&parse(&text).unwrap()), [new.id(), old.id()]);
    }
    for bad in ["", " , ", "hush", &format!("{new_text},hush")] {
        assert!(parse(bad).is_err(), "{bad}");
    }
}

/// Wherever it stops, the next start has every key that anything may need.
#[test]
fn a_key_file_is_never_without_a_key() {
    let (env, folder) = (env(), tempfile::tempdir().unwrap());
    let file = KeyFile::of(folder.path());
    assert!(file.read().unwrap().is_none());
    let first = file.create(&env).unwrap().current;
    let mode = fs::metadata(file.path()).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    assert_eq!(ids(&file.read().unwrap().unwrap()), [first.id()]);

    let second = file.begin_rotation(&env).unwrap();
    assert_eq!(ids(&file.read().unwrap().unwrap()), [second.id(), first.id()]);
    // It was cut short, and goes on to the same key.
    assert_eq!(file.begin_rotation(&env).unwrap().id(), second.id());

    let retired = file.end_rotation().unwrap().unwrap();
    assert_eq!(read(&retired).unwrap().current.id(), first.id());
    assert_eq!(ids(&file.read().unwrap().unwrap()), [second.id()]);
    assert!(file.end_rotation().unwrap().is_none());
}

/// Cut short between its two steps: the old key has two names, and nothing has happened.
#[test]
fn a_rotation_that_only_linked_the_old_key_begins_anew() {
    let (env, folder) = (env(), tempfile::tempdir().unwrap());
    let file = KeyFile::of(folder.path());
    let first = file.create(&env).unwrap().current;
    fs::hard_link(file.path(), folder.path().join("master.key.old")).unwrap();
    let second = file.begin_rotation(&env).unwrap();
    assert_ne!(second.id(), first.id());
    assert_eq!(ids(&file.read().unwrap().unwrap()), [second.id(), first.id()]);
}
