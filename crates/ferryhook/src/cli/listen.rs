//! What `ferryhook listen` can be told.

use clap::{Args, ValueEnum};
use serde_json::Value;

use super::ServerFlags;

#[derive(Debug, Args)]
pub struct Listen {
    /// Where the events go: a port of this machine, or a URL.
    #[arg(value_name = "PORT|URL", value_parser = to)]
    pub to: To,
    /// Whose events, by name or id; not needed where there is only one source.
    #[arg(value_name = "SOURCE")]
    pub source: Option<String>,
    /// Those of all sources.
    #[arg(long, conflicts_with = "source")]
    pub all: bool,
    /// Goes before the path that each event came with.
    #[arg(long, value_name = "PATH", value_parser = path)]
    pub path: Option<String>,
    /// Only events whose body is like this, as in the filter of a connection.
    #[arg(long, value_name = "JSON", value_parser = json)]
    pub filter_body: Option<Value>,
    /// How much is said about each event.
    #[arg(short, long, value_name = "HOW", default_value = "compact")]
    pub output: Output,
    /// Show the secret that requests are signed with.
    #[arg(long)]
    pub print_secret: bool,
    #[command(flatten)]
    pub server: ServerFlags,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Output {
    /// A line for each.
    Compact,
    /// A JSON object for each.
    Json,
    /// Nothing, once it is ready.
    Quiet,
}

/// An app, as it is typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct To {
    /// Scheme, host and port, without a slash at the end.
    pub origin: String,
    /// Absent where none was typed.
    pub path: Option<String>,
}

fn to(text: &str) -> Result<To, String> {
    let expected = || "expected a port such as 3000, or a URL such as http://localhost:3000/hooks";
    if text.bytes().all(|byte| byte.is_ascii_digit()) {
        let port: u16 = text.parse().ok().filter(|port| *port > 0).ok_or_else(expected)?;
        return Ok(To { origin: format!("http://127.0.0.1:{port}"), path: None });
    }
    let text = match text.contains("://") {
        true => text.to_owned(),
        false => format!("http://{text}"),
    };
    let url = url::Url::parse(&text).map_err(|_| expected())?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
        return Err(expected().to_owned());
    }
    let has_name = !url.username().is_empty() || url.password().is_some();
    if has_name || url.query().is_some() || url.fragment().is_some() {
        return Err("the URL may have a path, and nothing before the host or behind it".to_owned());
    }
    let origin = url.origin().ascii_serialization();
    let path = Some(url.path().to_owned()).filter(|path| path != "/");
    Ok(To { origin, path })
}

fn path(text: &str) -> Result<String, String> {
    let is_plain = text.bytes().all(|byte| byte.is_ascii_graphic() && !b"?#".contains(&byte));
    match text.starts_with('/') && is_plain {
        true => Ok(text.to_owned()),
        false => Err("expected a path such as /hooks, without a query".to_owned()),
    }
}

fn json(text: &str) -> Result<Value, String> {
    let expected = |error| format!("expected JSON such as '{{\"type\":\"push\"}}': {error}");
    serde_json::from_str(text).map_err(expected)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_app_is_a_port_or_a_url() {
        let read = |text: &str| to(text).map(|to| (to.origin, to.path.unwrap_or_default()));
        let app = |origin: &str, path: &str| Ok((origin.to_owned(), path.to_owned()));
        assert_eq!(read("3000"), app("http://127.0.0.1:3000", ""));
        assert_eq!(read("localhost:3000"), app("http://localhost:3000", ""));
        assert_eq!(read("https://app.test/a/b"), app("https://app.test", "/a/b"));
        assert_eq!(read("http://[::1]:81/"), app("http://[::1]:81", ""));
        for wrong in ["0", "65536", "ftp://a", "http://a?b", "http://u:p@a", "", "http://"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
