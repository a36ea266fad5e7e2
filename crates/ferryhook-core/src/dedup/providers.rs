//! What each provider calls an event, what type it says it is, and how it sends several at once.
//!
//! A row has an id only where the provider promises one that is the same for every copy of an
//! event and for nothing else. Many send ids that are neither (a payment's id comes with each of
//! its changes), and a hash of the body fails where two events say the same: both would lose
//! events. Such a row leaves the id to the source's own expression.

use Batch::{At, Body, No};

use serde_json::Value;

use super::{Arriving, BadRule, EVENT_TYPE_SETTING, Rule};
use crate::Source;

struct Provider {
    name: &'static str,
    /// Both are expressions; empty where there is nothing to go by.
    id: &'static str,
    event_type: &'static str,
    batch: Batch,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Batch {
    No,
    /// The body is a list of events and nothing else.
    Body,
    /// A list inside of an envelope, whose other fields would be lost: split only when asked to.
    At(&'static str),
}

const fn row(
    name: &'static str,
    id: &'static str,
    event_type: &'static str,
    batch: Batch,
) -> Provider {
    Provider { name, id, event_type, batch }
}

/// The documented form is type, object, subscription and, where there is one, the time. Classic
/// subscriptions have no object type; associations and merges name their object differently. Two
/// portals may use one source, and two properties may change in the same millisecond: each is
/// told apart behind a mark of its own.
const HUBSPOT: &str = "[{body.objectTypeId}:]\
    {body.objectId|body.fromObjectId|body.primaryObjectId}:{body.subscriptionType}\
    [:{body.occurredAt}][@{body.portalId}][#{body.propertyName}][>{body.toObjectId}]";

const ADYEN: &str = "{body.NotificationRequestItem.pspReference}\
    :{body.NotificationRequestItem.eventCode}:{body.NotificationRequestItem.success}";

/// By name; found by binary search.
static PROVIDERS: [Provider; 107] = [
    row("adyen", ADYEN, "body.NotificationRequestItem.eventCode", At("notificationItems")),
    row("adyen-platform", "", "body.type", No),
    row("airwallex", "body.id", "body.name", No),
    row("alchemy", "body.id", "body.type", No),
    // The communication's id, as the ledger was first specified. Where one call raises several
    // events, a source says `{body.event}:{body.body.id}` instead.
    row("aloware", "body.body.id|body.id", "body.event", No),
    row("anthropic", "headers.webhook-id", "body.data.type|body.type", No),
    row("asana", "", "{body.resource.resource_type}.{body.action}", At("events")),
    row("auth0", "body.log_id", "body.data.type", Body),
    row("aws-sns", "headers.x-amz-sns-message-id|body.MessageId", "body.Type", No),
    row("azure-event-grid", "body.id", "body.eventType|body.type", Body),
    row("bigcommerce", "headers.webhook-id|body.hash", "body.scope", No),
    row("bitbucket", "headers.x-request-uuid", "headers.x-event-key", No),
    row("box", "headers.box-delivery-id", "body.trigger", No),
    row(
        "calcom",
        "{body.triggerEvent}:{body.payload.uid}:{body.createdAt}",
        "body.triggerEvent",
        No,
    ),
    row("calendly", "", "body.event", No),
    row("cashfree", "", "body.type", No),
    row("chargebee", "body.id", "body.event_type", No),
    row("circle", "body.notificationId", "body.notificationType", No),
    row("clerk", "headers.svix-id", "body.type", No),
    row(
        "cloudevents",
        "{headers.ce-source|body.source}:{headers.ce-id|body.id}",
        "headers.ce-type|body.type",
        No,
    ),
    row("cloudinary", "", "body.notification_type", No),
    row("coinbase-commerce", "body.event.id", "body.event.type", No),
    row("contentful", "headers.x-contentful-idempotency-key", "headers.x-contentful-topic", No),
    row("courier", "", "body.type", No),
    row("customerio", "body.event_id", "{body.object_type}.{body.metric}", No),
    row("discord", "body.id", "body.event.type|body.type", No),
    row(
        "docusign",
        "{body.data.envelopeId}:{body.event}:{body.generatedDateTime}[:{body.data.recipientId}]",
        "body.event",
        No,
    ),
    row("ebay", "body.notification.notificationId", "body.metadata.topic", No),
    row("elevenlabs", "{body.type}:{body.data.conversation_id}", "body.type", No),
    row("finch", "headers.finch-event-id", "body.event_type", No),
    row("front", "body.payload.id", "body.type", No),
    row("fusionauth", "body.event.id", "body.event.type", No),
    row("github", "headers.x-github-delivery", "headers.x-github-event", No),
    row("gitlab", "headers.idempotency-key|headers.webhook-id", "headers.x-gitlab-event", No),
    row(
        "gocardless",
        "body.meta.webhook_id|body.id",
        "{body.resource_type}.{body.action}",
        At("events"),
    ),
    row("hubspot", HUBSPOT, "body.subscriptionType", Body),
    row("intercom", "body.id", "body.topic", No),
    row("jira", "headers.x-atlassian-webhook-identifier", "body.webhookEvent", No),
    row("klaviyo", "body.external_id", "body.topic", At("data")),
    row("knock", "body.id", "body.type", No),
    row("lemonsqueezy", "", "headers.x-event-name|body.meta.event_name", No),
    row("line", "body.webhookEventId", "body.type", At("events")),
    row("linear", "headers.linear-delivery", "{body.type}[.{body.action}]", No),
    row("linkedin", "body.notificationId", "body.type", No),
    row("lithic", "headers.webhook-id", "body.event_type", No),
    row("livekit", "body.id", "body.event", No),
    row("mailchimp", "", "body.type", No),
    row("mailgun", "body.event-data.id", "body.event-data.event", No),
    row("meta", "", "body.object", At("entry")),
    row("microsoft-graph", "body.id", "body.changeType", At("value")),
    row("modern-treasury", "headers.x-webhook-id", "{headers.x-topic}[.{body.event}]", No),
    // The classic form sends a payment's id with each of its changes, and no type.
    row("mollie", "{body.type}:{body.id}", "body.type", No),
    row("monday", "body.event.triggerUuid", "body.event.type", No),
    row("mux", "body.id", "body.type", No),
    row("notion", "body.id", "body.type", No),
    row("nylas", "body.id", "body.type", No),
    row("okta", "body.uuid|body.eventId", "body.eventType", At("data.events")),
    row("openai", "headers.webhook-id|body.id", "body.type", No),
    row("orb", "body.id", "body.type", No),
    row("paddle", "body.event_id", "body.event_type", No),
    row("pagerduty", "body.event.id", "body.event.event_type", No),
    row("paypal", "body.id", "body.event_type", No),
    row("paystack", "", "body.event", No),
    row("persona", "body.data.id", "body.data.attributes.name", No),
    // In the first version the id is that of the object; only the second has an entity id.
    row(
        "pipedrive",
        "{body.meta.entity_id}:{body.meta.id}",
        "{body.meta.action}.{body.meta.entity|body.meta.object}",
        No,
    ),
    row("plaid", "", "{body.webhook_type}.{body.webhook_code}", No),
    row("plivo", "", "body.Event", No),
    row("polar", "headers.webhook-id", "body.type", No),
    row("postmark", "", "body.RecordType", No),
    row("pusher", "", "body.name", At("events")),
    row("qstash", "headers.upstash-message-id", "", No),
    row("quickbooks", "body.id", "body.type", Body),
    row("razorpay", "headers.x-razorpay-event-id", "body.event", No),
    row(
        "recurly",
        "{body.id}:{body.event_type}:{body.event_time}",
        "{body.object_type}.{body.event_type}",
        No,
    ),
    row("replicate", "headers.webhook-id", "body.status", No),
    row("resend", "headers.svix-id", "body.type", No),
    row("retell", "", "body.event", No),
    row("revolut", "", "body.event", No),
    row("ringcentral", "body.uuid", "body.event", No),
    row("sanity", "headers.idempotency-key", "", No),
    row("sendbird", "", "body.category", No),
    row("sendgrid", "body.sg_event_id", "body.event", Body),
    row("sentry", "headers.request-id", "{headers.sentry-hook-resource}[.{body.action}]", No),
    // The event's id is shared by all subscriptions to a topic; this one is the delivery's.
    row("shopify", "headers.x-shopify-webhook-id", "headers.x-shopify-topic", No),
    row("slack", "body.event_id", "body.event.type|body.type", No),
    row("smartcar", "body.eventId", "body.eventType", No),
    row("square", "body.event_id", "body.type", No),
    row("standard-webhooks", "headers.webhook-id", "body.type", No),
    row(
        "strava",
        "{body.object_type}:{body.object_id}:{body.aspect_type}:{body.event_time}",
        "{body.object_type}.{body.aspect_type}",
        No,
    ),
    row("stream", "headers.x-webhook-id", "body.type", No),
    row("stripe", "body.id", "body.type", No),
    row("svix", "headers.svix-id|headers.webhook-id", "body.type", No),
    row("tally", "body.eventId", "body.eventType", No),
    row("telegram", "body.update_id", "", No),
    row("telnyx", "body.data.id", "body.data.event_type", No),
    row("tiktok-shop", "body.tts_notification_id", "body.type", No),
    row("trello", "body.action.id", "body.action.type", No),
    row(
        "twilio",
        "headers.i-twilio-idempotency-token",
        "body.MessageStatus|body.SmsStatus|body.CallStatus",
        No,
    ),
    row("twitch", "headers.twitch-eventsub-message-id", "body.subscription.type", No),
    row("typeform", "body.event_id", "body.event_type", No),
    row("vercel", "body.id", "body.type", No),
    row("webflow", "", "body.triggerType", No),
    // Its delivery id is made of the current second, so two deliveries can share it.
    row("woocommerce", "", "headers.x-wc-webhook-topic", No),
    row("workos", "body.id", "body.event", No),
    row(
        "xero",
        "{body.resourceId}:{body.eventCategory}:{body.eventType}:{body.eventDateUtc}",
        "{body.eventCategory}.{body.eventType}",
        At("events"),
    ),
    row("zendesk", "body.id", "body.type", No),
    row("zoom", "", "body.event", No),
];

fn find(name: &str) -> Option<&'static Provider> {
    let name = name.to_ascii_lowercase();
    let at = PROVIDERS.binary_search_by(|provider| provider.name.cmp(&name)).ok()?;
    PROVIDERS.get(at)
}

impl Rule {
    /// How events of this provider are told apart, where it gives them something to go by.
    pub fn of_provider(name: &str) -> Option<Self> {
        preset(find(name)?.id)
    }
}

/// Where this provider says what type an event is. For whoever asks for more than one event.
pub fn event_type_rule(provider: &str) -> Option<Rule> {
    preset(find(provider)?.event_type)
}

/// The same for a source, whose own word (`eventType` among its settings) counts before that of
/// its provider.
pub fn event_type_rule_of(source: &Source) -> Result<Option<Rule>, BadRule> {
    match source.config.get(EVENT_TYPE_SETTING).and_then(Value::as_str) {
        Some(expression) => Rule::parse(expression).map(Some),
        None => Ok(event_type_rule(&source.provider)),
    }
}

pub fn event_type_of(provider: &str, arriving: &Arriving<'_>) -> Option<String> {
    event_type_rule(provider)?.text(arriving)
}

pub(crate) fn batch_of(provider: &str) -> Batch {
    find(provider).map_or(No, |provider| provider.batch)
}

/// Every preset is understood; a test reads them all.
fn preset(expression: &str) -> Option<Rule> {
    Rule::parse(expression).ok()
}

#[cfg(test)]
mod tests;
