use serde_json::json;

use super::*;

fn parse(json: &Value) -> Result<DestinationAuth, String> {
    DestinationAuth::parse(&json.to_string()).map_err(|bad| bad.to_string())
}

fn bad(json: &Value) -> String {
    parse(json).unwrap_err()
}

const PEM: &str = "-----BEGIN SOMETHING-----\nhush\n-----END SOMETHING-----\n";

/// One of each, with every field.
fn all() -> [Value; 5] {
    let certificate = json!({ "certificate": "-----BEGIN CERTIFICATE-----", "privateKey": PEM });
    [
        json!({ "type": "header", "name": "X-Api-Key", "value": "hush" }),
        json!({ "type": "basic", "username": "ada", "password": "hush" }),
        json!({ "type": "bearer", "token": "hush", "clientCertificate": certificate }),
        json!({
            "type": "oauth2",
            "tokenUrl": "https://login.example.com/token",
            "clientId": "we",
            "clientSecret": "hush",
            "scope": "a b",
            "audience": "https://api.example.com",
            "authStyle": "body",
            "parameters": { "resource": "hush" },
        }),
        json!({ "type": "mtls", "clientCertificate": certificate }),
    ]
}

#[test]
fn what_is_written_is_read_and_written_the_same() {
    for written in all() {
        let auth = parse(&written).unwrap();
        assert_eq!(auth.to_text().expose(), written.to_string());
        assert_eq!(DestinationAuth::parse(auth.to_text().expose()).unwrap(), auth);
    }
}

/// So that the order in a file makes no difference to what is stored.
#[test]
fn one_meaning_has_one_text() {
    let one = json!({ "type": "basic", "username": "a", "password": "b" });
    let other =
        json!({ "password": "b", "clientCertificate": null, "username": "a", "type": "basic" });
    assert_eq!(parse(&one).unwrap().to_text(), parse(&other).unwrap().to_text());
    let none = parse(&json!({ "type": "basic", "username": "key" })).unwrap();
    let empty = parse(&json!({ "type": "basic", "username": "key", "password": "" })).unwrap();
    assert_eq!(none, empty);
    assert_eq!(none.to_text().expose(), r#"{"type":"basic","username":"key"}"#);
}

#[test]
fn nothing_shows_a_secret() {
    for written in all() {
        let auth = parse(&written).unwrap();
        assert!(!format!("{auth:?}").contains("hush"), "{auth:?}");
        let view = serde_json::to_string(&auth.view()).unwrap();
        assert!(!view.contains("hush"), "{view}");
        let exported = auth.written(|field, _| format!("<{field}>").into());
        assert!(!Value::Object(exported).to_string().contains("hush"));
    }
}

#[test]
fn the_rest_is_shown() {
    let views: Vec<_> = all().map(|written| json!(parse(&written).unwrap().view())).into();
    let certificate = json!({ "certificate": "-----BEGIN CERTIFICATE-----" });
    assert_eq!(
        views,
        [
            json!({ "type": "header", "name": "X-Api-Key" }),
            json!({ "type": "basic", "username": "ada" }),
            json!({ "type": "bearer", "clientCertificate": certificate }),
            json!({
                "type": "oauth2",
                "tokenUrl": "https://login.example.com/token",
                "clientId": "we",
                "scope": "a b",
                "audience": "https://api.example.com",
                "authStyle": "body",
                "parameters": ["resource"],
            }),
            json!({ "type": "mtls", "clientCertificate": certificate }),
        ]
    );
}

#[test]
fn headers_are_made() {
    let made = all().map(|written| {
        let auth = parse(&written).unwrap();
        auth.header().map(|(name, value)| format!("{name}: {}", value.expose()))
    });
    let [header, basic, bearer, oauth2, mtls] = made;
    assert_eq!(header.as_deref(), Some("X-Api-Key: hush"));
    assert_eq!(basic.as_deref(), Some("authorization: Basic YWRhOmh1c2g="));
    assert_eq!(bearer.as_deref(), Some("authorization: Bearer hush"));
    assert_eq!((oauth2, mtls), (None, None));
    let key = parse(&json!({ "type": "basic", "username": "key" })).unwrap();
    assert_eq!(key.header().unwrap().1.expose(), "Basic a2V5Og==");
}

#[test]
fn what_is_wrong_is_said_without_the_secret() {
    for (written, told) in [
        (json!([]), "auth must be a JSON object"),
        (json!({}), "auth.type is missing"),
        (json!({ "type": 5 }), "auth.type must be text"),
        (json!({ "type": "hush" }), "auth.type must be one of header, basic, bearer, oauth2, mtls"),
        (json!({ "type": "bearer" }), "auth.token is missing"),
        (json!({ "type": "bearer", "token": "" }), "auth.token is missing"),
        (json!({ "type": "bearer", "token": 4711 }), "auth.token must be text"),
        (
            json!({ "type": "bearer", "token": "hush hush" }),
            "auth.token must be made of visible ASCII characters, no spaces",
        ),
        (
            json!({ "type": "bearer", "token": "h".repeat(4096) }),
            "auth.token is too long for a header",
        ),
        (
            json!({ "type": "bearer", "token": "hush", "tokn": "x" }),
            "auth.tokn is no field of this type",
        ),
        (
            json!({ "type": "bearer", "token": "hush", "password": "hush" }),
            "auth.password is no field of this type",
        ),
        (
            json!({ "type": "header", "name": "Host", "value": "hush" }),
            "auth.name cannot be used: Host belongs to the transport of each request and cannot be \
             set",
        ),
        (
            json!({ "type": "header", "name": "webhook-id", "value": "hush" }),
            "auth.name cannot be used: webhook-id is set by Ferryhook and cannot be replaced",
        ),
        (
            json!({ "type": "header", "name": "X-Key", "value": "hu\r\nsh" }),
            "auth.value cannot be used: the value of X-Key has a line break, NUL or other control \
             character in it",
        ),
        (
            json!({ "type": "basic", "username": "a:b", "password": "hush" }),
            "auth.username must not have a colon, which ends it",
        ),
        (
            json!({ "type": "basic", "username": "a", "password": "hu\nsh" }),
            "auth.password has a line break or other control character in it",
        ),
        (
            json!({ "type": "basic", "username": "a", "password": "h".repeat(2049) }),
            "auth.password has more than 2048 bytes",
        ),
        (json!({ "type": "mtls" }), "auth.clientCertificate is missing"),
        (
            json!({ "type": "mtls", "clientCertificate": "hush" }),
            "auth.clientCertificate must be a map",
        ),
        (
            json!({ "type": "mtls", "clientCertificate": { "certificate": PEM } }),
            "auth.clientCertificate.privateKey is missing",
        ),
        (
            json!({ "type": "mtls", "clientCertificate": { "certificate": "hush", "privateKey": PEM } }),
            "auth.clientCertificate.certificate is not PEM: it has no -----BEGIN",
        ),
        (
            json!({ "type": "mtls", "clientCertificate": { "certificate": PEM, "key": PEM } }),
            "auth.clientCertificate.key is no field of this type",
        ),
        (
            json!({ "type": "mtls", "clientCertificate": {
                "certificate": PEM.repeat(400), "privateKey": PEM } }),
            "auth.clientCertificate.certificate has more than 16384 bytes",
        ),
    ] {
        let said = bad(&written);
        assert_eq!(said, told);
        assert!(!said.contains("hush") && !said.contains("4711"), "{said}");
    }
    let long = json!({ "type": "bearer", "token": "h".repeat(AUTH_BYTES_MAX) });
    assert_eq!(bad(&long), "auth has more than 65536 bytes");
}

#[test]
fn what_is_wrong_with_a_grant_is_said() {
    let with = |name: &str, value: Value| {
        let mut written = all()[3].clone();
        written[name] = value;
        bad(&written)
    };
    assert_eq!(with("tokenUrl", json!(null)), "auth.tokenUrl is missing");
    assert_eq!(with("tokenUrl", json!("h".repeat(2049))), "auth.tokenUrl has more than 2048 bytes");
    assert_eq!(with("authStyle", json!("jwt")), "auth.authStyle must be one of basic, body");
    assert_eq!(with("parameters", json!(["a"])), "auth.parameters must be a map");
    let reserved = "auth.parameters.grant_type has a field of its own";
    assert_eq!(with("parameters", json!({ "grant_type": "password" })), reserved);
    assert_eq!(with("parameters", json!({ "a": 1 })), "auth.parameters.a must be text");
    let many: Map = (0..=PARAMETERS_MAX).map(|n| (format!("p{n}"), json!("v"))).collect();
    assert_eq!(with("parameters", many.into()), "auth.parameters has more than 16 fields");
}

/// Variables of one line have their line breaks written out.
#[test]
fn a_certificate_may_come_on_one_line() {
    let one_line = PEM.replace('\n', "\\n");
    let written = json!({ "type": "mtls", "clientCertificate": {
        "certificate": one_line, "privateKey": one_line } });
    let auth = parse(&written).unwrap().client_certificate.unwrap();
    assert_eq!((&*auth.certificate, auth.private_key.expose()), (PEM, PEM));
}

#[test]
fn a_header_is_set_in_one_place() {
    let [header, basic, _, oauth2, mtls] = all().map(|written| parse(&written).unwrap());
    let headers = |name: &str| Headers::from_iter([(name, "x")]);
    let told = "auth sets the header authorization, which stands in headers too";
    for auth in [&basic, &oauth2] {
        let bad = auth.check_beside(&headers("Authorization")).unwrap_err();
        assert_eq!((bad.to_string().as_str(), bad.field()), (told, ""));
        assert!(auth.check_beside(&headers("X-Api-Key")).is_ok());
    }
    assert!(header.check_beside(&headers("x-api-key")).is_err());
    assert!(header.check_beside(&headers("Authorization")).is_ok());
    assert!(mtls.check_beside(&headers("Authorization")).is_ok());
}

fn grant(style: AuthStyle) -> Grant {
    Grant {
        token_url: "https://login.example.com/token".to_owned(),
        client_id: "we & co".to_owned(),
        client_secret: Secret::new("ß:/?"),
        scope: Some("orders:read orders:write".to_owned()),
        audience: None,
        auth_style: style,
        parameters: vec![("resource".to_owned(), Secret::new("https://x.example"))],
    }
}

#[test]
fn a_token_is_asked_for_with_the_secret_where_it_is_wanted() {
    let asked = grant(AuthStyle::Basic).request();
    let form = "grant_type=client_credentials&scope=orders%3Aread+orders%3Awrite\
                &resource=https%3A%2F%2Fx.example";
    assert_eq!(asked.form.expose(), form);
    // "we+%26+co:%C3%9F%3A%2F%3F"
    let basic = "Basic d2UrJTI2K2NvOiVDMyU5RiUzQSUyRiUzRg==";
    assert_eq!(asked.authorization.unwrap().expose(), basic);

    let asked = grant(AuthStyle::Body).request();
    let more = "&client_id=we+%26+co&client_secret=%C3%9F%3A%2F%3F";
    assert_eq!(asked.form.expose(), format!("{form}{more}"));
    assert_eq!(asked.authorization, None);
}

fn granted(answer: &Value) -> Result<(String, u64), String> {
    let token = Token::read(200, answer.to_string().as_bytes());
    token
        .map(|token| (token.authorization.expose().to_owned(), token.lifetime.as_secs()))
        .map_err(|bad| bad.to_string())
}

#[test]
fn a_granted_token_is_read() {
    let bearer = |seconds| Ok(("Bearer abc".to_owned(), seconds));
    let answer = json!({ "access_token": "abc", "token_type": "bearer", "expires_in": 3600 });
    assert_eq!(granted(&answer), bearer(3600));
    assert_eq!(granted(&json!({ "access_token": "abc", "expires_in": "60" })), bearer(60));
    assert_eq!(granted(&json!({ "access_token": "abc", "expires_in": 59.6 })), bearer(59));
    assert_eq!(granted(&json!({ "access_token": "abc" })), bearer(300));
    assert_eq!(granted(&json!({ "access_token": "abc", "expires_in": 1e30 })), bearer(0));
    assert_eq!(granted(&json!({ "access_token": "abc", "expires_in": -1 })), bearer(0));
    assert_eq!(granted(&json!({ "access_token": "abc", "expires_in": 1_000_000 })), bearer(86_400));
}

/// What stands in the answer may be anything, so only codes are passed on.
#[test]
fn an_endpoint_that_says_no_is_quoted_by_its_code() {
    let told = |status, body: &str| Token::read(status, body.as_bytes()).unwrap_err().to_string();
    let invalid = r#"{"error":"invalid_client","error_description":"hush is wrong"}"#;
    assert_eq!(told(401, invalid), "the token endpoint answered 401: invalid_client");
    assert_eq!(told(200, invalid), "the token endpoint answered 200: invalid_client");
    assert_eq!(told(400, r#"{"error":"hush hush"}"#), "the token endpoint answered 400");
    assert_eq!(told(302, ""), "the token endpoint answered 302");
    assert_eq!(told(503, "<html>"), "the token endpoint answered 503");
    let not_understood =
        |why: &str| format!("the token endpoint's answer is not understood: {why}");
    let none = not_understood("there is no access_token in JSON");
    assert_eq!(told(200, "access_token=abc"), none);
    assert_eq!(told(200, r#"{"access_token":5}"#), none);
    let dpop = r#"{"access_token":"abc","token_type":"DPoP"}"#;
    assert_eq!(told(200, dpop), not_understood("its token_type is not Bearer"));
    let unfit = not_understood("its access_token cannot stand in a header");
    for token in ["", "a b", "a\\r\\nb", &"a".repeat(8193)] {
        assert_eq!(told(200, &format!(r#"{{"access_token":"{token}"}}"#)), unfit);
    }
}
