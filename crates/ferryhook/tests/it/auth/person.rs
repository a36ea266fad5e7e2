//! A person with a browser: it keeps cookies for each host, and the access token.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::{Value, json};

use crate::ferry::Ferry;

pub const EMAIL: &str = "ada@example.com";
pub const PASSWORD: &str = "correct horse 7";

/// However slow the machine, by then there is an answer.
const PATIENCE: Duration = Duration::from_secs(60);

#[derive(Debug, Clone, Default)]
pub struct Person {
    /// `host:port` of the server they talk to.
    pub home: String,
    /// By host, then by name.
    pub cookies: BTreeMap<String, BTreeMap<String, String>>,
    pub access: Option<String>,
}

#[derive(Debug, Clone)]
pub struct Said {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub text: String,
}

impl Said {
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut found = self.headers.iter().filter(|(key, _)| key.eq_ignore_ascii_case(name));
        found.next().map(|(_, value)| value.as_str())
    }

    #[track_caller]
    pub fn expect(self, status: u16) -> Value {
        assert_eq!(self.status, status, "{}", self.text);
        serde_json::from_str(&self.text).unwrap_or(Value::String(self.text))
    }

    #[track_caller]
    pub fn location(&self) -> &str {
        assert!((300..400).contains(&self.status), "{} {}", self.status, self.text);
        self.header("location").unwrap()
    }
}

impl Person {
    pub fn at(ferry: &Ferry) -> Self {
        Self { home: ferry.address.clone(), ..Self::default() }
    }

    pub fn sign_up(&mut self, email: &str) -> Said {
        let body = json!({ "email": email, "password": PASSWORD, "name": "Ada" });
        self.post("/v1/auth/signup", &body)
    }

    pub fn log_in(&mut self, password: &str) -> Said {
        self.post("/v1/auth/login", &json!({ "email": EMAIL, "password": password }))
    }

    pub fn get(&mut self, path: &str) -> Said {
        self.call("GET", path, None)
    }

    pub fn post(&mut self, path: &str, body: &Value) -> Said {
        self.call("POST", path, Some(body))
    }

    pub fn delete(&mut self, path: &str) -> Said {
        self.call("DELETE", path, None)
    }

    /// To the server, with the access token.
    pub fn call(&mut self, method: &str, path: &str, body: Option<&Value>) -> Said {
        let access = self.access.as_ref().map(|token| format!("authorization: Bearer {token}\r\n"));
        let body = body.map(|body| ("application/json", body.to_string()));
        let home = self.home.clone();
        let said = self.send(&home, method, path, &access.unwrap_or_default(), body);
        let token = serde_json::from_str::<Value>(&said.text).ok();
        let token = token.and_then(|body| Some(body.get("accessToken")?.as_str()?.to_owned()));
        self.access = token.or_else(|| self.access.take());
        said
    }

    /// What a browser does when the address is typed or a form is sent.
    pub fn visit(&mut self, url: &str, form: Option<&[(&str, &str)]>) -> Said {
        let rest = url.strip_prefix("http://").unwrap_or_else(|| panic!("{url}"));
        let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
        let form = form.map(|fields| {
            let pairs: Vec<_> = fields.iter().map(|(k, v)| format!("{k}={}", escape(v))).collect();
            ("application/x-www-form-urlencoded", pairs.join("&"))
        });
        let method = if form.is_some() { "POST" } else { "GET" };
        self.send(host, method, &format!("/{path}"), "", form)
    }

    fn send(
        &mut self,
        host: &str,
        method: &str,
        path: &str,
        headers: &str,
        body: Option<(&str, String)>,
    ) -> Said {
        let mut head = format!("{method} {path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n");
        head += headers;
        let jar = self.cookies.entry(host.to_owned()).or_default();
        if !jar.is_empty() {
            let pairs: Vec<_> = jar.iter().map(|(name, value)| format!("{name}={value}")).collect();
            head += &format!("cookie: {}\r\n", pairs.join("; "));
        }
        let (kind, body) = body.unwrap_or_default();
        if !kind.is_empty() {
            head += &format!("content-type: {kind}\r\n");
        }
        let length = body.len();
        let mut stream = TcpStream::connect(host).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        write!(stream, "{head}content-length: {length}\r\n\r\n{body}").unwrap();
        let mut text = Vec::new();
        stream.read_to_end(&mut text).unwrap();
        let said = parse(&String::from_utf8_lossy(&text));
        for (_, cookie) in said.headers.iter().filter(|(name, _)| name == "set-cookie") {
            let (pair, rest) = cookie.split_once(';').unwrap_or((cookie, ""));
            let (name, value) = pair.split_once('=').unwrap();
            match value.is_empty() || rest.contains("Max-Age=0") {
                true => drop(jar.remove(name)),
                false => drop(jar.insert(name.to_owned(), value.to_owned())),
            }
        }
        said
    }
}

fn parse(answer: &str) -> Said {
    let (head, body) = answer.split_once("\r\n\r\n").expect("a whole answer");
    let mut lines = head.lines();
    let status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
    let headers = lines.filter_map(|line| line.split_once(':'));
    let headers: Vec<_> =
        headers.map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned())).collect();
    Said { status, headers, text: body.to_owned() }
}

fn escape(text: &str) -> String {
    let escape = |byte: u8| match byte {
        b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
            char::from(byte).to_string()
        }
        _ => format!("%{byte:02X}"),
    };
    text.bytes().map(escape).collect()
}
