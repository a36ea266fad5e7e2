//! Billing: which plans there are, how one is bought, and what Stripe says of it.
//!
//! The owner of an account tree pays, as one customer of Stripe, and their plan holds for all of
//! it. Cards and invoices are Stripe's: people are sent there, and what they did is heard through
//! `/webhooks/stripe`. A message from there is believed to have come and nothing else; what it
//! means is asked of Stripe ([`reading`]), so that it may come twice, late or in any order.
//!
//! Without a key of Stripe nothing is sold, and whatever needs it says so.

pub mod checkout;
pub mod hook;
pub mod plans;
pub mod portal;
pub mod subscription;

mod customer;
mod objects;
mod reading;
mod return_url;
pub mod stripe;

use std::sync::Arc;

use ferryhook_core::verify::{BadVerifier, Verifier};
use ferryhook_core::{Env, Map};
use ferryhook_net::Guard;
use ferryhook_net::client::Outbound;

use crate::caller::Caller;
use crate::problem::{Code, Problem};
use crate::router::App;
use stripe::Stripe;

/// The provider in the table of those who sign.
const SIGNER: &str = "stripe";

/// What the operator has decided.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Settings {
    pub stripe: Option<stripe::Settings>,
    /// Where people may come back to, beside this server itself.
    pub return_urls: Vec<String>,
}

#[derive(Debug, Default)]
pub struct Billing {
    stripe: Option<Connected>,
    return_urls: Vec<String>,
}

#[derive(Debug)]
struct Connected {
    stripe: Stripe,
    verifier: Verifier,
}

impl Billing {
    /// Stripe is the operator's choice, so that it may be anywhere `outbound` reaches.
    pub fn new(
        settings: Settings,
        outbound: &Arc<dyn Outbound>,
        guard: &Guard,
        env: Env,
    ) -> Result<Self, BadVerifier> {
        let Settings { stripe, return_urls } = settings;
        let connected = stripe.map(|settings| {
            let verifier = Verifier::new(SIGNER, &settings.webhook_secrets, &Map::new())?;
            let stripe = Stripe::new(settings, outbound.clone(), guard.clone(), env);
            Ok(Connected { stripe, verifier })
        });
        Ok(Self { stripe: connected.transpose()?, return_urls })
    }

    pub fn is_on(&self) -> bool {
        self.stripe.is_some()
    }

    fn stripe(&self) -> Result<&Stripe, Problem> {
        self.connected().map(|connected| &connected.stripe)
    }

    fn connected(&self) -> Result<&Connected, Problem> {
        self.stripe.as_ref().ok_or_else(|| {
            let said = "Nothing can be bought here: billing is off, because the server has no key \
                        of Stripe.";
            Problem::new(Code::BillingOff, said)
        })
    }
}

/// Whoever may spend the owner's money: an administrator of the root, and nobody of an account
/// beneath it.
async fn require_root(app: &App, caller: &Caller) -> Result<(), Problem> {
    let account = app.store.accounts().find(caller.account()).await?;
    match account.is_some_and(|account| account.parent_account_id.is_none()) {
        true => Ok(()),
        false => {
            let said = "The account at the top pays for all beneath it; name that in the header \
                        X-Ferryhook-Account.";
            Err(Problem::new(Code::Forbidden, said))
        }
    }
}

#[cfg(test)]
mod tests;
