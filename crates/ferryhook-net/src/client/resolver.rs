//! Names to addresses. Says what a name has at this moment and judges nothing: that is the
//! guard's. A name is asked for as it stands, never with a search domain behind it.

use std::net::IpAddr;

use futures_util::future::BoxFuture;
use hickory_resolver::config::{LookupIpStrategy, ResolveHosts};
use hickory_resolver::net::NetError;
use hickory_resolver::net::runtime::TokioRuntimeProvider;
use hickory_resolver::proto::op::Query;
use hickory_resolver::proto::rr::{Name, RecordType};
use hickory_resolver::{Hosts, ResolverBuilder, TokioResolver};
use tokio::sync::Semaphore;

use super::limits;

/// Looks up names. A server asks as its machine is configured ([`SystemResolver`]).
pub trait Resolve: Send + Sync {
    /// All addresses of `name`, IPv4 and IPv6. The caller has the deadline.
    fn resolve<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<Vec<IpAddr>, Unresolved>>;
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Unresolved {
    #[error("the name does not exist")]
    NoSuchName,
    #[error("the name has no address")]
    NoAddress,
    #[error("the name servers did not answer")]
    Silence,
    #[error("the name servers could not answer")]
    Failed,
}

/// The machine's hosts file, then its name servers. Both are read when it is made.
pub struct SystemResolver {
    hosts: Hosts,
    /// None when the machine has no usable configuration; then only the hosts file is known.
    servers: Option<TokioResolver>,
    room: Semaphore,
}

impl SystemResolver {
    pub fn new() -> Self {
        let servers = TokioResolver::builder_tokio()
            .and_then(name_servers)
            .inspect_err(|error| tracing::warn!(%error, "no name servers: only the hosts file"))
            .ok();
        Self::of(Hosts::from_system().unwrap_or_default(), servers)
    }

    fn of(hosts: Hosts, servers: Option<TokioResolver>) -> Self {
        Self { hosts, servers, room: Semaphore::new(limits::LOOKUPS_MAX) }
    }

    /// An entry there is the whole answer: a name with only an IPv4 line has no IPv6 address.
    fn in_hosts_file(&self, name: &Name) -> Vec<IpAddr> {
        [RecordType::A, RecordType::AAAA]
            .into_iter()
            .filter_map(|kind| self.hosts.lookup_static_host(&Query::query(name.clone(), kind)))
            .flat_map(|lookup| {
                lookup.answers().iter().filter_map(|r| r.data.ip_addr()).collect::<Vec<_>>()
            })
            .collect()
    }
}

impl Resolve for SystemResolver {
    fn resolve<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<Vec<IpAddr>, Unresolved>> {
        Box::pin(async move {
            let mut name = Name::from_ascii(name).map_err(|_| Unresolved::NoSuchName)?;
            name.set_fqdn(true);
            let listed = self.in_hosts_file(&name);
            if !listed.is_empty() {
                return Ok(listed);
            }
            let servers = self.servers.as_ref().ok_or(Unresolved::Failed)?;
            let _place = self.room.acquire().await.map_err(|_| Unresolved::Failed)?;
            let found = servers.lookup_ip(name).await.map_err(|error| Unresolved::from(&error))?;
            let addresses: Vec<_> = found.iter().collect();
            if addresses.is_empty() { Err(Unresolved::NoAddress) } else { Ok(addresses) }
        })
    }
}

fn name_servers(
    mut builder: ResolverBuilder<TokioRuntimeProvider>,
) -> Result<TokioResolver, NetError> {
    let options = builder.options_mut();
    options.ip_strategy = LookupIpStrategy::Ipv4AndIpv6;
    options.use_hosts_file = ResolveHosts::Never;
    options.timeout = limits::RESOLVE_TRY;
    options.attempts = 2;
    options.max_active_requests = 2 * limits::LOOKUPS_MAX; // a name is two questions
    options.cache_size = limits::ANSWERS_KEPT;
    options.positive_min_ttl = Some(limits::ANSWER_AGE_MIN);
    options.positive_max_ttl = Some(limits::ANSWER_AGE_MAX);
    options.negative_min_ttl = Some(limits::ANSWER_AGE_MIN);
    options.negative_max_ttl = Some(limits::ANSWER_AGE_MAX);
    builder.build()
}

impl From<&NetError> for Unresolved {
    fn from(error: &NetError) -> Self {
        match error {
            error if error.is_nx_domain() => Self::NoSuchName,
            error if error.is_no_records_found() => Self::NoAddress,
            NetError::Timeout => Self::Silence,
            _ => Self::Failed,
        }
    }
}

impl Default for SystemResolver {
    fn default() -> Self {
        Self::new()
    }
}

impl std::fmt::Debug for SystemResolver {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SystemResolver").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
