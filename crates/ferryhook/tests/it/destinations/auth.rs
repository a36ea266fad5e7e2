//! Destinations that want to see who sends: what they are shown, and what becomes of an event when
//! there is nothing to show.

use std::io::{BufReader, Write};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, ExtendedKeyUsagePurpose, IsCa, KeyPair,
};
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::PrivatePkcs8KeyDer;
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig, ServerConnection, StreamOwned};
use serde_json::{Value, json};

use crate::destination::{Destination, OK, hang, meet, say};
use crate::ferry::show;
use crate::message::Message;
use crate::stage::{Stage, source, told};

#[test]
fn what_is_configured_is_shown() {
    let destination = Destination::kind();
    let to = |name, auth: Value| source(name, &destination.url(name), json!({ "auth": auth }));
    let stage = Stage::with(vec![
        to("header", json!({ "type": "header", "name": "X-Api-Key", "value": "k1" })),
        to("basic", json!({ "type": "basic", "username": "ada", "password": "hush" })),
        to("bearer", json!({ "type": "bearer", "token": "t1" })),
    ]);
    for (name, header, value) in [
        ("header", "x-api-key", "k1"),
        ("basic", "authorization", "Basic YWRhOmh1c2g="),
        ("bearer", "authorization", "Bearer t1"),
    ] {
        // What the sender says under the same name is not passed on.
        let sent = "x-api-key: theirs\r\nauthorization: Bearer theirs\r\n";
        let answer = stage.ferry.post_with(stage.path(name), sent, b"{}");
        let event = answer.json()["id"].as_str().unwrap().to_owned();
        assert_eq!(told(&stage.wait_until_settled(&event)), "delivered / 200");
        let call = destination.calls().pop().unwrap();
        let all = call.message.headers.iter().filter(|(own, _)| own == header);
        assert_eq!(all.map(|(_, value)| value.as_str()).collect::<Vec<_>>(), [value]);
    }
}

/// A destination, and beside it the endpoint that gives out the tokens it takes: `t1`, `t2`, ….
struct Guarded {
    destination: Destination,
    login: Destination,
    /// The number of the first token that is still good.
    good_from: Arc<AtomicUsize>,
    /// How the endpoint answers: a status, and how long a token is good; nothing at all.
    manner: Arc<Mutex<Option<(u16, u64)>>>,
}

impl Guarded {
    fn new() -> Self {
        let good_from = Arc::new(AtomicUsize::new(0));
        let manner = Arc::new(Mutex::new(Some((200, 3600))));
        let (given, told) = (Arc::new(AtomicUsize::new(0)), manner.clone());
        let login = Destination::new(move |_, stream| {
            let manner = *told.lock().unwrap();
            let Some((status, seconds)) = manner else { return hang(stream) };
            let answer = match status {
                200 => {
                    let number = given.fetch_add(1, Ordering::SeqCst) + 1;
                    json!({ "access_token": format!("t{number}"), "expires_in": seconds })
                }
                _ => json!({ "error": "invalid_client", "error_description": "hush" }),
            };
            let (answer, length) = (answer.to_string(), answer.to_string().len());
            say(stream, format!("HTTP/1.1 {status} So\r\ncontent-length: {length}\r\n\r\n{answer}"))
        });
        let good = good_from.clone();
        let destination = Destination::new(move |call, stream| {
            let shown = call.message.header("authorization").unwrap_or_default();
            let number = shown.strip_prefix("Bearer t").and_then(|number| number.parse().ok());
            match number.is_some_and(|number: usize| number >= good.load(Ordering::SeqCst)) {
                true => say(stream, OK),
                false => say(stream, "HTTP/1.1 401 Who\r\ncontent-length: 0\r\n\r\n"),
            }
        });
        Self { destination, login, good_from, manner }
    }

    fn stage(&self, more: Value) -> Stage {
        self.stage_as(&[], more)
    }

    fn stage_as(&self, variables: &[(&str, &str)], more: Value) -> Stage {
        let mut fields = json!({ "auth": {
            "type": "oauth2",
            "tokenUrl": self.login.url("token"),
            "clientId": "we",
            "clientSecret": "hush",
            "scope": "orders:write",
            "authStyle": "body",
        } });
        fields.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let mut stage = Stage::set_up(variables, &[]);
        stage.apply(vec![source("a", &self.destination.url("hook"), fields)]);
        stage
    }

    fn answers(&self, manner: Option<(u16, u64)>) {
        *self.manner.lock().unwrap() = manner;
    }
}

#[test]
fn a_token_is_fetched_once_for_many_events() {
    let guarded = Guarded::new();
    let stage = guarded.stage(json!({}));
    let events: Vec<_> = (0..20).map(|_| stage.post("a", "{}")).collect();
    for event in &events {
        assert_eq!(told(&stage.wait_until_settled(event)), "delivered / 200");
    }
    let asked = guarded.login.calls();
    assert_eq!(asked.len(), 1);
    assert_eq!(asked[0].message.first_line, "POST /token HTTP/1.1");
    assert_eq!(
        asked[0].body(),
        "grant_type=client_credentials&scope=orders%3Awrite&client_id=we&client_secret=hush"
    );
    assert_eq!(guarded.destination.calls().len(), 20);
}

#[test]
fn a_token_that_has_run_out_is_replaced() {
    let guarded = Guarded::new();
    guarded.answers(Some((200, 0)));
    let stage = guarded.stage(json!({}));
    for _ in 0..2 {
        let event = stage.post("a", "{}");
        assert_eq!(told(&stage.wait_until_settled(&event)), "delivered / 200");
    }
    let shown: Vec<_> = guarded.destination.calls().iter().map(|call| bearer(call)).collect();
    assert_eq!(shown, ["Bearer t1", "Bearer t2"]);
}

fn bearer(call: &crate::destination::Call) -> String {
    call.message.header("authorization").unwrap().to_owned()
}

/// Also where a rule says that 401 is the end: that is for a token which was good to begin with.
#[test]
fn a_token_that_was_taken_back_is_replaced_for_the_next_attempt() {
    let guarded = Guarded::new();
    let rules = json!([{ "codes": "4xx", "then": "fail" }]);
    let retry = json!({ "schedule": [0, 1, 1], "jitterPercent": 0, "rules": rules });
    let stage = guarded.stage(json!({ "retry": retry }));
    let event = stage.post("a", "{}");
    assert_eq!(told(&stage.wait_until_settled(&event)), "delivered / 200");

    guarded.good_from.store(2, Ordering::SeqCst);
    let event = stage.post("a", "{}");
    assert_eq!(
        told(&stage.wait_until_settled(&event)),
        "delivered / 401 the token was refused; the next attempt brings another / 200"
    );

    guarded.good_from.store(usize::MAX, Ordering::SeqCst);
    let event = stage.post("a", "{}");
    let story = told(&stage.wait_until_settled(&event));
    assert!(story.starts_with("failed refused / 401 the token was refused"), "{story}");
    assert!(story.ends_with(" / 401"), "a new one is no better: {story}");
}

/// The destination hears nothing of it, and the event waits for its next attempt.
#[test]
fn without_a_token_nothing_is_sent() {
    let guarded = Guarded::new();
    guarded.answers(Some((401, 0)));
    let stage = guarded.stage(json!({}));
    let event = stage.post("a", "{}");
    let refused = "0 the token endpoint answered 401: invalid_client";
    assert_eq!(told(&stage.wait_for_attempts(&event, 1)), format!("waiting / {refused}"));
    guarded.answers(Some((200, 60)));
    assert_eq!(told(&stage.wait_until_settled(&event)), format!("delivered / {refused} / 200"));
    assert_eq!(guarded.destination.calls().len(), 1);

    let other = Guarded::new();
    other.answers(None);
    let stage = other.stage(json!({ "retry": [0] }));
    let event = stage.post("a", "{}");
    assert_eq!(
        told(&stage.wait_until_settled(&event)),
        "failed exhausted / 0 the token endpoint gave no answer: there was no answer within 500ms"
    );
    assert_eq!(other.destination.calls().len(), 0);
}

/// Neither into the log, nor into what is exported or shown of an event.
#[test]
fn secrets_stay_where_they_are() {
    let guarded = Guarded::new();
    let log = "debug,ferryhook_net=trace,ferryhook_flow=trace,ferryhook=trace";
    let stage = guarded.stage_as(&[("FERRYHOOK_LOG", log)], json!({ "retry": [0, 0, 0] }));
    guarded.good_from.store(usize::MAX, Ordering::SeqCst);
    let event = stage.post("a", "{}");
    let story = stage.wait_until_settled(&event).to_string();
    guarded.answers(Some((400, 0)));
    let exported = stage.export();
    assert!(exported.contains("env:A_A_AUTH_CLIENT_SECRET"), "{exported}");
    let log = stage.ferry.last_log();
    assert!(log.contains("ferryhook"), "{log}");
    for text in [story, exported, log] {
        assert!(!text.contains("hush") && !text.contains("Bearer t"), "{text}");
    }
}

#[test]
fn credentials_that_cannot_work_are_refused_when_they_are_written_down() {
    let stage = Stage::new();
    let said = |fields: Value| {
        let manifest = json!({ "sources": [source("a", "https://example.com/", fields)] });
        stage.write("bad.yaml", &manifest.to_string());
        show(&stage.command(&["apply", "-f", "bad.yaml"]))
    };
    let bearer = json!({ "type": "bearer", "token": "hush" });
    let twice = said(json!({ "auth": bearer, "headers": { "Authorization": "Basic x" } }));
    assert!(
        twice.contains("auth: sets the header authorization, which stands in headers too"),
        "{twice}"
    );
    let inside = said(json!({ "auth": {
        "type": "oauth2",
        "tokenUrl": "http://169.254.169.254/latest/meta-data",
        "clientId": "we",
        "clientSecret": "hush",
    } }));
    assert!(
        inside.contains("auth.tokenUrl: cannot be called: 169.254.169.254 is not a public address"),
        "{inside}"
    );
    assert!(!twice.contains("hush") && !inside.contains("hush"));
}

/// Whom everybody in this test believes.
struct Authority(CertifiedIssuer<'static, KeyPair>);

impl Authority {
    fn new() -> Self {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        Self(CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap())
    }

    fn vouch(&self, name: &str) -> (rcgen::Certificate, KeyPair) {
        let mut params = CertificateParams::new(vec![name.to_owned()]).unwrap();
        params.extended_key_usages =
            vec![ExtendedKeyUsagePurpose::ClientAuth, ExtendedKeyUsagePurpose::ServerAuth];
        let key = KeyPair::generate().unwrap();
        (params.signed_by(&key, &self.0).unwrap(), key)
    }

    /// As a client writes it down.
    fn papers(&self) -> Value {
        let (certificate, key) = self.vouch("we.example");
        json!({ "certificate": certificate.pem(), "privateKey": key.serialize_pem() })
    }

    /// A destination that lets in only whom this authority knows.
    fn receiver(&self) -> SocketAddr {
        let provider = Arc::new(aws_lc_rs::default_provider());
        let mut roots = RootCertStore::empty();
        roots.add(self.0.der().clone()).unwrap();
        let verifier =
            WebPkiClientVerifier::builder_with_provider(roots.into(), provider.clone()).build();
        let (certificate, key) = self.vouch("127.0.0.1");
        let key = PrivatePkcs8KeyDer::from(key.serialize_der());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_client_cert_verifier(verifier.unwrap())
            .with_single_cert(vec![certificate.der().clone()], key.into())
            .unwrap();
        let config = Arc::new(config);
        meet(move |stream| {
            let connection = ServerConnection::new(config.clone()).unwrap();
            let mut stream = BufReader::new(StreamOwned::new(connection, stream));
            while let Ok(Some(_)) = Message::read(&mut stream) {
                stream.get_mut().write_all(OK).unwrap();
            }
        })
    }
}

/// By an authority of the operator's own, whom the server believes too.
#[test]
fn a_client_certificate_opens_the_door() {
    let (ours, theirs) = (Authority::new(), Authority::new());
    let url = format!("https://{}/", ours.receiver());
    let variables = [("FERRYHOOK_DESTINATION_CA_FILE", "ca.pem")];
    let mut stage = Stage::set_up(&variables, &[("ca.pem", &ours.0.pem())]);
    let mtls = |papers: Value| json!({ "type": "mtls", "clientCertificate": papers });
    let both = json!({ "type": "bearer", "token": "t", "clientCertificate": ours.papers() });
    let to = |name, auth: Option<Value>| match auth {
        Some(auth) => source(name, &url, json!({ "auth": auth, "retry": [0] })),
        None => source(name, &url, json!({ "retry": [0] })),
    };
    stage.apply(vec![
        to("known", Some(mtls(ours.papers()))),
        to("both", Some(both)),
        to("stranger", Some(mtls(theirs.papers()))),
        to("nobody", None),
    ]);
    let sent = |name: &str| told(&stage.wait_until_settled(&stage.post(name, "{}")));
    assert_eq!(sent("known"), "delivered / 200");
    assert_eq!(sent("both"), "delivered / 200");
    for name in ["stranger", "nobody", "stranger"] {
        let story = sent(name);
        assert!(story.starts_with("failed exhausted / 0 the destination "), "{story}");
    }
    assert_eq!(sent("known"), "delivered / 200");
}

/// Without the operator's word the same destination is nobody's.
#[test]
fn an_authority_of_ones_own_is_believed_only_when_it_is_named() {
    let ours = Authority::new();
    let url = format!("https://{}/", ours.receiver());
    let auth = json!({ "type": "mtls", "clientCertificate": ours.papers() });
    let stage = Stage::with(vec![source("a", &url, json!({ "auth": auth, "retry": [0] }))]);
    assert_eq!(
        told(&stage.wait_until_settled(&stage.post("a", "{}"))),
        "failed exhausted / 0 the certificate comes from an unknown issuer or is self-signed"
    );
}
