//! `ferryhook signature`: verifies and signs requests as providers do, without a server.

mod providers;
mod sign;
mod verify;

use crate::cli::SignatureCommand;

pub fn run(command: &SignatureCommand) -> anyhow::Result<()> {
    match command {
        SignatureCommand::Verify(asked) => verify::run(asked),
        SignatureCommand::Sign(asked) => sign::run(asked),
        SignatureCommand::Providers(asked) => providers::run(asked),
    }
}
