use aws_lc_rs::hkdf;
use base64::engine::general_purpose::STANDARD;

use super::*;

const PLACE: Place<'static> = Place(&["acc_1", "source", "src_1", "signingSecret"]);

fn env() -> Env {
    Env::fixed("2026-01-01T00:00:00Z")
}

fn key(byte: u8) -> DataCipher {
    DataCipher::new(format!("{byte:016x}"), &[byte; KEY_BYTES])
}

#[test]
fn what_is_sealed_opens_in_its_place() {
    let env = env();
    for plain in [b"".as_slice(), b"whsec_hush", &[0; 100_000]] {
        let sealed = key(1).seal(plain, PLACE, &env);
        assert!(is_sealed(&sealed));
        assert_eq!(key(1).open(&sealed, PLACE).unwrap(), plain);
    }
}

#[test]
fn nothing_of_it_shows_and_no_two_are_alike() {
    let env = env();
    let [one, two] = [(); 2].map(|()| key(1).seal(b"whsec_hush", PLACE, &env));
    assert!(!one.contains("hush") && !one.contains(&BASE64.encode("whsec_hush")));
    assert_ne!(one, two);
}

#[test]
fn it_opens_nowhere_else() {
    let sealed = key(1).seal(b"hush", PLACE, &env());
    for other in [
        ["acc_2", "source", "src_1", "signingSecret"],
        ["acc_1", "hook", "src_1", "signingSecret"],
        ["acc_1", "source", "src_2", "signingSecret"],
        ["acc_1", "source", "src_1", "config"],
        // The same letters, divided in another way.
        ["acc_1s", "ource", "src_1", "signingSecret"],
    ] {
        assert_eq!(key(1).open(&sealed, Place(&other)), Err(OpenError::Forged), "{other:?}");
    }
    assert_eq!(key(2).open(&sealed, PLACE), Err(OpenError::OtherKey));
}

#[test]
fn what_was_altered_does_not_open() {
    let sealed = key(1).seal(b"hush", PLACE, &env());
    let start = MARK.len() + 17;
    for place in start..sealed.len() {
        let mut altered = sealed.clone();
        let other = if &altered[place..=place] == "A" { "B" } else { "A" };
        altered.replace_range(place..=place, other);
        assert!(key(1).open(&altered, PLACE).is_err(), "{place}");
    }
    for short in ["", "hush", "sealed:v1:", &sealed[..start], &sealed[..start + 8]] {
        assert_eq!(key(1).open(short, PLACE), Err(OpenError::Form), "{short}");
    }
    // Under the name of another key.
    let renamed = sealed.replace(key(1).id(), key(2).id());
    assert_eq!(key(2).open(&renamed, PLACE), Err(OpenError::Forged));
}

#[test]
fn a_wrapped_key_opens_with_its_master_only() {
    let (env, place) = (env(), Place(&["acc_1", "0123"]));
    let master = MasterKey::generate(&env);
    let wrapped = master.wrap(&[7; KEY_BYTES], place, &env);
    assert_eq!(master.unwrap(&wrapped, place), Ok([7; KEY_BYTES]));
    assert_eq!(master.unwrap(&wrapped, Place(&["acc_2", "0123"])), Err(OpenError::Forged));
    let other = MasterKey::generate(&env);
    assert_eq!(other.unwrap(&wrapped, place), Err(OpenError::Forged));
    assert_ne!(master.id(), other.id());
}

#[test]
fn a_master_key_reads_back_from_its_text() {
    let master = MasterKey::generate(&env());
    let again = MasterKey::parse(&format!("{}\n", master.text().expose())).unwrap();
    assert_eq!((again.id(), again.text()), (master.id(), master.text()));
    assert!(!format!("{master:?}").contains(master.text().expose()));
    for bad in ["", "hush", &STANDARD.encode([1; 31]), &STANDARD.encode([1; 33])] {
        assert_eq!(MasterKey::parse(bad).map(drop), Err(NotAMasterKey), "{bad}");
    }
}

/// The id and what is derived are on disk or in people's hands: they may not change.
#[test]
fn what_is_derived_is_that_of_the_standard_and_never_changes() {
    let master = MasterKey::new(&[9; KEY_BYTES]);
    let standard = hkdf::Prk::new_less_safe(hkdf::HKDF_SHA256, &[9; KEY_BYTES]);
    let info: [&[u8]; 1] = [b"ferryhook v1: purpose: cursors"];
    let mut expected = [0; KEY_BYTES];
    standard.expand(&info, hkdf::HKDF_SHA256).unwrap().fill(&mut expected).unwrap();
    assert_eq!(master.derive("cursors"), expected);
    assert_ne!(master.derive("cursors"), master.derive("tokens"));
    assert_eq!(master.id(), "3ac8b14c1eec9bfc");
}
