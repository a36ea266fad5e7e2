//! A connection to a server: plain to this machine and wherever it is asked for, TLS otherwise.
//!
//! The guarded client of `ferryhook-net` is for addresses that strangers typed and keeps only the
//! beginning of an answer. Here the person at the keyboard named the server, and wants all of it.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use hyper::Uri;
use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_util::client::legacy::connect::{Connected, Connection};
use hyper_util::rt::TokioIo;
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tower::Service;

const CONNECT_WITHIN: Duration = Duration::from_secs(10);
/// Authorities of one's own beside the public ones, by the name that other programs know.
const CERTIFICATES_VARIABLE: &str = "SSL_CERT_FILE";

#[derive(Clone)]
pub struct Connector {
    tls: TlsConnector,
}

impl std::fmt::Debug for Connector {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Connector").finish_non_exhaustive()
    }
}

impl Connector {
    pub fn new() -> io::Result<Self> {
        let mut roots: RootCertStore = webpki_roots::TLS_SERVER_ROOTS.iter().cloned().collect();
        if let Some(file) = std::env::var_os(CERTIFICATES_VARIABLE) {
            let unusable = |error| {
                let file = file.display();
                io::Error::other(format!("{CERTIFICATES_VARIABLE} {file}: {error}"))
            };
            let certificates = CertificateDer::pem_file_iter(&file).map_err(unusable)?;
            for certificate in certificates {
                // One that cannot be used is one authority less.
                let _ = roots.add(certificate.map_err(unusable)?);
            }
        }
        let mut config =
            ClientConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
                .with_safe_default_protocol_versions()
                .map_err(io::Error::other)?
                .with_root_certificates(roots)
                .with_no_client_auth();
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Self { tls: TlsConnector::from(Arc::new(config)) })
    }
}

impl Service<Uri> for Connector {
    type Response = Line;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Line>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        let tls = self.tls.clone();
        Box::pin(async move {
            let connected = timeout(CONNECT_WITHIN, connect(tls, uri)).await;
            connected.map_err(|_| io::Error::from(io::ErrorKind::TimedOut))?
        })
    }
}

async fn connect(tls: TlsConnector, uri: Uri) -> io::Result<Line> {
    let is_secure = uri.scheme_str() == Some("https");
    let host = uri.host().unwrap_or_default();
    let host = host.trim_start_matches('[').trim_end_matches(']').to_owned();
    let port = uri.port_u16().unwrap_or(if is_secure { 443 } else { 80 });
    let stream = TcpStream::connect((host.as_str(), port)).await?;
    let _ = stream.set_nodelay(true); // a socket that refuses this is only slower
    if !is_secure {
        return Ok(Line::Plain(TokioIo::new(stream)));
    }
    let name = ServerName::try_from(host).map_err(io::Error::other)?;
    Ok(Line::Tls(Box::new(TokioIo::new(tls.connect(name, stream).await?))))
}

pub enum Line {
    Plain(TokioIo<TcpStream>),
    Tls(Box<TokioIo<TlsStream<TcpStream>>>),
}

impl Connection for Line {
    fn connected(&self) -> Connected {
        Connected::new()
    }
}

impl Read for Line {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(line) => Pin::new(line).poll_read(context, buffer),
            Self::Tls(line) => Pin::new(line).poll_read(context, buffer),
        }
    }
}

impl Write for Line {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Plain(line) => Pin::new(line).poll_write(context, bytes),
            Self::Tls(line) => Pin::new(line).poll_write(context, bytes),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(line) => Pin::new(line).poll_flush(context),
            Self::Tls(line) => Pin::new(line).poll_flush(context),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(line) => Pin::new(line).poll_shutdown(context),
            Self::Tls(line) => Pin::new(line).poll_shutdown(context),
        }
    }
}
