//! From a target to an open line: look up, vet, dial what was vetted, look who answered, TLS.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use ferryhook_core::Env;
use rustls::ClientConfig;
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

use super::address::is_public;
use super::course::{Course, Failure, Step, Why};
use super::guard::{Refusal, THIS_MACHINE};
use super::line::Line;
use super::resolver::{Resolve, Unresolved};
use super::target::{Host, Target};
use super::wire::Stream;
use super::{Guard, Identity, Roots, limits, tls};

pub(super) struct Connector {
    guard: Guard,
    env: Env,
    resolver: Arc<dyn Resolve>,
    tls: Arc<ClientConfig>,
}

impl Connector {
    pub(super) fn new(guard: Guard, env: Env, resolver: Arc<dyn Resolve>, roots: Roots) -> Self {
        Self { guard, env, resolver, tls: tls::config(roots) }
    }

    pub(super) async fn connect(
        &self,
        target: &Target,
        identity: Option<&Identity>,
        course: &mut Course<'_>,
    ) -> Result<Box<Line>, Failure> {
        let addresses = self.resolve(target, course).await?;
        let (stream, peer) = self.dial(&addresses, target.port(), course).await?;
        let stream = if target.is_secure() {
            self.secure(stream, target, identity, course).await?
        } else {
            Stream::Plain(stream)
        };
        let line = Line::open(stream, peer, self.env.clone()).await;
        line.map(Box::new).map_err(|_| Failure::new(Why::Broken, "the connection broke at once"))
    }

    /// The addresses to try, each of them vetted.
    async fn resolve(
        &self,
        target: &Target,
        course: &mut Course<'_>,
    ) -> Result<Vec<IpAddr>, Failure> {
        self.guard.check(target)?;
        let answers = match target.host() {
            Host::Address(ip) => vec![*ip],
            Host::Name { this_machine: true, .. } => THIS_MACHINE.to_vec(),
            Host::Name { name, .. } => {
                course.begin(Step::Resolving);
                let found = timeout(limits::RESOLVE, self.resolver.resolve(name)).await;
                course.timing.dns = course.step_took();
                let found = found.unwrap_or(Err(Unresolved::Silence));
                found.map_err(|unresolved| Failure::new(Why::Dns, unresolved.to_string()))?
            }
        };
        let vetted = self.guard.vet(target, answers);
        Ok(in_turns(vetted.map_err(|refusal| refused(refusal, target))?))
    }

    /// The first address that takes the connection.
    async fn dial(
        &self,
        addresses: &[IpAddr],
        port: u16,
        course: &mut Course<'_>,
    ) -> Result<(TcpStream, IpAddr), Failure> {
        let inside = !addresses.iter().all(|ip| is_public(*ip));
        course.begin(if inside { Step::ConnectingInside } else { Step::Connecting });
        let share = limits::CONNECT / u32::try_from(addresses.len()).unwrap_or(u32::MAX).max(1);
        let mut failure = Failure::unreached_inside();
        for ip in addresses {
            let address = SocketAddr::new(*ip, port);
            match timeout(share, TcpStream::connect(address)).await {
                Ok(Ok(stream)) => {
                    if stream.peer_addr().ok() != Some(address) {
                        return Err(Refusal::Inside.into());
                    }
                    course.timing.connect = course.step_took();
                    let _ = stream.set_nodelay(true); // a socket that refuses this is only slower
                    return Ok((stream, *ip));
                }
                _ if inside => {}
                Ok(Err(error)) => failure = unconnected(&error),
                Err(_) => failure = Failure::new(Why::Timeout, "there was no connection in time"),
            }
        }
        if !inside {
            course.timing.connect = course.step_took();
        }
        Err(failure)
    }

    async fn secure(
        &self,
        stream: TcpStream,
        target: &Target,
        identity: Option<&Identity>,
        course: &mut Course<'_>,
    ) -> Result<Stream, Failure> {
        course.begin(Step::Securing);
        let config = match identity {
            Some(identity) => tls::showing(&self.tls, identity),
            None => self.tls.clone(),
        };
        let handshake = TlsConnector::from(config).connect(target.server_name().clone(), stream);
        let agreed = timeout(limits::HANDSHAKE, handshake).await;
        course.timing.tls = course.step_took();
        match agreed {
            Ok(Ok(stream)) => Ok(Stream::Secure(Box::new(stream))),
            Ok(Err(error)) => Err(tls::handshake_failure(&error)),
            Err(_) => Err(Failure::new(Why::Timeout, "TLS was not agreed on in time")),
        }
    }
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        Self::new(Why::Blocked, refusal.to_string())
    }
}

/// What name servers say is wrong at times, and right again a moment later; what the URL says stays.
fn refused(refusal: Refusal, target: &Target) -> Failure {
    match (&refusal, target.host()) {
        (Refusal::Inside, Host::Name { this_machine: false, .. }) => {
            Failure::new(Why::Misled, refusal.to_string())
        }
        _ => refusal.into(),
    }
}

fn unconnected(error: &io::Error) -> Failure {
    use io::ErrorKind as Kind;
    match error.kind() {
        Kind::ConnectionRefused => {
            Failure::new(Why::Refused, "the destination refused the connection")
        }
        Kind::TimedOut => Failure::new(Why::Timeout, "there was no connection in time"),
        Kind::HostUnreachable | Kind::NetworkUnreachable => {
            Failure::new(Why::Refused, "the destination cannot be reached from here")
        }
        Kind::ConnectionReset | Kind::ConnectionAborted => {
            Failure::new(Why::Refused, "the destination reset the connection")
        }
        // Out of ports, out of file descriptors, a firewall on this machine: not their fault.
        _ => Failure::new(Why::Broken, "no connection could be opened from this side"),
    }
}

/// IPv4 and IPv6 by turns, so that a family that does not work costs one try.
fn in_turns(addresses: Vec<IpAddr>) -> Vec<IpAddr> {
    let (v4, v6): (Vec<_>, Vec<_>) = addresses.into_iter().partition(IpAddr::is_ipv4);
    let (mut v4, mut v6) = (v4.into_iter(), v6.into_iter());
    let mut turns = Vec::new();
    while turns.len() < limits::ADDRESSES_TRIED {
        let before = turns.len();
        turns.extend(v4.next());
        turns.extend(v6.next());
        if turns.len() == before {
            break;
        }
    }
    turns.truncate(limits::ADDRESSES_TRIED);
    turns
}
