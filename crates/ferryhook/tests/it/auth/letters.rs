//! Letters, through a real mail server.

use std::fs;
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::json;

use super::person::{EMAIL, PASSWORD, Person};
use crate::ferry::{Ferry, spawn};

/// aiosmtpd, which puts every letter into a folder.
struct Post {
    child: Child,
    port: u16,
    folder: tempfile::TempDir,
}

impl Post {
    fn open() -> Option<Self> {
        let Ok(python) = std::env::var("FERRYHOOK_TEST_PYTHON") else {
            eprintln!("\n!!! SKIPPED, NOT PASSED: letters: FERRYHOOK_TEST_PYTHON is not set !!!\n");
            return None;
        };
        let folder = tempfile::tempdir().unwrap();
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let mut command = Command::new(python);
        command.args(["-m", "aiosmtpd", "-n", "-c", "aiosmtpd.handlers.Mailbox"]);
        command.arg(folder.path().join("mail")).args(["-l", &format!("127.0.0.1:{port}")]);
        let child = spawn(command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()));
        let mut post = Self { child, port, folder };
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert_eq!(post.child.try_wait().unwrap(), None, "the mail server does not start");
            std::thread::sleep(Duration::from_millis(20));
        }
        Some(post)
    }

    /// The letter with this subject, when it has come.
    fn letter(&self, subject: &str) -> String {
        let new = self.folder.path().join("mail/new");
        for _ in 0..3000 {
            if let Some(letter) = find(&new, subject) {
                return letter;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        panic!("no letter about {subject:?} has come");
    }

    fn ticket(&self, subject: &str) -> String {
        let letter = self.letter(subject);
        let rest = letter.split("?token=").nth(1).unwrap_or_else(|| panic!("{letter}"));
        rest.split_whitespace().next().unwrap().to_owned()
    }
}

impl Drop for Post {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn find(folder: &Path, subject: &str) -> Option<String> {
    let files = fs::read_dir(folder).ok()?.filter_map(Result::ok);
    let texts = files.filter_map(|file| fs::read_to_string(file.path()).ok());
    texts.map(|text| unfolded(&text)).find(|text| text.contains(&format!("Subject: {subject}")))
}

/// Long lines of a letter end in `=` and go on in the next; `=3D` is an equals sign.
fn unfolded(letter: &str) -> String {
    letter.replace("\r\n", "\n").replace("=\n", "").replace("=3D", "=")
}

/// Signing up, confirming and losing a password, with nothing but what a person gets to see.
#[test]
fn letters_open_the_door() {
    let Some(post) = Post::open() else { return };
    let url = format!("smtp://127.0.0.1:{}", post.port);
    let ferry = Ferry::start_with(&[
        ("FERRYHOOK_SIGNUP", "open"),
        ("SMTP_URL", &url),
        ("MAIL_FROM", "Ferryhook <ferryhook@example.com>"),
    ]);
    let mut ada = Person::at(&ferry);
    let new = ada.sign_up(EMAIL).expect(202);
    ada.log_in(PASSWORD).expect(403);
    let letter = post.letter("Confirm your address");
    assert!(letter.contains("From: Ferryhook <ferryhook@example.com>"), "{letter}");
    assert!(letter.contains(&format!("To: {EMAIL}")), "{letter}");
    let ticket = post.ticket("Confirm your address");
    ada.post("/v1/auth/verify-email", &json!({ "token": ticket })).expect(204);
    ada.log_in(PASSWORD).expect(200);
    // A stranger who tries the same address is told the same, and she hears of it.
    assert_eq!(Person::at(&ferry).sign_up(EMAIL).expect(202), new);
    post.letter("You have an account already");

    let mut other = Person::at(&ferry);
    other.post("/v1/auth/forgot-password", &json!({ "email": EMAIL })).expect(202);
    let ticket = post.ticket("Choose a new password");
    let link = format!("http://{}/reset-password?token={ticket}", ferry.address);
    assert!(other.visit(&link, None).text.contains("<form method=\"post\">"));
    let form = [("token", ticket.as_str()), ("password", "another horse 8")];
    let said = other.visit(&link, Some(&form));
    assert_eq!(said.status, 200, "{}", said.text);
    ada.get("/v1/auth/me").expect(401);
    other.log_in(PASSWORD).expect(401);
    other.log_in("another horse 8").expect(200);
    post.letter("Your password was changed");
    ferry.stop();
}

/// Of a mail server that is slow, or does not answer at all, a stop waits for as long as it has
/// time. What was then not sent is told, by its number.
#[test]
fn letters_under_way_are_not_forgotten_at_a_stop() {
    let (calls, called) = std::sync::mpsc::channel();
    let silent = crate::destination::meet(move |stream| calls.send(stream).unwrap());
    let url = format!("smtp://{silent}");
    let ferry = Ferry::start_with(&[
        ("FERRYHOOK_SIGNUP", "open"),
        ("SMTP_URL", &url),
        ("MAIL_FROM", "Ferryhook <ferryhook@example.com>"),
    ]);
    for place in 0..2 {
        Person::at(&ferry).sign_up(&format!("ada{place}@example.com")).expect(202);
    }
    // Both are under way; neither is answered.
    let _lines = [called.recv().unwrap(), called.recv().unwrap()];
    let log = ferry.last_log();
    let mut lines = log.lines().filter(|line| line.contains("letters were not sent"));
    assert!(lines.any(|line| line.contains("\"letters\":2")), "{log}");
}
