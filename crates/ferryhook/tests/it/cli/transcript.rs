//! The README's transcript, run from its first line to its last: what it shows is what happens.
//!
//! Every block that is fenced as `console` is part of it. `make run` is run as the binary it
//! starts, on a terminal and on a free port; what goes on running is compared as it speaks.

mod app;
mod session;

use std::path::Path;

use app::App;
use session::Session;

/// What is typed, and what is then to be seen.
#[derive(Debug)]
struct Step {
    typed: String,
    shown: Vec<String>,
}

fn steps(readme: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let mut is_inside = false;
    for line in readme.lines() {
        match (line, is_inside) {
            ("```console", false) => is_inside = true,
            ("```", true) => is_inside = false,
            (line, true) => match line.strip_prefix("$ ") {
                Some(typed) => {
                    steps.push(Step { typed: typed.to_owned(), shown: Vec::new() });
                }
                None => steps.last_mut().expect("a command first").shown.push(line.to_owned()),
            },
            _ => {}
        }
    }
    steps
}

#[test]
fn the_readme_tells_the_truth() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let readme = std::fs::read_to_string(root.join("README.md")).unwrap();
    let makefile = std::fs::read_to_string(root.join("Makefile")).unwrap();
    assert!(makefile.contains("cargo run --release --bin ferryhook -- dev"), "make run is dev");
    let steps = steps(&readme);
    assert!(steps.len() >= 4, "{steps:#?}");
    let mut session = Session::new(App::start());
    for step in &steps {
        session.take(&step.typed, &step.shown);
    }
    session.end();
}
