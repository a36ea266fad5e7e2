//! How plans are paid for: the account at Stripe, and where people come back to from there.

use ferryhook_api::billing::{Settings, stripe};
use ferryhook_core::Secret;

use super::PublicUrl;
use super::values::{ConfigError, Values};

const API_KEY: &str = "billing.stripe.apiKey";
const WEBHOOK_SECRET: &str = "billing.stripe.webhookSecret";
const RETURN_URLS: &str = "billing.returnUrls";

/// A key without the secret would sell plans that nobody ever gets.
pub(super) fn parse(values: &Values) -> Result<Settings, ConfigError> {
    let base_url: PublicUrl =
        values.parse("billing.stripe.baseUrl", "a URL such as https://api.stripe.com")?;
    let stripe = match values.get(API_KEY) {
        None if values.get(WEBHOOK_SECRET).is_some() => {
            let expected = "the key that billing.stripe.webhookSecret belongs to";
            return Err(ConfigError::Missing { key: API_KEY, expected });
        }
        None => None,
        Some(key) => {
            let is_plain = !key.is_empty() && key.chars().all(|c| c.is_ascii_graphic());
            if !is_plain {
                return Err(values.bad(API_KEY, "a key such as sk_live_..."));
            }
            let expected = "what Stripe signs with when billing.stripe.apiKey is set";
            let secrets = values.need(WEBHOOK_SECRET, expected)?;
            let secrets = listed(&secrets).map(Secret::new).collect();
            let api_key = Secret::new(key);
            Some(stripe::Settings { api_key, webhook_secrets: secrets, base_url: base_url.0 })
        }
    };
    let urls = listed(values.get(RETURN_URLS).unwrap_or_default());
    let urls: Result<_, _> = urls.map(|url| url.parse::<PublicUrl>().map(|url| url.0)).collect();
    let expected = "a list of URLs such as https://app.example.com";
    let return_urls = urls.map_err(|()| values.bad(RETURN_URLS, expected))?;
    Ok(Settings { stripe, return_urls })
}

fn listed(text: &str) -> impl Iterator<Item = &str> {
    text.split(',').map(str::trim).filter(|part| !part.is_empty())
}
