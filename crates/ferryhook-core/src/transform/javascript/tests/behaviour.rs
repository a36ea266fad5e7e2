use serde_json::json;

use crate::transform::{Fault, Outcome, Shaped, Transform, TransformError, limits};
use crate::{Event, samples};

fn script(code: &str) -> Transform {
    let text = json!({"type": "javascript", "code": code}).to_string();
    Transform::parse(&text).unwrap_or_else(|error| panic!("{code}\n{error}"))
}

fn event(body: &str) -> Event {
    Event { body: body.to_owned().into(), payload: None, ..samples::event() }
}

fn run(code: &str, body: &str) -> Result<Shaped, TransformError> {
    script(code).apply(&event(body))
}

/// The body that a script makes, or what came instead.
fn made(code: &str, body: &str) -> String {
    match run(code, body).map(|shaped| shaped.outcome) {
        Ok(Outcome::Unchanged) => "unchanged".to_owned(),
        Ok(Outcome::Changed(event)) => event.body.as_text().expect("text").to_owned(),
        Ok(Outcome::Dropped { reason }) => format!("dropped: {reason}"),
        Err(error) => format!("failed: {error}"),
    }
}

/// What an expression is, as JSON.
fn value(expression: &str) -> String {
    made(&format!("function transform() {{ return {{ v: {expression} }} }}"), "{}")
}

fn changed(code: &str, event: &Event) -> Event {
    match script(code).apply(event).unwrap_or_else(|error| panic!("{code}\n{error}")).outcome {
        Outcome::Changed(event) => *event,
        other => panic!("{code}\n{other:?}"),
    }
}

const ORDER: &str = r#"{"id":7,"zip":"x","items":[{"qty":2},{"qty":3}]}"#;

#[test]
fn three_dialects_are_understood() {
    for (code, expected) in [
        (
            r#"addHandler("transform", (request, context) => { request.body.sum = request.body.items.length; return request; });"#,
            r#"{"id":7,"zip":"x","items":[{"qty":2},{"qty":3}],"sum":2}"#,
        ),
        (
            "function handler(webhook) { webhook.payload = { id: webhook.payload.id }; return webhook; }",
            r#"{"id":7}"#,
        ),
        ("const handler = (webhook) => ({ ...webhook, payload: [1] })", "[1]"),
        (
            "function transform(payload) { return { n: payload.items.map((i) => i.qty) } }",
            r#"{"n":[2,3]}"#,
        ),
        ("const transform = ({ id }) => ({ id })", r#"{"id":7}"#),
        (
            "async function transform(payload) { return { id: await Promise.resolve(payload.id) } }",
            r#"{"id":7}"#,
        ),
        // The more deliberate one counts.
        (
            "function transform() { return 1 } addHandler('transform', (r) => ({ ...r, body: 2 }))",
            "2",
        ),
        // Sloppy, as scripts are.
        ("function transform(payload) { result = { a: payload.id }; return result }", r#"{"a":7}"#),
    ] {
        assert_eq!(made(code, ORDER), expected, "{code}");
    }
}

#[test]
fn returning_nothing_drops() {
    for (code, reason) in [
        ("function transform() {}", "dropped: the transform returned nothing"),
        ("function handler() { return null }", "dropped: the transform returned null"),
        ("addHandler('transform', () => undefined)", "dropped: the transform returned nothing"),
        (
            "function handler(webhook) { webhook.cancel = true; return webhook }",
            "dropped: the transform cancelled it",
        ),
        ("async function handler() {}", "dropped: the transform returned nothing"),
    ] {
        assert_eq!(made(code, ORDER), reason, "{code}");
    }
}

#[test]
fn what_cannot_be_returned_is_said() {
    for (code, message) in [
        (
            "addHandler('transform', (r) => 'x')",
            "failed: the handler must return request, an object, not a string",
        ),
        (
            "addHandler('transform', (r) => [r])",
            "failed: the handler must return request, an object, not a list",
        ),
        (
            "function handler(w) { return 7 }",
            "failed: the handler must return webhook, an object, not a number",
        ),
        (
            "addHandler('transform', (r) => r.body)",
            "failed: the handler returned an object without body; return request",
        ),
        (
            "function handler(w) { return w.payload }",
            "failed: the handler returned an object without payload; return webhook",
        ),
        (
            "function transform() { return () => 1 }",
            "failed: the body cannot be written as JSON: it is a function",
        ),
        (
            "addHandler('transform', (r) => ({ ...r, headers: 'x' }))",
            "failed: headers must be an object of names and values",
        ),
        (
            "addHandler('transform', (r) => ({ ...r, headers: { a: {} } }))",
            r#"failed: the header "a" must be a string"#,
        ),
        (
            "addHandler('transform', (r) => ({ ...r, method: 'EAT' }))",
            "failed: method must be POST, PUT, PATCH, DELETE or GET",
        ),
        (
            "addHandler('transform', (r) => ({ ...r, path: 'x y' }))",
            "failed: path must begin with / and have no spaces, ? or # in it",
        ),
        (
            "addHandler('transform', (r) => ({ ...r, query: 7 }))",
            "failed: query must be a string, not a number",
        ),
        (
            "function handler(w) { w.url = 'https://evil.example'; return w }",
            "failed: url is a path with a query here; where events go is up to the connection",
        ),
        (
            "function transform() { return new Promise(() => {}) }",
            "failed: the script returned a promise that never settles: there is nothing here to wait for",
        ),
        (
            "function transform() { const a = {}; a.a = a; return a }",
            "failed: TypeError: circular reference",
        ),
        (
            "var handler = 1; // transform",
            "failed: the script has no handler: write addHandler(\"transform\", (request) => request), function handler(webhook) or function transform(payload)",
        ),
    ] {
        assert_eq!(made(code, ORDER), message, "{code}");
    }
}

#[test]
fn errors_have_lines_of_the_script_and_no_others() {
    let code = "function transform(payload) {\n  return helper(payload)\n}\nfunction helper(payload) {\n  return payload.none.at\n}";
    let error = run(code, ORDER).unwrap_err();
    let Fault::Thrown { message, position, stack } = &error.fault else { panic!("{error:?}") };
    assert_eq!(message, "TypeError: cannot read property 'at' of undefined");
    assert_eq!(position.map(|(line, _)| line), Some(5));
    assert_eq!(stack.len(), 2, "{stack:?}");
    assert!(stack.iter().all(|frame| frame.contains("transform.js:")), "{stack:?}");
    assert!(error.to_string().starts_with("line 5, column "), "{error}");

    for (code, message) in [
        ("function transform() { throw new Error('no') }", "failed: line 1, column 34: Error: no"),
        ("function transform() { throw 'text' }", "failed: text"),
        ("function transform() { throw { a: 1 } }", r#"failed: {"a":1}"#),
        (
            "async function transform() { throw new TypeError('late') }",
            "failed: line 1, column 40: TypeError: late",
        ),
        // The guard is not in the way of the position.
        (
            "function transform() {\n [].sort.call(7) }",
            "failed: line 2, column 10: TypeError: this method works on arrays only",
        ),
        (
            "const a = 1;\nnope();\nfunction transform() {}",
            "failed: line 2, column 1: ReferenceError: nope is not defined",
        ),
    ] {
        assert_eq!(made(code, ORDER), message, "{code}");
    }
}

#[test]
fn a_bad_script_is_refused_with_its_position() {
    let refused = |code: &str| {
        let text = json!({"type": "javascript", "code": code}).to_string();
        Transform::parse(&text).map(|_| ()).unwrap_err()
    };
    let error = refused("function transform(p) {\n  return p +;\n}");
    assert_eq!(error.position.map(|(line, _)| line), Some(2), "{error}");
    assert!(error.to_string().starts_with("at /code, line 2, column "), "{error}");
    assert!(error.to_string().contains("SyntaxError: "), "{error}");
    assert!(refused("function transform() { /(/ }").message.contains("SyntaxError"));
    assert!(refused("await 1; transform").message.contains("SyntaxError"));
    assert!(refused("import x from 'y'; transform").message.contains("SyntaxError"));
    assert!(refused("let x = 1").message.starts_with("the script has no handler"));
    let big = refused("function transform() {\n  return 1 + 0xffn }");
    assert_eq!(
        big.to_string(),
        "at /code, line 2, column 14: 0xffn is a BigInt, which JSON does not have"
    );
    for code in
        ["transform '\0'", &"[".repeat(100_000), &format!("transform{}", "(".repeat(60_000))]
    {
        refused(code);
    }
    for fields in [
        json!({"type":"javascript"}),
        json!({"type":"javascript","code":7}),
        json!({"type":"javascript","code":"transform","x":1}),
    ] {
        assert!(Transform::parse(&fields.to_string()).is_err(), "{fields}");
    }
}

#[test]
fn bodies_keep_their_order_and_their_digits_unless_they_are_touched() {
    let long = r#"{ "n": 12345678901234567890, "b": 1.0, "a": [ 1 ] }"#;
    assert_eq!(made("addHandler('transform', (r) => r)", long), "unchanged");
    assert_eq!(made("function transform(p) { return p }", long), "unchanged");
    assert_eq!(
        made("function transform(p) { p.b = 2; return p }", long),
        r#"{"n":12345678901234567000,"b":2,"a":[1]}"#
    );
    assert_eq!(made("function transform(p) { return { z: 1, a: 2 } }", long), r#"{"z":1,"a":2}"#);
    // A name such as __proto__ is a name.
    assert_eq!(
        made("function transform(p) { return { v: p } }", r#"{"__proto__":{"x":1}}"#),
        r#"{"v":{"__proto__":{"x":1}}}"#
    );
    assert_eq!(
        made(
            "function transform(p) { return { v: {}.x ?? 0, w: p.x ?? 1 } }",
            r#"{"__proto__":{"x":1}}"#
        ),
        r#"{"v":0,"w":1}"#
    );
}

#[test]
fn text_is_a_string_and_a_string_is_sent_as_it_is() {
    let mut text = event("a=1&b=2");
    text.content_type = Some("application/x-www-form-urlencoded".to_owned());
    let code = "addHandler('transform', (r) => { r.body = r.body.split('&').join(';'); return r })";
    let out = changed(code, &text);
    assert_eq!(out.body.as_text(), Some("a=1;b=2"));
    assert_eq!(out.content_type, text.content_type);
    // An object is JSON, and says so.
    let out = changed(
        "function transform(p) { return Object.fromEntries(new URLSearchParams(p)) }",
        &text,
    );
    assert_eq!(out.body.as_text(), Some(r#"{"a":"1","b":"2"}"#));
    assert_eq!(out.content_type.as_deref(), Some("application/json"));
    // JSON that was made by hand stays JSON; what is none becomes text.
    let out =
        changed("function transform(p) { return JSON.stringify({ a: p.id }) }", &event(ORDER));
    assert_eq!(
        (out.body.as_text(), out.content_type.as_deref()),
        (Some(r#"{"a":7}"#), Some("application/json"))
    );
    let out = changed("function transform(p) { return '<a/>' }", &event(ORDER));
    assert_eq!(out.content_type.as_deref(), Some("text/plain; charset=utf-8"));
    let out = changed(
        "addHandler('transform', (r) => ({ ...r, body: '<a/>', headers: { ...r.headers, 'Content-Type': 'text/xml' } }))",
        &event(ORDER),
    );
    assert_eq!(out.content_type.as_deref(), Some("text/xml"));
    assert_eq!(made("function transform(p) { return { v: p === null } }", ""), r#"{"v":true}"#);
    assert_eq!(made("addHandler('transform', (r) => r)", ""), "unchanged");
    assert!(
        made("function transform() { return '\\ud800' }", "{}")
            .starts_with("failed: the script made text with half")
    );
    assert_eq!(made("function transform() { return ['\\ud800'] }", "{}"), r#"["\ud800"]"#);

    let binary = Event { body: vec![0xff, 0xfe].into(), payload: None, ..samples::event() };
    let error = script("function transform() {}").apply(&binary).unwrap_err();
    assert_eq!(error.fault.code(), "body");
    // What was triggered has a payload.
    let triggered = Event { body: "".into(), ..samples::event() };
    assert_eq!(
        changed("function transform(p) { return [p.amount] }", &triggered).body.as_text(),
        Some("[120]")
    );
}

#[test]
fn headers_method_path_and_query_can_be_changed() {
    let code = "addHandler('transform', (r) => {
        r.headers['X-New'] = 1; r.headers['x-a'] = ['p', 'q']; delete r.headers['x-b'];
        r.method = 'put'; r.path = '/new'; r.parsed_query.v = ['ä', '2']; return r })";
    let out = changed(code, &event(ORDER));
    assert_eq!(out.headers.iter().collect::<Vec<_>>(), [("x-a", "p, q"), ("X-New", "1")]);
    assert_eq!(out.method.as_deref(), Some("PUT"));
    assert_eq!(out.path.as_deref(), Some("/new"));
    assert_eq!(out.query.as_deref(), Some("v=%C3%A4&v=2"));
    let out = changed("function handler(w) { w.url = '/a/b?c=d'; return w }", &event(ORDER));
    assert_eq!((out.path.as_deref(), out.query.as_deref()), (Some("/a/b"), Some("c=d")));
    let out = changed("addHandler('transform', (r) => ({ ...r, query: '?x=1' }))", &event(ORDER));
    assert_eq!(out.query.as_deref(), Some("x=1"));
    assert_eq!(out.body, event(ORDER).body);
}

#[test]
fn reserved_headers_cannot_be_set() {
    for name in [
        "Host",
        "connection",
        "Content-Length",
        "Transfer-Encoding",
        "proxy-x",
        "X-Ferryhook-Event-Id",
        "webhook-signature",
        "user-agent",
        "Authorization",
        "cookie",
        "x-forwarded-for",
    ] {
        let code =
            format!("addHandler('transform', (r) => {{ r.headers['{name}'] = 'x'; return r }})");
        assert_eq!(run(&code, ORDER).unwrap_err().fault.code(), "header", "{name}");
    }
    for (name, value) in [("a b", "x"), ("", "x"), ("x", "a\\r\\nHost: b"), ("x", "\\0")] {
        let code = format!(
            "addHandler('transform', (r) => {{ r.headers['{name}'] = '{value}'; return r }})"
        );
        assert_eq!(run(&code, ORDER).unwrap_err().fault.code(), "header", "{name}");
    }
    // What the sender said of that kind stays with the event, where it was.
    let mut own = event(ORDER);
    own.headers = [("Host", "a"), ("Authorization", "b"), ("X", "1")].into_iter().collect();
    let out = changed("addHandler('transform', (r) => { r.headers.y = '2'; return r })", &own);
    assert_eq!(
        out.headers.iter().map(|(name, _)| name).collect::<Vec<_>>(),
        ["Host", "Authorization", "X", "y"]
    );
}

/// The same event always comes out the same, on every machine.
#[test]
fn runs_are_repeatable() {
    let code = "function transform() { return [Date.now(), new Date().toISOString(), Math.random(), Math.random(), uuid(), uuid(), crypto.randomUUID()] }";
    let first = made(code, "{}");
    assert_eq!(first, made(code, "{}"));
    assert!(first.starts_with(r#"[1767225600000,"2026-01-01T00:00:00.000Z",0."#), "{first}");
    let other = Event { id: "evt_-OhqqeV-00000002".parse().unwrap(), ..event("{}") };
    assert_ne!(changed(code, &other).body.as_text(), Some(first.as_str()));
    for (expression, expected) in [
        ("Date()", r#""Thu Jan 01 2026 00:00:00 GMT+0000 (UTC)""#),
        ("new Date(2026, 0, 31, 12).toISOString()", r#""2026-01-31T12:00:00.000Z""#),
        ("new Date('2026-01-31T12:00:00').getHours()", "12"),
        ("new Date('2026-01-31T12:00:00+02:00').getHours()", "10"),
        ("new Date('2026-01-31').getTimezoneOffset()", "0"),
        ("new Date(new Date(5)).getTime()", "5"),
        ("new Date(NaN).toString()", r#""Invalid Date""#),
        ("new Date(0).toLocaleString()", r#""1/1/1970, 12:00:00 AM""#),
        ("new Date('x').getTime()", "null"),
        ("new (new Date().constructor)().getTime()", "1767225600000"),
        ("new Date() instanceof Date", "true"),
        ("JSON.stringify(new Date(0))", r#""\"1970-01-01T00:00:00.000Z\"""#),
    ] {
        assert_eq!(value(expression), format!(r#"{{"v":{expected}}}"#), "{expression}");
    }
}

#[test]
fn helpers_are_there() {
    for (expression, expected) in [
        ("btoa('hi\\xff')", r#""aGn/""#),
        ("atob('aGn/') === 'hi\\xff'", "true"),
        ("atob(' aG k= ')", r#""hi""#),
        (
            "sha256Hex('abc')",
            r#""ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad""#,
        ),
        (
            "hmacSha256Hex('key', 'The quick brown fox jumps over the lazy dog')",
            r#""f7bc83f430538424b13298e6aa6fb143ef4d59a14946175997479dbc2d1a3cd8""#,
        ),
        ("new TextDecoder().decode(new TextEncoder().encode('aä€😀'))", r#""aä€😀""#),
        ("[...new TextEncoder().encode('ä€')]", "[195,164,226,130,172]"),
        (
            "new TextDecoder().decode(new Uint8Array([0xff, 97, 0xe2, 0x82]))",
            "\"\u{fffd}a\u{fffd}\"",
        ),
        (
            "(() => { const a = { b: [1, new Set([2])] }; const c = structuredClone(a); a.b[0] = 9; return [c.b[0], c.b[1].has(2)] })()",
            "[1,true]",
        ),
        ("new URLSearchParams('a=1&b=%20+x').get('b')", r#""  x""#),
        ("new URLSearchParams({ a: 'x y', b: '&' }).toString()", r#""a=x+y&b=%26""#),
        ("Object.groupBy([1, 2, 3], (n) => n % 2 ? 'odd' : 'even')", r#"{"odd":[1,3],"even":[2]}"#),
        ("/(?<y>\\d{4})/.exec('in 2026').groups.y", r#""2026""#),
        ("'a-b-c'.replaceAll('-', '+').replace(/b/g, (m) => m.toUpperCase())", r#""a+B+c""#),
        ("'a1b2'.split(/\\d/)", r#"["a","b",""]"#),
        ("[...'a1b2'.matchAll(/\\d/g)].map((m) => m[0])", r#"["1","2"]"#),
        ("'abc'.match('b').index", "1"),
        ("new RegExp('a+', 'g').flags + RegExp(/x/i).source", r#""gx""#),
        ("[3, 1, 10].sort()", "[1,10,3]"),
        ("[[1, [2]], 3].flat(Infinity)", "[1,2,3]"),
        ("[1].concat([2, 3], 4, { length: 2 })", r#"[1,2,3,4,{"length":2}]"#),
        ("['b', 'a'].reverse().join('-')", r#""a-b""#),
        ("String.raw`\\n${1}`", r#""\\n1""#),
        ("new Map([[1, 2]]).get(1)", "2"),
        ("[1, 2, 3].splice(1, 1)", "[2]"),
        ("[1, 2, 3].slice(-2) + 'abc'.slice(1)", r#""2,3bc""#),
        ("(function () { return Array.prototype.slice.call(arguments, 1) })(1, 2)", "[2]"),
        (
            "JSON.stringify({ a: 1, b: { a: 2, c: 3 } }, ['b', 'c'], 1)",
            r#""{\n \"b\": {\n  \"c\": 3\n }\n}""#,
        ),
        ("'İstanbul ß'.toUpperCase()", r#""İSTANBUL SS""#),
        ("'a'.localeCompare('b')", "-1"),
        ("'e\\u0301'.normalize('NFC')", r#""é""#),
        ("[NaN, 1].includes(NaN) && ['a', 'b', 'a'].lastIndexOf('a') === 2", "true"),
        ("(s => [1, s, 2, s].lastIndexOf(s, -2) + [s, s].indexOf(s, 1))('x'.repeat(9e5))", "2"),
        ("(s => [s].includes(s) && ![1, 2].includes(s))('x'.repeat(9e5))", "true"),
        ("Object.fromEntries(new Map([['a', 1], ['b', 2]]))", r#"{"a":1,"b":2}"#),
        ("[...new Set([1, 2]).union(new Set([3]))]", "[1,2,3]"),
        ("[...Uint8Array.of(3, 1, 2).sort().fill(9, 2)]", "[1,2,9]"),
        ("[1, 2, 3].values().drop(1).toArray()", "[2,3]"),
        ("' a '.trim() + 'ab'.startsWith('b', 1)", r#""atrue""#),
    ] {
        assert_eq!(value(expression), format!(r#"{{"v":{expected}}}"#), "{expression}");
    }
}

#[test]
fn nothing_leads_outside() {
    let names = [
        "require",
        "process",
        "fetch",
        "std",
        "os",
        "load",
        "print",
        "eval",
        "Deno",
        "Bun",
        "WebAssembly",
        "XMLHttpRequest",
        "setTimeout",
        "performance",
        "gc",
        "BigInt",
        "Proxy",
        "WeakRef",
        "SharedArrayBuffer",
        "Atomics",
        "scriptArgs",
        "navigator",
    ];
    for name in names {
        let code = format!(
            "function transform() {{ return [typeof {name} === 'undefined'] }} // ArrayBuffer"
        );
        let expected = if name == "eval" { "[false]" } else { "[true]" };
        assert_eq!(made(&code, "{}"), expected, "{name}");
    }
    for code in [
        "eval('1')",
        "new Function('return 1')()",
        "(function(){}).constructor('return this')()",
        "(async function(){}).constructor('1')",
        "(function*(){}).constructor('1')",
    ] {
        let failed = made(&format!("function transform() {{ return [{code}] }}"), "{}");
        assert!(failed.contains("eval is not supported"), "{code}: {failed}");
    }
}

/// Whatever one run leaves behind, the next one does not find it.
#[test]
fn runs_share_nothing() {
    let code = "function transform(p) {
        const seen = [globalThis.left ?? 0, Object.prototype.left ?? 0, [].left ?? 0, JSON.left ?? 0];
        globalThis.left = 1; Object.prototype.left = 1; Array.prototype.left = 1; JSON.left = 1;
        return { seen } }";
    let transform = script(code);
    for _ in 0..3 {
        let Outcome::Changed(out) = transform.apply(&event("{}")).unwrap().outcome else {
            panic!()
        };
        assert_eq!(out.body.as_text(), Some(r#"{"seen":[0,0,0,0]}"#));
    }
}

#[test]
fn the_console_is_kept_within_bounds() {
    let shaped = run("function transform(p) { console.log('a', 1, { b: [2] }, null, undefined, () => 1); console.error(new Error('x')); return p }", "{}").unwrap();
    assert_eq!(shaped.console, [r#"a 1 {"b":[2]} null undefined [function]"#, "Error: x"]);
    let failed =
        run("function transform(p) { console.warn('before'); throw 1 }", "{}").unwrap_err();
    assert_eq!(failed.console, ["before"]);
    for code in [
        "for (let i = 0; i < 5000; i++) console.log('line ' + i)",
        "for (let i = 0; i < 50; i++) console.log('x'.repeat(100000))",
    ] {
        let shaped = run(&format!("function transform(p) {{ {code}; return p }}"), "{}").unwrap();
        assert!(shaped.console.len() <= limits::CONSOLE_LINES_MAX + 1);
        let bytes: usize = shaped.console.iter().map(String::len).sum();
        assert!(bytes <= limits::CONSOLE_BYTES_MAX + 64, "{bytes}");
        assert_eq!(shaped.console.last().unwrap(), "… the rest was not kept");
    }
}

#[test]
fn large_bodies_have_room() {
    let items = vec![json!({"sku": "abc", "qty": 1, "tags": ["a", "b"]}); 20_000];
    let body = json!({"items": items}).to_string();
    assert!(body.len() > 700_000);
    assert_eq!(
        made("function transform(p) { return [p.items.filter((i) => i.qty > 0).length] }", &body),
        "[20000]"
    );
}

/// It is run from the beginning, as if nothing had been before.
#[test]
fn a_run_that_is_cut_short_can_be_made_again() {
    let slow = script(
        "let times = 0; function transform(p) { for (let i = 0; i < 1e6; i++); return ++times }",
    );
    let most = std::time::Duration::from_millis(1);
    let cut = slow.apply_within(&event("{}"), most).unwrap_err();
    assert_eq!(cut.fault, Fault::Time(most));
    match slow.apply(&event("{}")).unwrap().outcome {
        Outcome::Changed(event) => assert_eq!(event.body.as_text(), Some("1")),
        other => panic!("{other:?}"),
    }
}
