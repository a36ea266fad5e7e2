use super::*;

fn config(text: &str) -> Map {
    serde_json::from_str(text).unwrap()
}

#[test]
fn a_setting_is_found_however_its_name_is_written() {
    for written in ["publicUrl", "public_url", "public-url", "PublicURL"] {
        let config = config(&format!(r#"{{"{written}":"https://a"}}"#));
        assert_eq!(
            Options(&config).find(&["publicUrl"]).as_deref(),
            Some("https://a"),
            "{written}"
        );
    }
}

#[test]
fn the_public_url_stands_in_for_what_is_in_front_of_us() {
    for (setting, called, signed) in [
        ("{}", "http://x/in/a?b=1", "http://x/in/a?b=1"),
        (r#"{"publicUrl":"https://h.io"}"#, "http://x:8080/in/a?b=1", "https://h.io/in/a?b=1"),
        (r#"{"publicUrl":"https://h.io/"}"#, "http://x/in/a", "https://h.io/in/a"),
        (r#"{"publicUrl":"https://h.io/hook"}"#, "http://x/in/a?b=1", "https://h.io/hook?b=1"),
        (r#"{"publicUrl":"https://h.io/hook?c=2"}"#, "http://x/in/a?b=1", "https://h.io/hook?c=2"),
        (r#"{"notification_url":"https://h.io/n"}"#, "http://x/in/a?b=1", "https://h.io/n"),
    ] {
        let config = config(setting);
        assert_eq!(Url::of(&Options(&config)).of_request(called), signed, "{setting} {called}");
    }
}

#[test]
fn a_tolerance_is_a_number_of_seconds_or_false() {
    for (setting, tolerance) in [
        ("{}", Ok(None)),
        (r#"{"toleranceSeconds":60}"#, Ok(Some(Some(60)))),
        (r#"{"tolerance_seconds":"60"}"#, Ok(Some(Some(60)))),
        (r#"{"tolerance":false}"#, Ok(Some(None))),
        (r#"{"tolerance":0}"#, Err(())),
        (r#"{"tolerance":-5}"#, Err(())),
        (r#"{"tolerance":300000000}"#, Err(())),
        (r#"{"tolerance":"soon"}"#, Err(())),
    ] {
        let config = config(setting);
        assert_eq!(Options(&config).tolerance().map_err(|_| ()), tolerance, "{setting}");
    }
}
