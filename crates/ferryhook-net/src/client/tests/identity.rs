//! Client certificates: who is shown to be who, and that nobody is taken for another.

use rcgen::KeyPair;
use rustls::crypto::aws_lc_rs;
use rustls::server::WebPkiClientVerifier;
use rustls::{HandshakeKind, RootCertStore, ServerConfig, SupportedProtocolVersion};
use tokio_rustls::TlsAcceptor;

use super::secure::{Issuer, NAME, authority, certificate, trusting, url};
use super::*;

/// Certificate and key in PEM.
struct Papers {
    certificate: String,
    key: String,
}

impl Papers {
    fn of(name: &str, issuer: &Issuer) -> Self {
        let key = KeyPair::generate().unwrap();
        let signed = certificate(&[name]).signed_by(&key, issuer).unwrap();
        Self { certificate: signed.pem(), key: key.serialize_pem() }
    }

    fn identity(&self) -> Identity {
        Identity::from_pem(&self.certificate, &self.key).unwrap()
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Asks {
    Demands,
    Invites,
}

/// Trusts whom `issuer` vouches for. Notes of each connection whether its session is a new one and
/// by whom it was opened, and of each request the latter.
async fn receiver(
    issuer: &Issuer,
    asks: Asks,
    versions: &[&'static SupportedProtocolVersion],
) -> Receiver {
    let provider = Arc::new(aws_lc_rs::default_provider());
    let mut roots = RootCertStore::empty();
    roots.add(issuer.der().clone()).unwrap();
    let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider.clone());
    let verifier = match asks {
        Asks::Demands => verifier.build(),
        Asks::Invites => verifier.allow_unauthenticated().build(),
    };
    let (own, key) = super::secure::identity(&certificate(&[NAME]), Some(issuer));
    let mut config = ServerConfig::builder_with_provider(provider.clone())
        .with_protocol_versions(versions)
        .unwrap()
        .with_client_cert_verifier(verifier.unwrap())
        .with_single_cert(vec![own], key)
        .unwrap();
    config.ticketer = aws_lc_rs::Ticketer::new().unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    Receiver::start(move |visit| {
        let acceptor = acceptor.clone();
        async move {
            let mut stream = match acceptor.accept(visit.stream).into_fallible().await {
                Ok(stream) => stream,
                // Closed only once it was read: a reset could overtake the alert.
                Err((_, mut refused)) => {
                    while let Ok(1..) = refused.read(&mut [0; 4096]).await {}
                    return;
                }
            };
            let session = stream.get_ref().1;
            let resumed = session.handshake_kind() == Some(HandshakeKind::Resumed);
            let shown = session.peer_certificates().map_or("nobody".to_owned(), |chain| {
                format!("{:x?}", &chain[0][chain[0].len() - 4..])
            });
            let how = if resumed { "resumed" } else { "new" };
            let note = |text| visit.seen.requests.lock().unwrap().push(text);
            note(format!("{how} {shown}"));
            while let Ok(1..) = stream.read(&mut [0; 4096]).await {
                note(shown.clone());
                stream.write_all(OK).await.unwrap();
            }
        }
    })
    .await
}

fn shown_as(papers: &Papers) -> String {
    use rustls::pki_types::CertificateDer;
    use rustls::pki_types::pem::PemObject;
    let der = CertificateDer::from_pem_slice(papers.certificate.as_bytes()).unwrap();
    format!("{:x?}", &der[der.len() - 4..])
}

async fn send(client: &Client, receiver: &Receiver, identity: Option<&Identity>) {
    let outgoing = Outgoing { identity: identity.cloned(), ..post(&url(receiver)) };
    assert_eq!(client.send(outgoing).await.unwrap().status, 200);
}

const ANY: &[&SupportedProtocolVersion] = rustls::ALL_VERSIONS;

#[tokio::test]
async fn a_certificate_is_shown_to_whoever_asks_for_one() {
    let issuer = authority("ours");
    for version in ANY {
        let receiver = receiver(&issuer, Asks::Demands, &[version]).await;
        let (client, papers) = (trusting(&issuer), Papers::of("we.example", &issuer));
        for _ in 0..2 {
            send(&client, &receiver, Some(&papers.identity())).await;
        }
        let shown = shown_as(&papers);
        assert_eq!(receiver.requests(), [format!("new {shown}"), shown.clone(), shown]);
        assert_eq!(receiver.connections(), 1, "the same identity, read twice, shares a line");
    }
}

/// Neither one of two identities, nor a call without any, gets the other's line.
#[tokio::test]
async fn lines_are_not_shared_between_identities() {
    let issuer = authority("ours");
    let receiver = receiver(&issuer, Asks::Invites, ANY).await;
    let client = trusting(&issuer);
    let (ada, bob) = (Papers::of("ada.example", &issuer), Papers::of("bob.example", &issuer));
    let callers = [Some(ada.identity()), None, Some(bob.identity())];
    for _ in 0..2 {
        for caller in &callers {
            send(&client, &receiver, caller.as_ref()).await;
        }
    }
    let (ada, bob, none) = (shown_as(&ada), shown_as(&bob), "nobody".to_owned());
    let first = [&ada, &none, &bob].map(|who| [format!("new {who}"), who.clone()]).concat();
    assert_eq!(receiver.requests(), [first, vec![ada, none, bob]].concat());
    assert_eq!(receiver.connections(), 3);
}

/// A session is kept by the name of the server. One that was agreed on as somebody else, or as
/// nobody, must not be gone on with.
#[tokio::test]
async fn sessions_are_not_resumed_by_another() {
    let issuer = authority("ours");
    let (ada, bob) = (Papers::of("ada.example", &issuer), Papers::of("bob.example", &issuer));
    for version in ANY {
        let receiver = receiver(&issuer, Asks::Invites, &[version]).await;
        let client = trusting(&issuer);
        let callers =
            [None, Some(ada.identity()), None, Some(bob.identity()), Some(ada.identity())];
        for caller in &callers {
            send(&client, &receiver, caller.as_ref()).await;
            client.pool.sweep(client.env.elapsed() + limits::IDLE); // all lines are closed
        }
        let opened = receiver.requests().into_iter().step_by(2).collect::<Vec<_>>();
        let (ada, bob) = (shown_as(&ada), shown_as(&bob));
        let expected = [
            "new nobody".to_owned(),
            format!("new {ada}"),
            "resumed nobody".to_owned(),
            format!("new {bob}"),
            format!("new {ada}"),
        ];
        assert_eq!(opened, expected);
    }
}

#[tokio::test]
async fn without_the_right_certificate_there_is_no_answer() {
    let (issuer, stranger) = (authority("ours"), authority("theirs"));
    for version in ANY {
        let receiver = receiver(&issuer, Asks::Demands, &[version]).await;
        let client = trusting(&issuer);
        let theirs = Papers::of("we.example", &stranger).identity();
        for identity in [None, Some(theirs)] {
            let outgoing = Outgoing { identity, ..post(&url(&receiver)) };
            let unsent = client.send(outgoing).await.unwrap_err();
            assert_eq!(unsent.why, Why::Tls, "{unsent}");
            assert!(unsent.message.starts_with("the destination refused TLS: "), "{unsent}");
        }
        assert_eq!(receiver.requests().len(), 0);
    }
}

#[tokio::test]
async fn a_certificate_is_never_left_out_in_silence() {
    let receiver = Receiver::answering(OK).await;
    let identity = Some(Papers::of("we.example", &authority("ours")).identity());
    let unsent = client().send(Outgoing { identity, ..post(&receiver.url()) }).await.unwrap_err();
    assert_eq!(unsent.why, Why::Blocked);
    assert_eq!(unsent.message, "a client certificate can be shown over https only");
    assert_eq!(receiver.connections(), 0);
}

#[test]
fn papers_are_read_or_refused() {
    let issuer = authority("ours");
    let (ada, bob) = (Papers::of("ada.example", &issuer), Papers::of("bob.example", &issuer));
    let told = |certificate: &str, key: &str| Identity::from_pem(certificate, key).err();
    let chain = format!("{}\n{}", ada.certificate, issuer.pem());
    assert_eq!(told(&chain, &ada.key), None);
    assert_eq!(told(&ada.certificate, &bob.key), Some(BadIdentity::Mismatch));
    let wrong_way = format!("{}\n{}", issuer.pem(), ada.certificate);
    assert_eq!(told(&wrong_way, &ada.key), Some(BadIdentity::Mismatch));
    assert_eq!(told("", &ada.key), Some(BadIdentity::NoCertificate));
    assert_eq!(told(&ada.key, &ada.key), Some(BadIdentity::NoCertificate));
    let hollow = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    assert_eq!(told(hollow, &ada.key), Some(BadIdentity::Certificate));
    assert_eq!(told(&ada.certificate, &ada.certificate), Some(BadIdentity::NoKey));
    let sealed = ada.key.replace("PRIVATE KEY", "ENCRYPTED PRIVATE KEY");
    assert_eq!(told(&ada.certificate, &sealed), Some(BadIdentity::NoKey));
    let unknown = "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n";
    assert_eq!(told(&ada.certificate, unknown), Some(BadIdentity::Key));
    let long = ada.certificate.repeat(limits::CHAIN_MAX + 1);
    assert_eq!(told(&long, &ada.key), Some(BadIdentity::LongChain));
    let shown = format!("{:?}", ada.identity());
    assert_eq!(shown, "Identity(..)");
}
