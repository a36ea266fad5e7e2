//! Names that lead somewhere else than they seem to. The resolver is a script; addresses and
//! sockets are real.

use std::collections::VecDeque;

use super::*;

/// Gives each lookup its own answer; the last one is repeated.
struct Script(Mutex<VecDeque<Result<Vec<IpAddr>, Unresolved>>>, AtomicUsize);

impl Script {
    fn new(answers: &[&[&str]]) -> Arc<Self> {
        let parse = |texts: &&[&str]| Ok(texts.iter().map(|ip| ip.parse().unwrap()).collect());
        Arc::new(Self(Mutex::new(answers.iter().map(parse).collect()), AtomicUsize::new(0)))
    }

    fn failing(unresolved: Unresolved) -> Arc<Self> {
        Arc::new(Self(Mutex::new([Err(unresolved)].into()), AtomicUsize::new(0)))
    }

    fn asked(&self) -> usize {
        self.1.load(Ordering::SeqCst)
    }
}

impl Resolve for Script {
    fn resolve<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<Vec<IpAddr>, Unresolved>> {
        assert!(!name.ends_with('.'));
        self.1.fetch_add(1, Ordering::SeqCst);
        let mut answers = self.0.lock().unwrap();
        let next = if answers.len() > 1 { answers.pop_front() } else { answers.front().cloned() };
        Box::pin(std::future::ready(next.unwrap()))
    }
}

/// Never comes back.
struct Silent;

impl Resolve for Silent {
    fn resolve<'a>(&'a self, _: &'a str) -> BoxFuture<'a, Result<Vec<IpAddr>, Unresolved>> {
        Box::pin(std::future::pending())
    }
}

fn asking(resolver: Arc<dyn Resolve>) -> Client {
    asking_under(guard(), resolver)
}

fn asking_under(guard: Guard, resolver: Arc<dyn Resolve>) -> Client {
    Client::with_resolver(guard, Env::system(), Tasks::new(), Roots::public(), resolver)
}

#[tokio::test]
async fn the_address_that_was_vetted_is_the_one_that_is_dialled() {
    let vetted = Receiver::start_at("127.0.0.2:0", async |mut visit| {
        while visit.request().await {
            visit.say(OK).await;
        }
    })
    .await;
    // Whoever asks a second time would be led away.
    let names = Script::new(&[&["127.0.0.2"], &["169.254.169.254"]]);
    let client = asking(names.clone());
    let url = format!("http://hooks.example.com:{}/", vetted.address.port());
    let reply = client.send(post(&url)).await.unwrap();
    assert_eq!((reply.status, names.asked(), vetted.connections()), (200, 1, 1));
    assert!(reply.timing.dns.is_some());
    assert!(vetted.requests()[0].contains("Host: hooks.example.com:"));

    // The open connection stays with the peer it was vetted for.
    assert_eq!(client.send(post(&url)).await.unwrap().timing.dns, None);
    assert_eq!((names.asked(), vetted.connections()), (1, 1));

    // A new one is vetted anew.
    client.pool.take(&pool::Ends::of(&post(&url)), Duration::ZERO);
    let unsent = client.send(post(&url)).await.unwrap_err();
    assert_eq!((unsent.why, names.asked(), vetted.connections()), (Why::Misled, 2, 1));
}

#[tokio::test]
async fn mixed_answers_are_refused_and_nobody_is_dialled() {
    let receiver = Receiver::answering(OK).await;
    let url = format!("http://hooks.example.com:{}/", receiver.address.port());
    for answers in [
        &["127.0.0.1", "10.0.0.1"][..],
        &["10.0.0.1", "127.0.0.1"],
        &["127.0.0.1", "8.8.8.8", "::1"],
        &["127.0.0.1", "fe80::1"],
        &["127.0.0.1", "::ffff:169.254.169.254"],
    ] {
        let unsent = asking(Script::new(&[answers])).send(post(&url)).await.unwrap_err();
        assert_eq!(unsent.why, Why::Misled, "{answers:?}");
        assert_eq!(unsent.message, "the name leads to an address that is not public");
    }
    assert_eq!(receiver.connections(), 0);
}

#[tokio::test]
async fn a_public_name_does_not_lead_inside() {
    let receiver = Receiver::answering(OK).await;
    let url = format!("http://hooks.example.com:{}/", receiver.address.port());
    for answer in ["127.0.0.1", "::ffff:127.0.0.1", "::1", "0.0.0.0", "64:ff9b::7f00:1"] {
        let client = asking_under(Guard::new(Vec::new()), Script::new(&[&[answer]]));
        assert_eq!(client.send(post(&url)).await.unwrap_err().why, Why::Misled, "{answer}");
    }
    assert_eq!(receiver.connections(), 0);
}

/// It is not the URL that is wrong, so whoever tries again may get through.
#[tokio::test]
async fn a_name_that_leads_inside_for_a_while_is_called_afterwards() {
    let receiver = Receiver::answering(OK).await;
    let url = format!("http://hooks.example.com:{}/", receiver.address.port());
    let client = asking(Script::new(&[&["0.0.0.0"], &["127.0.0.1"]]));
    assert_eq!(client.send(post(&url)).await.unwrap_err().why, Why::Misled);
    assert_eq!(receiver.connections(), 0);
    assert_eq!(client.send(post(&url)).await.unwrap().status, 200);
}

/// The target was made under a guard that allowed it; the call is made under one that does not.
#[tokio::test]
async fn the_guard_is_asked_at_every_call() {
    let receiver = Receiver::answering(OK).await;
    let port = receiver.address.port();
    let names = Script::new(&[&["127.0.0.1"]]);
    let client = asking_under(Guard::new(Vec::new()), names.clone());
    for url in [format!("http://127.0.0.1:{port}/"), format!("http://localhost:{port}/")] {
        assert_eq!(client.send(post(&url)).await.unwrap_err().why, Why::Blocked);
    }
    assert_eq!((receiver.connections(), names.asked()), (0, 0));
}

#[tokio::test]
async fn the_next_address_is_tried_when_one_does_not_answer() {
    let receiver = Receiver::start_at("127.0.0.3:0", async |mut visit| {
        while visit.request().await {
            visit.say(OK).await;
        }
    })
    .await;
    let url = format!("http://hooks.example.com:{}/", receiver.address.port());
    let client = asking(Script::new(&[&["127.0.0.2", "127.0.0.3"]]));
    assert_eq!(client.send(post(&url)).await.unwrap().status, 200);
}

#[tokio::test]
async fn a_name_from_inside_leads_only_into_allowed_networks() {
    let receiver = Receiver::answering(OK).await;
    let url = format!("http://orders.internal:{}/", receiver.address.port());
    let client = asking(Script::new(&[&["127.0.0.1"]]));
    assert_eq!(client.send(post(&url)).await.unwrap().status, 200);
    let client = asking(Script::new(&[&["8.8.8.8"]]));
    assert_eq!(client.send(post(&url)).await.unwrap_err().why, Why::Misled);
}

#[tokio::test]
async fn a_name_without_an_address_says_so() {
    for (unresolved, message) in [
        (Unresolved::NoSuchName, "the name does not exist"),
        (Unresolved::NoAddress, "the name has no address"),
        (Unresolved::Silence, "the name servers did not answer"),
        (Unresolved::Failed, "the name servers could not answer"),
    ] {
        let client = asking(Script::failing(unresolved));
        let unsent = client.send(post("https://hooks.example.com/")).await.unwrap_err();
        assert_eq!((unsent.why, unsent.message.as_str()), (Why::Dns, message));
        assert!(unsent.timing.dns.is_some());
        assert_eq!(unsent.timing.connect, None);
    }
}

#[tokio::test(start_paused = true)]
async fn a_lookup_has_its_own_deadline_within_that_of_the_call() {
    let call = async |timeout| {
        let outgoing = Outgoing { timeout, ..post("https://hooks.example.com/") };
        asking(Arc::new(Silent)).send(outgoing).await.unwrap_err()
    };
    let long = call(Duration::from_secs(30)).await;
    assert_eq!((long.why, long.message.as_str()), (Why::Dns, "the name servers did not answer"));
    let short = call(Duration::from_secs(2)).await;
    assert_eq!(short.why, Why::Timeout);
    assert!(short.timing.dns.is_some());
    assert_eq!(short.message, "the name was not resolved within 2s");
}
