use tokio::task::JoinSet;

use super::*;

fn passwords() -> Passwords {
    Passwords::with(Env::fixed("2026-01-01T00:00:00Z"), COST, 1)
}

fn complaint(password: &str) -> String {
    match check(password, "ada.lovelace@example.com", "/password") {
        Ok(()) => "fine".to_owned(),
        Err(problem) => format!("{problem:?}"),
    }
}

#[tokio::test]
async fn a_kept_password_is_recognised() {
    let passwords = Passwords::new(Env::fixed("2026-01-01T00:00:00Z"));
    let kept = passwords.hash("correct horse").await.unwrap();
    assert!(kept.expose().starts_with("$2b$12$"), "{}", kept.expose());
    assert!(passwords.is_right("correct horse", Some(&kept)).await.unwrap());
    assert!(!passwords.is_right("correct horsf", Some(&kept)).await.unwrap());
    assert!(!passwords.is_right("correct horse", None).await.unwrap());
    // The one that stands in for nobody's can be read, or it would take no time.
    assert!(bcrypt::verify("x", NOBODYS).is_ok());
}

/// One has the turn, as many as there is room for wait, the next is sent away.
#[tokio::test]
async fn a_flood_is_told_to_come_back() {
    let passwords = passwords();
    let (release, held) = std::sync::mpsc::channel::<()>();
    let mut flood = JoinSet::new();
    let first = passwords.clone();
    flood.spawn(async move { first.run(move || held.recv().unwrap_or_default()).await });
    for _ in 0..WAITING_MAX {
        let next = passwords.clone();
        flood.spawn(async move { next.run(|| {}).await });
    }
    while passwords.room.available_permits() > 0 {
        tokio::task::yield_now().await;
    }
    assert!(passwords.run(|| {}).await.is_err());
    drop(release);
    assert!(flood.join_all().await.iter().all(Result::is_ok));
    assert!(passwords.run(|| {}).await.is_ok());
}

#[test]
fn length_counts_and_nothing_else() {
    assert_eq!(complaint("tr0ub4dor"), "fine");
    assert_eq!(complaint("        "), complaint("aaaaaaaa"), "one letter is no password");
    assert_eq!(complaint(&"ab".repeat(36)), "fine");
    assert!(complaint(&"ab".repeat(37)).contains("at most 72 bytes"));
    assert!(complaint(&"ä".repeat(37)).contains("at most 72 bytes"));
    assert!(complaint("seven77").contains("at least 8 characters"));
    assert!(complaint("with\0nul1").contains("NUL"));
    for common in ["Password1", "12345678", "ada.lovelace", "Ada.Lovelace@Example.com"] {
        assert!(complaint(common).contains("first that anybody"), "{common}");
    }
}

#[test]
fn the_list_is_in_the_form_it_is_looked_up_in() {
    for common in ["password", "qwertyuiop"] {
        assert!(common::is_common(common));
    }
    assert!(!common::is_common("tr0ub4dor"));
}
