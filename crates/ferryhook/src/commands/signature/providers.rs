//! `ferryhook signature providers`: who can be verified, and how sure that is.

use std::io::Write;

use ferryhook_core::providers::{self, Confidence, Provider};
use serde_json::json;

use crate::cli::SignatureProviders;
use crate::commands::columns::Columns;

pub fn run(asked: &SignatureProviders) -> anyhow::Result<()> {
    let mut output = std::io::stdout().lock();
    if asked.json {
        for provider in providers::all() {
            let line = json!({
                "provider": provider.name,
                "confidence": confidence(provider),
                "schemes": names(provider),
                "signature": provider.signature(),
            });
            writeln!(output, "{line}")?;
        }
        return Ok(());
    }
    let mut columns = Columns::new(["PROVIDER", "CONFIDENCE", "SCHEMES", "SIGNATURE"]);
    for provider in providers::all() {
        let schemes = names(provider).join(", ");
        let schemes = if schemes.is_empty() { "-".to_owned() } else { schemes };
        columns.line([
            provider.name.to_owned(),
            confidence(provider).to_owned(),
            schemes,
            provider.signature(),
        ]);
    }
    Ok(output.write_all(columns.show().as_bytes())?)
}

fn confidence(provider: &Provider) -> &'static str {
    match provider.confidence {
        Confidence::Settled => "settled",
        Confidence::Experimental => "experimental",
    }
}

fn names(provider: &Provider) -> Vec<&'static str> {
    provider.schemes.iter().map(|own| own.name).filter(|name| !name.is_empty()).collect()
}
