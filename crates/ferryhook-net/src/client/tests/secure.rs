//! TLS with certificates made for the occasion.

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, KeyUsagePurpose,
};
use rustls::ServerConfig;
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use tokio_rustls::TlsAcceptor;

use super::*;

pub(super) type Issuer = CertifiedIssuer<'static, KeyPair>;

pub(super) fn authority(name: &str) -> Issuer {
    let mut params = CertificateParams::default();
    params.distinguished_name.push(DnType::CommonName, name);
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign];
    CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap()
}

pub(super) fn certificate(names: &[&str]) -> CertificateParams {
    CertificateParams::new(names.iter().map(ToString::to_string).collect::<Vec<_>>()).unwrap()
}

/// A certificate and its key, signed by the authority or else by itself.
pub(super) fn identity(
    params: &CertificateParams,
    issuer: Option<&Issuer>,
) -> (CertificateDer<'static>, PrivateKeyDer<'static>) {
    let key = KeyPair::generate().unwrap();
    let signed = match issuer {
        Some(issuer) => params.signed_by(&key, issuer),
        None => params.self_signed(&key),
    };
    let key = PrivatePkcs8KeyDer::from(key.serialize_der());
    (signed.unwrap().der().clone(), key.into())
}

async fn receiver(
    (certificate, key): (CertificateDer<'static>, PrivateKeyDer<'static>),
    versions: &[&'static rustls::SupportedProtocolVersion],
) -> Receiver {
    let config = ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_protocol_versions(versions)
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    Receiver::start(move |visit| {
        let acceptor = acceptor.clone();
        async move {
            let Ok(mut stream) = acceptor.accept(visit.stream).await else { return };
            let name = stream.get_ref().1.server_name().unwrap_or("-").to_owned();
            visit.seen.requests.lock().unwrap().push(name);
            while let Ok(1..) = stream.read(&mut [0; 4096]).await {
                stream.write_all(OK).await.unwrap();
            }
        }
    })
    .await
}

pub(super) fn trusting(issuer: &Issuer) -> Client {
    let roots = Roots::public().with_pem(issuer.pem().as_bytes()).unwrap();
    Client::new(guard(), Env::system(), Tasks::new(), roots)
}

pub(super) fn url(receiver: &Receiver) -> String {
    format!("https://hooks.localhost:{}/", receiver.address.port())
}

const ANY: &[&rustls::SupportedProtocolVersion] = rustls::ALL_VERSIONS;
pub(super) const NAME: &str = "hooks.localhost";

async fn unsent(client: &Client, receiver: &Receiver) -> (Why, String) {
    let unsent = client.send(post(&url(receiver))).await.unwrap_err();
    assert!(unsent.timing.tls.is_some());
    (unsent.why, unsent.message)
}

#[tokio::test]
async fn a_good_certificate_is_accepted_and_the_name_is_told() {
    let issuer = authority("ours");
    for version in ANY {
        let receiver = receiver(identity(&certificate(&[NAME]), Some(&issuer)), &[version]).await;
        let client = trusting(&issuer);
        for _ in 0..3 {
            let reply = client.send(post(&url(&receiver))).await.unwrap();
            assert_eq!((reply.status, &reply.body[..]), (200, &b"ok"[..]));
        }
        assert_eq!(receiver.connections(), 1);
        assert_eq!(receiver.requests(), [NAME]);
    }
}

#[tokio::test]
async fn a_certificate_for_an_address_is_accepted_for_that_address() {
    let issuer = authority("ours");
    let receiver = receiver(identity(&certificate(&["127.0.0.1"]), Some(&issuer)), ANY).await;
    let url = format!("https://{}/", receiver.address);
    let reply = trusting(&issuer).send(post(&url)).await.unwrap();
    assert_eq!(reply.status, 200);
    assert!(reply.timing.tls.is_some());
}

#[tokio::test]
async fn an_expired_certificate_is_refused() {
    let issuer = authority("ours");
    let mut params = certificate(&[NAME]);
    params.not_before = rcgen::date_time_ymd(2020, 1, 1);
    params.not_after = rcgen::date_time_ymd(2021, 1, 1);
    let receiver = receiver(identity(&params, Some(&issuer)), ANY).await;
    let told = unsent(&trusting(&issuer), &receiver).await;
    assert_eq!(told, (Why::Tls, "the certificate has expired".into()));
}

#[tokio::test]
async fn a_certificate_of_the_future_is_refused() {
    let issuer = authority("ours");
    let mut params = certificate(&[NAME]);
    params.not_before = rcgen::date_time_ymd(4000, 1, 1);
    params.not_after = rcgen::date_time_ymd(4001, 1, 1);
    let receiver = receiver(identity(&params, Some(&issuer)), ANY).await;
    let told = unsent(&trusting(&issuer), &receiver).await;
    assert_eq!(told, (Why::Tls, "the certificate is not valid yet".into()));
}

#[tokio::test]
async fn a_certificate_for_another_host_is_refused() {
    let issuer = authority("ours");
    let receiver = receiver(identity(&certificate(&["other.example"]), Some(&issuer)), ANY).await;
    let told = unsent(&trusting(&issuer), &receiver).await;
    assert_eq!(told, (Why::Tls, "the certificate is for another host".into()));
}

#[tokio::test]
async fn certificates_nobody_vouches_for_are_refused() {
    let (issuer, stranger) = (authority("ours"), authority("theirs"));
    let message = "the certificate comes from an unknown issuer or is self-signed";
    for signer in [None, Some(&stranger)] {
        let receiver = receiver(identity(&certificate(&[NAME]), signer), ANY).await;
        assert_eq!(unsent(&trusting(&issuer), &receiver).await, (Why::Tls, message.into()));
        assert_eq!(unsent(&client(), &receiver).await, (Why::Tls, message.into()));
        assert_eq!(receiver.requests().len(), 0);
    }
}

#[tokio::test]
async fn whoever_does_not_speak_tls_is_told_apart() {
    let plain = Receiver::start(async |mut visit| {
        visit.say(b"HTTP/1.1 400 Bad Request\r\n\r\n").await;
        visit.wait().await;
    })
    .await;
    let told = unsent(&client(), &plain).await;
    assert_eq!(told, (Why::Tls, "the destination does not speak TLS".into()));

    let closing = Receiver::start(async |_| {}).await;
    let (why, message) = unsent(&client(), &closing).await;
    assert_eq!(why, Why::Tls);
    assert!(message.ends_with("the connection during the TLS handshake"), "{message}");
}

#[tokio::test]
async fn a_handshake_that_stalls_ends_with_the_deadline() {
    let stalling = Receiver::start(async |mut visit| visit.wait().await).await;
    let outgoing = Outgoing { timeout: SHORT, ..post(&url(&stalling)) };
    let unsent = client().send(outgoing).await.unwrap_err();
    assert!(unsent.timing.tls.is_some());
    assert_eq!(
        (unsent.why, unsent.message.as_str()),
        (Why::Timeout, "TLS was not agreed on within 300ms")
    );
}

#[test]
fn roots_are_read_or_refused() {
    let pem = authority("ours").pem();
    let two = format!("# ours\n{pem}\n{}", authority("ours").pem());
    assert!(Roots::public().with_pem(two.as_bytes()).is_ok());
    assert!(matches!(Roots::public().with_pem(b""), Err(BadRoots::Empty)));
    assert!(matches!(Roots::public().with_pem(b"hello"), Err(BadRoots::Empty)));
    let broken = pem.replace("-----END", "!!!\n-----END");
    assert!(matches!(Roots::public().with_pem(broken.as_bytes()), Err(BadRoots::NotPem(_))));
    let hollow = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    assert!(matches!(Roots::public().with_pem(hollow.as_bytes()), Err(BadRoots::Unusable(_))));
}
