//! A Stripe for tests. It keeps customers and subscriptions, remembers idempotency keys as the real
//! one does, refuses what the real one would refuse, and writes down every request.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::Duration;

use serde_json::{Value, json};

pub const KEY: &str = "sk_test_ferry";
/// Named in the version that the official library of the tests pins, 23.1.0.
const VERSION: &str = "2026-10-28.endive";
const CREATED: i64 = 1_767_225_600;
const PERIOD_END: i64 = 1_769_904_000;
/// However slow the machine, by then the other one is there.
const PATIENCE: Duration = Duration::from_secs(30);

pub struct Recorder {
    pub url: String,
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    turned_away: Condvar,
}

#[derive(Default)]
struct State {
    requests: Vec<Request>,
    complaints: Vec<String>,
    customers: Vec<Value>,
    sessions: Vec<BTreeMap<String, String>>,
    subscriptions: Vec<Value>,
    /// By key: the form it came with, and the answer once there is one.
    keys: BTreeMap<String, (Fields, Option<(u16, Value)>)>,
    /// Whoever makes a customer waits until somebody else was turned away with the same key.
    holds_customers: bool,
    turned_away: usize,
    /// The next so many calls fail.
    failures: u32,
}

pub type Fields = BTreeMap<String, String>;

/// One call, as far as it matters.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    pub method: String,
    pub path: String,
    pub query: Fields,
    pub form: Fields,
    pub authorization: String,
    pub version: String,
    pub content_type: String,
    pub has_key: bool,
}

impl Recorder {
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let shared = Arc::new(Shared::default());
        let for_all = shared.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let shared = for_all.clone();
                std::thread::spawn(move || answer(stream, &shared));
            }
        });
        Self { url, shared }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.shared.state.lock().unwrap()
    }

    /// What it was asked since this was last called.
    pub fn requests(&self) -> Vec<Request> {
        std::mem::take(&mut self.state().requests)
    }

    /// What the real one would not have taken.
    pub fn complaints(&self) -> Vec<String> {
        self.state().complaints.clone()
    }

    pub fn customers(&self) -> Vec<Value> {
        self.state().customers.clone()
    }

    pub fn sessions(&self) -> Vec<Fields> {
        self.state().sessions.clone()
    }

    pub fn hold_customers(&self) {
        self.state().holds_customers = true;
    }

    pub fn fail_next(&self, calls: u32) {
        self.state().failures = calls;
    }

    /// Somebody has paid: as Stripe has it from now on.
    pub fn subscribe(&self, customer: &str, price: &str) -> Value {
        let mut state = self.state();
        let place = state.subscriptions.len();
        let subscription = json!({
            "id": format!("sub_{place}"),
            "object": "subscription",
            "customer": customer,
            "status": "active",
            "cancel_at_period_end": false,
            "cancel_at": null,
            "created": CREATED + i64::try_from(place).unwrap(),
            "items": { "object": "list", "has_more": false, "data": [{
                "id": format!("si_{place}"),
                "object": "subscription_item",
                "current_period_end": PERIOD_END,
                "price": { "id": price, "object": "price" },
            }] },
            // As large as the real ones are.
            "metadata": { "padding": "x".repeat(6_000) },
        });
        state.subscriptions.push(subscription.clone());
        subscription
    }

    /// The subscription as it is afterwards.
    pub fn change(&self, id: &str, change: impl FnOnce(&mut Value)) -> Value {
        let mut state = self.state();
        let subscription = state.subscriptions.iter_mut().find(|one| one["id"] == id).unwrap();
        change(subscription);
        subscription.clone()
    }

    pub fn set_status(&self, id: &str, status: &str) -> Value {
        self.change(id, |subscription| subscription["status"] = status.into())
    }

    pub fn set_price(&self, id: &str, price: &str) -> Value {
        self.change(id, |one| one["items"]["data"][0]["price"]["id"] = price.into())
    }
}

fn answer(mut stream: TcpStream, shared: &Shared) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).unwrap_or(0) == 0 || line == "\r\n" {
            break;
        }
        lines.push(line.trim_end().to_owned());
    }
    let Some(first) = lines.first().cloned() else { return };
    let header = |name: &str| {
        let found = lines.iter().skip(1).filter_map(|line| line.split_once(':'));
        let mut found = found.filter(|(key, _)| key.eq_ignore_ascii_case(name));
        found.next().map(|(_, value)| value.trim().to_owned()).unwrap_or_default()
    };
    let mut body = vec![0; header("content-length").parse().unwrap_or(0)];
    reader.read_exact(&mut body).unwrap();
    let mut words = first.split(' ');
    let (method, target) = (words.next().unwrap(), words.next().unwrap());
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let request = Request {
        method: method.to_owned(),
        path: path.to_owned(),
        query: fields(query),
        form: fields(&String::from_utf8(body).unwrap()),
        authorization: header("authorization"),
        version: header("stripe-version"),
        content_type: header("content-type"),
        has_key: !header("idempotency-key").is_empty(),
    };
    let (status, answer) = shared.take(&request, &header("idempotency-key"));
    let answer = answer.to_string();
    let head = format!(
        "HTTP/1.1 {status} Said\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\
         connection: close\r\n\r\n",
        answer.len()
    );
    let _ = stream.write_all(format!("{head}{answer}").as_bytes());
}

fn fields(text: &str) -> Fields {
    url::form_urlencoded::parse(text.as_bytes()).into_owned().collect()
}

impl Shared {
    fn take(&self, request: &Request, key: &str) -> (u16, Value) {
        let mut state = self.state.lock().unwrap();
        state.requests.push(request.clone());
        if request.authorization != format!("Bearer {KEY}") {
            return (401, error("Invalid API Key provided"));
        }
        let mut complain = |what: &str| {
            let said = format!("{} {}: {what}", request.method, request.path);
            state.complaints.push(said);
        };
        if request.version != VERSION {
            complain("another version");
        }
        if request.method == "POST" && key.is_empty() {
            complain("no Idempotency-Key");
        }
        if request.content_type != "application/x-www-form-urlencoded" {
            complain("not a form");
        }
        if state.failures > 0 {
            state.failures -= 1;
            return (500, error("An unknown error occurred"));
        }
        if key.is_empty() {
            return state.act(request);
        }
        match state.keys.get(key) {
            Some((form, _)) if *form != request.form => {
                state.complaints.push(format!("{}: the key has another form", request.path));
                return (
                    400,
                    error(
                        "Keys for idempotent requests can only be used with the same parameters they were first used with.",
                    ),
                );
            }
            Some((_, Some(answer))) => return answer.clone(),
            Some((_, None)) => {
                state.turned_away += 1;
                self.turned_away.notify_all();
                return (
                    409,
                    error(
                        "There is currently another in-progress request using this Idempotent Key",
                    ),
                );
            }
            None => {}
        }
        state.keys.insert(key.to_owned(), (request.form.clone(), None));
        if request.path == "/v1/customers" && state.holds_customers {
            let is_alone = |state: &mut State| state.turned_away == 0;
            let waited = self.turned_away.wait_timeout_while(state, PATIENCE, is_alone).unwrap();
            state = waited.0;
        }
        let answer = state.act(request);
        state.keys.insert(key.to_owned(), (request.form.clone(), Some(answer.clone())));
        answer
    }
}

impl State {
    fn act(&mut self, request: &Request) -> (u16, Value) {
        let form = &request.form;
        match (&*request.method, &*request.path) {
            ("POST", "/v1/customers") => {
                let allowed = ["email", "name", "metadata[account_id]", "metadata[user_id]"];
                if let Some(unknown) = unknown(form, &allowed) {
                    return self.refuse(&format!("Received unknown parameter: {unknown}"));
                }
                let id = format!("cus_{}", self.customers.len());
                let customer =
                    json!({ "id": id, "object": "customer", "email": form.get("email") });
                self.customers.push(customer.clone());
                (200, customer)
            }
            ("POST", "/v1/checkout/sessions") => self.check_out(form),
            ("POST", "/v1/billing_portal/sessions") => {
                if let Some(unknown) = unknown(form, &["customer", "return_url"]) {
                    return self.refuse(&format!("Received unknown parameter: {unknown}"));
                }
                if !self.knows(form.get("customer")) {
                    return self.refuse("No such customer");
                }
                (200, json!({ "id": "bps_1", "url": "https://billing.stripe.com/p/session/bps_1" }))
            }
            ("GET", "/v1/subscriptions") => {
                let asked = |name: &str| request.query.get(name).map(String::as_str);
                if asked("status") != Some("all") {
                    return self.refuse("the tests want all of them");
                }
                let limit: usize = asked("limit").map_or(10, |limit| limit.parse().unwrap());
                let mine = self.subscriptions.iter().rev();
                let mine = mine.filter(|one| one["customer"].as_str() == asked("customer"));
                let after = asked("starting_after");
                let mut rest: Vec<_> = match after {
                    Some(id) => mine.skip_while(|one| one["id"] != id).skip(1).collect(),
                    None => mine.collect(),
                };
                let has_more = rest.len() > limit;
                rest.truncate(limit);
                (200, json!({ "object": "list", "has_more": has_more, "data": rest }))
            }
            _ => (404, error("Unrecognized request URL")),
        }
    }

    fn check_out(&mut self, form: &Fields) -> (u16, Value) {
        let allowed = [
            "mode",
            "line_items[0][price]",
            "line_items[0][quantity]",
            "customer",
            "client_reference_id",
            "success_url",
            "cancel_url",
            "subscription_data[metadata][account_id]",
            "allow_promotion_codes",
        ];
        if let Some(unknown) = unknown(form, &allowed) {
            return self.refuse(&format!("Received unknown parameter: {unknown}"));
        }
        if !self.knows(form.get("customer")) {
            return self.refuse("No such customer");
        }
        let price = form.get("line_items[0][price]").map(String::as_str);
        if !matches!(price, Some("price_pro" | "price_team")) {
            return self.refuse("No such price");
        }
        let place = self.sessions.len();
        self.sessions.push(form.clone());
        let url = format!("https://checkout.stripe.com/c/pay/cs_{place}");
        (200, json!({ "id": format!("cs_{place}"), "object": "checkout.session", "url": url }))
    }

    fn knows(&self, customer: Option<&String>) -> bool {
        self.customers.iter().any(|one| one["id"].as_str() == customer.map(String::as_str))
    }

    fn refuse(&mut self, message: &str) -> (u16, Value) {
        self.complaints.push(message.to_owned());
        (400, error(message))
    }
}

fn unknown<'f>(form: &'f Fields, allowed: &[&str]) -> Option<&'f String> {
    form.keys().find(|name| !allowed.contains(&name.as_str()))
}

fn error(message: &str) -> Value {
    json!({ "error": { "type": "invalid_request_error", "message": message } })
}
