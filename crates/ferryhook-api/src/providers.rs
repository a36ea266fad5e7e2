//! Providers: the catalogue of those whose webhooks are known.

use axum::extract::State;
use ferryhook_core::providers::{self, Confidence, Provider};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::call::{ApiResult, Listed};
use crate::caller::Caller;
use crate::page::Page;
use crate::router::App;

/// One who sends webhooks, and how it proves that it does.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Provider)]
pub struct ProviderView {
    /// What a source calls it.
    pub provider: String,
    pub confidence: Sureness,
    /// The names of its ways of signing, where it has several.
    pub schemes: Vec<String>,
    /// How it signs, in words.
    pub signature: String,
}

/// How sure it is that requests are verified as the provider signs them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = ProviderConfidence)]
pub enum Sureness {
    Settled,
    Experimental,
}

impl From<&Provider> for ProviderView {
    fn from(provider: &Provider) -> Self {
        let names = provider.schemes.iter().map(|own| own.name).filter(|name| !name.is_empty());
        Self {
            provider: provider.name.to_owned(),
            confidence: match provider.confidence {
                Confidence::Settled => Sureness::Settled,
                Confidence::Experimental => Sureness::Experimental,
            },
            schemes: names.map(str::to_owned).collect(),
            signature: provider.signature(),
        }
    }
}

/// `GET /v1/providers`
pub async fn list(State(_): State<App>, _: Caller) -> ApiResult<Listed<ProviderView>> {
    Ok(Listed(Page::whole(providers::all().map(ProviderView::from).collect())))
}
