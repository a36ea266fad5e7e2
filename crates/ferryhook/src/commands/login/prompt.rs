//! Questions to the person at the terminal. Without one, the answers are lines of the standard
//! input, in the order of the questions.

use std::io::{self, IsTerminal, Write};

use anyhow::{Context, ensure};
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};

const ANSWER_BYTES_MAX: usize = 4096;

pub fn line(question: &str) -> anyhow::Result<String> {
    let stdin = io::stdin();
    if stdin.is_terminal() {
        write!(io::stderr(), "{question}")?;
    }
    let mut answer = String::new();
    stdin.read_line(&mut answer)?;
    let answer = answer.trim_end_matches(['\r', '\n']);
    let asked = question.trim_end_matches([':', ' ']).to_lowercase();
    ensure!(!answer.is_empty(), "nothing was answered to: {asked}");
    ensure!(answer.len() <= ANSWER_BYTES_MAX, "that is too long for: {asked}");
    Ok(answer.to_owned())
}

/// The same, without showing what is typed.
pub fn hidden(question: &str) -> anyhow::Result<String> {
    if !io::stdin().is_terminal() {
        return line(question);
    }
    let _unseen = Unseen::new()?;
    let answer = line(question);
    let _ = writeln!(io::stderr());
    answer
}

/// While it lives, the terminal shows nothing of what is typed.
struct Unseen {
    was: Termios,
}

impl Unseen {
    fn new() -> anyhow::Result<Self> {
        let was = tcgetattr(io::stdin()).context("cannot ask the terminal to be silent")?;
        let mut silent = was.clone();
        silent.local_modes.remove(LocalModes::ECHO);
        tcsetattr(io::stdin(), OptionalActions::Flush, &silent)
            .context("cannot ask the terminal to be silent")?;
        Ok(Self { was })
    }
}

impl Drop for Unseen {
    fn drop(&mut self) {
        let _ = tcsetattr(io::stdin(), OptionalActions::Flush, &self.was);
    }
}
