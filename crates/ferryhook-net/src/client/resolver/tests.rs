//! The system's way to look up names, with a name server on the loopback that answers from a
//! table.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use hickory_resolver::config::{ConnectionConfig, NameServerConfig, ResolverConfig};
use hickory_resolver::proto::op::{Message, ResponseCode};
use hickory_resolver::proto::rr::rdata::CNAME;
use hickory_resolver::proto::rr::{RData, Record};
use tokio::net::UdpSocket;

use super::*;
use crate::Tasks;

/// What it was asked, and the port it listens on.
struct NameServer {
    asked: Arc<Mutex<Vec<String>>>,
    address: SocketAddr,
    _tasks: Tasks,
}

impl NameServer {
    async fn start() -> Self {
        let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        let address = socket.local_addr().unwrap();
        let (tasks, asked) = (Tasks::new(), Arc::<Mutex<Vec<String>>>::default());
        let log = asked.clone();
        tasks.spawn("name server", async move {
            let mut packet = [0; 2048];
            while let Ok((length, client)) = socket.recv_from(&mut packet).await {
                let question = Message::from_vec(&packet[..length]).unwrap();
                log.lock().unwrap().push(question.queries[0].name().to_string());
                if let Some(answer) = answer(&question) {
                    socket.send_to(&answer.to_vec().unwrap(), client).await.unwrap();
                }
            }
        });
        Self { asked, address, _tasks: tasks }
    }

    /// A resolver that asks this server, on a machine with a search domain and a hosts file.
    fn resolver(&self) -> SystemResolver {
        let mut udp = ConnectionConfig::udp();
        udp.port = self.address.port();
        let server = NameServerConfig::new(self.address.ip(), true, vec![udp]);
        let search = vec![Name::from_ascii("corp.example.").unwrap()];
        let config = ResolverConfig::from_parts(None, search, vec![server]);
        let builder = TokioResolver::builder_with_config(config, TokioRuntimeProvider::default());
        let mut hosts = Hosts::default();
        hosts.read_hosts_conf(&b"10.9.8.7 box box.example.com # ours\n::1 six\n"[..]).unwrap();
        SystemResolver::of(hosts, Some(name_servers(builder).unwrap()))
    }
}

/// None for a name that is met with silence.
fn answer(question: &Message) -> Option<Message> {
    let query = question.queries[0].clone();
    let name = query.name().clone();
    let (code, records) = match (name.to_string().as_str(), query.query_type()) {
        ("both.example.com.", RecordType::A) => (ResponseCode::NoError, vec!["192.0.2.1"]),
        ("both.example.com.", RecordType::AAAA) => (ResponseCode::NoError, vec!["2001:db8::1"]),
        ("four.example.com.", RecordType::A) => {
            (ResponseCode::NoError, vec!["192.0.2.1", "192.0.2.2"])
        }
        ("half.example.com.", RecordType::A) => (ResponseCode::NoError, vec!["192.0.2.3"]),
        ("half.example.com.", _) | ("broken.example.com.", _) => (ResponseCode::ServFail, vec![]),
        ("four.example.com.", _) | ("empty.example.com.", _) => (ResponseCode::NoError, vec![]),
        ("alias.example.com.", RecordType::A) => (ResponseCode::NoError, vec!["127.0.0.1"]),
        ("silent.example.com.", _) => return None,
        _ => (ResponseCode::NXDomain, vec![]),
    };
    let mut answer = question.clone().into_response();
    answer.metadata.response_code = code;
    let mut owner = name.clone();
    if name.to_string().starts_with("alias") && !records.is_empty() {
        owner = Name::from_ascii("real.example.net.").unwrap();
        answer.add_answer(Record::from_rdata(name, 300, RData::CNAME(CNAME(owner.clone()))));
    }
    for address in records {
        let address: IpAddr = address.parse().unwrap();
        answer.add_answer(Record::from_rdata(owner.clone(), 300, RData::from(address)));
    }
    Some(answer)
}

async fn resolve(name: &str) -> Result<Vec<IpAddr>, Unresolved> {
    NameServer::start().await.resolver().resolve(name).await
}

fn ips(texts: &[&str]) -> Vec<IpAddr> {
    texts.iter().map(|text| text.parse().unwrap()).collect()
}

#[tokio::test]
async fn both_families_are_asked_for() {
    assert_eq!(resolve("both.example.com").await, Ok(ips(&["192.0.2.1", "2001:db8::1"])));
    let mut four = resolve("four.example.com").await.unwrap();
    four.sort();
    assert_eq!(four, ips(&["192.0.2.1", "192.0.2.2"]));
    assert_eq!(resolve("half.example.com").await, Ok(ips(&["192.0.2.3"])));
}

/// A chain of names is judged by where it ends.
#[tokio::test]
async fn an_alias_has_the_addresses_of_its_end() {
    assert_eq!(resolve("alias.example.com").await, Ok(vec![Ipv4Addr::LOCALHOST.into()]));
}

#[tokio::test]
async fn the_ways_to_have_no_address_are_told_apart() {
    assert_eq!(resolve("nowhere.example.com").await, Err(Unresolved::NoSuchName));
    assert_eq!(resolve("empty.example.com").await, Err(Unresolved::NoAddress));
    assert_eq!(resolve("broken.example.com").await, Err(Unresolved::Failed));
}

#[tokio::test]
async fn a_name_is_asked_for_as_it_stands() {
    let server = NameServer::start().await;
    let resolver = server.resolver();
    for name in ["redis", "a.b"] {
        assert_eq!(resolver.resolve(name).await, Err(Unresolved::NoSuchName));
    }
    let asked = server.asked.lock().unwrap().clone();
    assert!(asked.iter().all(|name| name == "redis." || name == "a.b."), "{asked:?}");
}

#[tokio::test]
async fn the_hosts_file_comes_first_and_is_the_whole_answer() {
    let server = NameServer::start().await;
    let resolver = server.resolver();
    assert_eq!(resolver.resolve("box").await, Ok(ips(&["10.9.8.7"])));
    assert_eq!(resolver.resolve("box.example.com").await, Ok(ips(&["10.9.8.7"])));
    assert_eq!(resolver.resolve("six").await, Ok(ips(&["::1"])));
    assert_eq!(server.asked.lock().unwrap().len(), 0);
}

/// A burst asks once; the answers' own 300 seconds do not count.
#[tokio::test]
async fn an_answer_is_kept_for_a_moment() {
    let server = NameServer::start().await;
    let resolver = server.resolver();
    for _ in 0..3 {
        resolver.resolve("both.example.com").await.unwrap();
    }
    assert_eq!(server.asked.lock().unwrap().len(), 2);
    let servers = resolver.servers.as_ref().unwrap();
    let found = servers.lookup_ip("both.example.com.").await.unwrap();
    let left = found.valid_until().elapsed();
    assert_eq!(left, Duration::ZERO, "still good");
    let longest = found.as_lookup().answers().iter().map(|record| record.ttl).max().unwrap();
    assert!(u64::from(longest) <= limits::ANSWER_AGE_MAX.as_secs(), "{longest}");
}

#[tokio::test]
async fn without_name_servers_the_hosts_file_still_counts() {
    let mut hosts = Hosts::default();
    hosts.read_hosts_conf(&b"10.9.8.7 box\n"[..]).unwrap();
    let resolver = SystemResolver::of(hosts, None);
    assert_eq!(resolver.resolve("box").await, Ok(ips(&["10.9.8.7"])));
    assert_eq!(resolver.resolve("example.com").await, Err(Unresolved::Failed));
}
