//! What can be typed behind `ferryhook signature`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

#[derive(Debug, Subcommand)]
pub enum SignatureCommand {
    /// Verify signed requests, one JSON object per line from the standard input.
    ///
    /// A line has provider, method, url, headers, body (or bodyBase64), secret (a text or a list),
    /// and may have now (Unix seconds) and config (the provider's settings). For each there is a
    /// line {"valid": true|false, "reason": "..."}.
    Verify(SignatureVerify),
    /// Make a signed sample, as this provider would send it.
    ///
    /// Prints a curl command, or with --json a line that `verify` reads.
    Sign(SignatureSign),
    /// List the providers that can be verified.
    Providers(SignatureProviders),
}

#[derive(Debug, Args)]
pub struct SignatureVerify {
    /// Give what is probably wrong as the reason: another secret, encoding, body, URL or provider.
    #[arg(long)]
    pub explain: bool,
}

#[derive(Debug, Args)]
pub struct SignatureSign {
    #[arg(long, value_name = "NAME")]
    pub provider: String,
    #[arg(long, value_name = "SECRET")]
    pub secret: String,
    /// Read the body from a file; - reads it from the standard input.
    #[arg(long, value_name = "FILE")]
    pub body: Option<PathBuf>,
    #[arg(long, value_name = "URL", default_value = "http://localhost:8080/in/SOURCE")]
    pub url: String,
    #[arg(long, value_name = "METHOD", default_value = "POST")]
    pub method: String,
    /// Send this header too; may be given several times.
    #[arg(long, value_name = "NAME: VALUE")]
    pub header: Vec<String>,
    /// The provider's settings, as a JSON object.
    #[arg(long, value_name = "JSON")]
    pub config: Option<String>,
    /// Sign as if it were this time, in Unix seconds.
    #[arg(long, value_name = "SECONDS")]
    pub now: Option<i64>,
    /// Say it as JSON.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct SignatureProviders {
    /// Say it as JSON, one provider per line.
    #[arg(long)]
    pub json: bool,
}
