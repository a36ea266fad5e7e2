//! A URL that was parsed once. Everything after works with the parts kept here and never reads
//! the text again: two parsers that disagree about the host are a hole in the guard.

use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;

use hyper::Uri;
use hyper::header::HeaderValue;
use rustls::pki_types::ServerName;
use url::Url;

use super::guard::Refusal;
use super::{limits, name};

/// Where a call goes. Cheap to clone. Its display leaves the query out, where tokens live.
#[derive(Clone)]
pub struct Target(Arc<Parts>);

struct Parts {
    url: Url,
    host: Host,
    origin: Arc<Origin>,
    request_uri: Uri,
    host_header: HeaderValue,
    server_name: ServerName<'static>,
}

pub(super) enum Host {
    Name {
        /// Lower case, without a dot at its end.
        name: String,
        /// Means something only inside a network.
        inside: bool,
        this_machine: bool,
    },
    /// Never a mapped one.
    Address(IpAddr),
}

/// What a connection is made to: calls with the same origin can share it.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct Origin {
    pub(super) secure: bool,
    pub(super) host: String,
    pub(super) port: u16,
}

impl Target {
    pub(super) fn parse(text: &str) -> Result<Self, Refusal> {
        if text.len() > limits::URL_BYTES_MAX {
            return Err(Refusal::TooLong);
        }
        let mut url = Url::parse(text).map_err(|_| Refusal::Malformed)?;
        let secure = match url.scheme() {
            "https" => true,
            "http" => false,
            _ => return Err(Refusal::Scheme),
        };
        if !url.username().is_empty() || url.password().is_some() {
            return Err(Refusal::Credentials);
        }
        let port = url.port_or_known_default().filter(|port| *port > 0).ok_or(Refusal::Port)?;
        let host = Host::of(&url)?;
        url.set_fragment(None);

        let written = host.to_string();
        let host_header = match url.port() {
            Some(port) => HeaderValue::try_from(format!("{written}:{port}")),
            None => HeaderValue::try_from(&written),
        };
        let server_name = match &host {
            Host::Name { name, .. } => ServerName::try_from(name.clone()),
            Host::Address(ip) => Ok(ServerName::from(*ip)),
        };
        Ok(Self(Arc::new(Parts {
            request_uri: url[url::Position::BeforePath..]
                .parse()
                .map_err(|_| Refusal::Malformed)?,
            host_header: host_header.map_err(|_| Refusal::Malformed)?,
            server_name: server_name.map_err(|_| Refusal::BadName(written.clone()))?,
            origin: Arc::new(Origin { secure, host: written, port }),
            url,
            host,
        })))
    }

    /// The whole URL, without a fragment. Not for logs: [`Target`]'s display is.
    pub fn url(&self) -> &str {
        self.0.url.as_str()
    }

    pub fn is_secure(&self) -> bool {
        self.0.origin.secure
    }

    pub fn port(&self) -> u16 {
        self.0.origin.port
    }

    /// The host as it stands in a URL: a name, or an address (IPv6 in brackets).
    pub fn host_name(&self) -> &str {
        &self.0.origin.host
    }

    pub(super) fn host(&self) -> &Host {
        &self.0.host
    }

    pub(super) fn origin(&self) -> &Arc<Origin> {
        &self.0.origin
    }

    /// Path and query, as they stand in a request.
    pub(super) fn request_uri(&self) -> &Uri {
        &self.0.request_uri
    }

    pub(super) fn host_header(&self) -> &HeaderValue {
        &self.0.host_header
    }

    pub(super) fn server_name(&self) -> &ServerName<'static> {
        &self.0.server_name
    }
}

impl Host {
    fn of(url: &Url) -> Result<Self, Refusal> {
        let name = match url.host().ok_or(Refusal::Malformed)? {
            url::Host::Ipv4(ip) => return Ok(Self::Address(ip.into())),
            url::Host::Ipv6(ip) => return Ok(Self::Address(IpAddr::from(ip).to_canonical())),
            url::Host::Domain(name) => name,
        };
        // `example.com.` is the same host, and is asked for in the same way.
        let name = name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase();
        if !name::is_well_formed(&name) {
            return Err(Refusal::BadName(name));
        }
        let (inside, this_machine) = (name::is_inside(&name), name::is_this_machine(&name));
        Ok(Self::Name { name, inside, this_machine })
    }
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name { name, .. } => f.write_str(name),
            Self::Address(IpAddr::V4(ip)) => ip.fmt(f),
            Self::Address(IpAddr::V6(ip)) => write!(f, "[{ip}]"),
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.url[..url::Position::AfterPath])
    }
}

impl fmt::Debug for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Target({self})")
    }
}

impl PartialEq for Target {
    fn eq(&self, other: &Self) -> bool {
        self.0.url == other.0.url
    }
}

impl Eq for Target {}
