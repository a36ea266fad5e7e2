//! The samples, one row each. A new one is a row here and a file in `samples/`.

use super::sample::{Body, Sample};

/// A body that is JSON, in its file.
macro_rules! json {
    ($file:literal) => {
        Body::Json(include_str!(concat!("../../../samples/", $file, ".json")))
    };
}

/// A form, with a field on each line of its file.
macro_rules! form {
    ($file:literal) => {
        Body::Form(include_str!(concat!("../../../samples/", $file, ".form")))
    };
}

#[rustfmt::skip]
pub const ALL: &[Sample] = &[
    row("github", "push", "Somebody pushed a commit", GITHUB_PUSH, json!("github.push")),
    row("github", "pull_request", "A pull request was opened", GITHUB_PULL_REQUEST, json!("github.pull_request")),
    row("github", "issues", "An issue was opened", GITHUB_ISSUES, json!("github.issues")),
    row("github", "ping", "The hook was made", GITHUB_PING, json!("github.ping")),
    row("gitlab", "push", "Somebody pushed a commit", &[("x-gitlab-event", "Push Hook"), ("x-gitlab-event-uuid", "{{uuid}}"), ("webhook-id", "{{uuid}}")], json!("gitlab.push")),
    row("gitlab", "merge_request", "A merge request was opened", &[("x-gitlab-event", "Merge Request Hook"), ("x-gitlab-event-uuid", "{{uuid}}"), ("webhook-id", "{{uuid}}")], json!("gitlab.merge_request")),
    row("stripe", "invoice.paid", "An invoice was paid", &[], json!("stripe.invoice.paid")),
    row("stripe", "payment_intent.succeeded", "A payment went through", &[], json!("stripe.payment_intent.succeeded")),
    row("stripe", "customer.subscription.created", "Somebody subscribed", &[], json!("stripe.customer.subscription.created")),
    row("stripe", "charge.refunded", "A charge was refunded", &[], json!("stripe.charge.refunded")),
    row("shopify", "orders/create", "An order was placed", &[("x-shopify-topic", "orders/create"), ("x-shopify-shop-domain", "harbour.myshopify.com"), ("x-shopify-webhook-id", "{{uuid}}")], json!("shopify.orders-create")),
    row("shopify", "orders/paid", "An order was paid", &[("x-shopify-topic", "orders/paid"), ("x-shopify-shop-domain", "harbour.myshopify.com"), ("x-shopify-webhook-id", "{{uuid}}")], json!("shopify.orders-paid")),
    row("shopify", "app/uninstalled", "A shop removed the app", &[("x-shopify-topic", "app/uninstalled"), ("x-shopify-shop-domain", "harbour.myshopify.com"), ("x-shopify-webhook-id", "{{uuid}}")], json!("shopify.app-uninstalled")),
    row("slack", "message", "Somebody wrote in a channel", &[], json!("slack.message")),
    row("slack", "app_mention", "Somebody mentioned the app", &[], json!("slack.app_mention")),
    row("slack", "slash-command", "Somebody typed a command (a form)", &[], form!("slack.slash-command")),
    row("twilio", "sms", "A text message came in (a form)", &[("i-twilio-idempotency-token", "{{uuid}}")], form!("twilio.sms")),
    row("twilio", "message-status", "A message was delivered (a form)", &[("i-twilio-idempotency-token", "{{uuid}}")], form!("twilio.message-status")),
    row("linear", "issue", "An issue was made", &[("linear-delivery", "{{uuid}}"), ("linear-event", "Issue")], json!("linear.issue")),
    row("paddle", "transaction.completed", "A purchase was paid", &[], json!("paddle.transaction.completed")),
    row("typeform", "form_response", "Somebody filled in a form", &[], json!("typeform.form_response")),
    row("standard-webhooks", "user.created", "A user was made", &[("webhook-id", "msg_{{hex24}}")], json!("standard-webhooks.user.created")),
    row("custom", "order.created", "An order of no provider's", &[], json!("custom.order.created")),
];

const GITHUB_PUSH: &[(&str, &str)] = &[
    ("user-agent", "GitHub-Hookshot/ferryhook"),
    ("x-github-event", "push"),
    ("x-github-delivery", "{{uuid}}"),
];
const GITHUB_PULL_REQUEST: &[(&str, &str)] = &[
    ("user-agent", "GitHub-Hookshot/ferryhook"),
    ("x-github-event", "pull_request"),
    ("x-github-delivery", "{{uuid}}"),
];
const GITHUB_ISSUES: &[(&str, &str)] = &[
    ("user-agent", "GitHub-Hookshot/ferryhook"),
    ("x-github-event", "issues"),
    ("x-github-delivery", "{{uuid}}"),
];
const GITHUB_PING: &[(&str, &str)] = &[
    ("user-agent", "GitHub-Hookshot/ferryhook"),
    ("x-github-event", "ping"),
    ("x-github-delivery", "{{uuid}}"),
];

const fn row(
    provider: &'static str,
    event: &'static str,
    about: &'static str,
    headers: &'static [(&'static str, &'static str)],
    body: Body,
) -> Sample {
    Sample { provider, event, about, headers, body }
}

#[cfg(test)]
mod tests;
