//! `ferryhook completions` and `ferryhook man`: for shells and for readers of manuals.

use std::io::Write;

use clap::CommandFactory;
use clap_complete::Shell;

use crate::cli::Cli;

pub fn run(shell: Shell) -> anyhow::Result<()> {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "ferryhook", &mut text);
    Ok(std::io::stdout().write_all(&text)?)
}

/// One page: of the whole, or of one command.
pub fn man(words: &[String]) -> anyhow::Result<()> {
    let mut command = Cli::command();
    command.build();
    for word in words {
        let found = command.find_subcommand(word).cloned();
        command = found.ok_or_else(|| anyhow::anyhow!("there is no command {word:?}"))?;
    }
    let mut text = Vec::new();
    clap_mangen::Man::new(command).render(&mut text)?;
    Ok(std::io::stdout().write_all(&text)?)
}
