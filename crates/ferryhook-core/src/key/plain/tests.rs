use super::*;

#[test]
fn a_key_has_its_form_and_comes_back() {
    let env = Env::fixed("2026-01-01T00:00:00Z");
    let key = PlainKey::generate(&env);
    let text = key.expose();
    assert_eq!(text.len(), 46);
    assert!(text.starts_with("fh_live_"));
    assert_eq!(PlainKey::parse(text).as_ref(), Some(&key));
    assert_eq!(key.prefix(), text[..12]);
    assert_eq!(key.hash().expose().len(), 64);
    assert_ne!(PlainKey::generate(&env), key);
    assert_eq!(format!("{key:?}"), "PlainKey(..)");
}

#[test]
fn a_derived_key_is_a_key_and_always_the_same() {
    let key = PlainKey::derived(&[7; 32]);
    assert_eq!(PlainKey::parse(key.expose()).as_ref(), Some(&key));
    assert_eq!(PlainKey::derived(&[7; 32]), key);
    assert_ne!(PlainKey::derived(&[8; 32]), key);
}

/// One wrong character anywhere is noticed before the store is asked.
#[test]
fn what_is_mistyped_is_no_key() {
    let key = PlainKey::generate(&Env::fixed("2026-01-01T00:00:00Z"));
    for place in 0..key.expose().len() {
        let mut bytes = key.expose().as_bytes().to_vec();
        bytes[place] = if bytes[place] == b'x' { b'y' } else { b'x' };
        let text = String::from_utf8(bytes).unwrap();
        assert_eq!(PlainKey::parse(&text), None, "{place}");
    }
    for text in ["", "fh_live_", "fh_test_", &key.expose()[..45], &format!("{}0", key.expose())] {
        assert_eq!(PlainKey::parse(text), None, "{text}");
    }
    assert_eq!(PlainKey::parse(&key.expose().replacen("fh_live_", "fh_live_ü", 1)), None);
}

#[test]
fn the_check_is_the_crc_that_everybody_has() {
    assert_eq!(crc32(b"123456789"), 0xCBF4_3926);
    assert_eq!(check(""), "000000");
}

#[test]
fn hashes_are_sha_256() {
    let hash = Secret::new("abc").hash();
    let known = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    assert_eq!(hash.expose(), known);
    assert!(hash.is(&Secret::new(known)));
    assert!(!hash.is(&Secret::new("ba7816")));
}
