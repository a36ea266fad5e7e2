use std::collections::HashSet;

use ferryhook_core::verify::sign::sign;
use ferryhook_core::verify::{Request, Verdict, Verifier};
use ferryhook_core::{Env, Headers, Map, Secret, providers};

use super::ALL;

/// In every form that a provider's secret may have.
const SECRET: &str = "whsec_MDEyMzQ1Njc4OWFiY2RlZmdoaWprbG1u";

#[test]
fn every_sample_is_of_a_known_provider_and_there_once() {
    let mut names = HashSet::new();
    for sample in ALL {
        assert!(names.insert((sample.provider, sample.event)), "{sample:?}");
        let is_known = sample.provider == "custom" || providers::find(sample.provider).is_some();
        assert!(is_known, "{sample:?}");
    }
}

/// The blanks are filled, with something else each time.
#[test]
fn every_sample_is_new_each_time() {
    let env = Env::system();
    for sample in ALL {
        let text = |draft: &ferryhook_core::verify::sign::Draft| {
            format!("{:?} {}", draft.headers, String::from_utf8_lossy(&draft.body))
        };
        let draft = || sample.draft("http://127.0.0.1/in/x", &sample.body(&env), &env);
        let (one, other) = (text(&draft()), text(&draft()));
        assert!(!one.contains("{{") && !one.contains(" null"), "{one}");
        if sample.event != "app/uninstalled" {
            assert_ne!(one, other);
        }
    }
}

/// As the door would check it, with the provider's own rules.
#[test]
fn every_sample_can_be_signed_and_the_signature_holds() {
    let env = Env::system();
    let secret = Secret::new(SECRET);
    for sample in ALL.iter().filter(|sample| sample.provider != "custom") {
        let draft = sample.draft("http://127.0.0.1/in/x", &sample.body(&env), &env);
        let signed = sign(sample.provider, &secret, &Map::new(), draft, env.now());
        let signed = signed.unwrap_or_else(|error| panic!("{sample:?}: {error}"));
        let verifier =
            Verifier::new(sample.provider, std::slice::from_ref(&secret), &Map::new()).unwrap();
        let headers = Headers::new(signed.headers.clone());
        let request = Request {
            method: &signed.method,
            url: &signed.url,
            headers: &headers,
            body: &signed.body,
        };
        let verdict = verifier.check(&request, env.now(), &ferryhook_core::verify::NoCertificates);
        assert_eq!(verdict, Verdict::Valid, "{sample:?}");
    }
}
