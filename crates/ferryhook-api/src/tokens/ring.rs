//! The ring of keys: the newest signs, all of them verify.
//!
//! Kept in memory and read again when a key is named that is not among them: another server may
//! have made it. How often a stranger can make us look is bounded.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_FIXED, ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair,
    ParsedPublicKey,
};
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use ferryhook_core::{Env, Secret, TokenKey};
use ferryhook_store::{Kind, Store, StoreError};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::BadToken;

pub(super) const ALGORITHM: &str = "ES256";
/// Between two looks for a key that somebody has named.
const LOOK_AGAIN: Duration = Duration::from_secs(5);
/// An uncompressed point: a tag and two numbers.
const COORDINATE_BYTES: usize = 32;

#[derive(Debug)]
pub(super) struct Ring {
    store: Store,
    env: Env,
    keys: Mutex<Keys>,
    /// One at a time reads or makes keys.
    turn: tokio::sync::Mutex<()>,
}

#[derive(Debug, Default)]
struct Keys {
    /// The newest first.
    known: Vec<Arc<Loaded>>,
    looked_at: Option<Duration>,
}

#[derive(Debug)]
pub(super) struct Loaded {
    pub(super) id: String,
    pub(super) pair: EcdsaKeyPair,
    pub(super) public: ParsedPublicKey,
    key: TokenKey,
}

/// Public keys (RFC 7517).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Jwks {
    pub keys: Vec<Jwk>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Jwk {
    pub kty: String,
    pub crv: String,
    pub alg: String,
    #[serde(rename = "use")]
    pub purpose: String,
    pub kid: String,
    pub x: String,
    pub y: String,
}

impl Ring {
    pub(super) fn new(store: Store, env: Env) -> Self {
        Self { store, env, keys: Mutex::default(), turn: tokio::sync::Mutex::default() }
    }

    /// The key that signs now. When there is none, or it has served its month, a new one is made.
    pub(super) async fn signing(&self) -> Result<Arc<Loaded>, BadToken> {
        if let Some(key) = self.newest() {
            return Ok(key);
        }
        let _turn = self.turn.lock().await;
        self.load().await?;
        if let Some(key) = self.newest() {
            return Ok(key);
        }
        let pair = EcdsaKeyPair::generate(&ECDSA_P256_SHA256_FIXED_SIGNING);
        let pair = pair.map_err(|_| BadToken::Unsigned)?;
        let private = pair.to_pkcs8v1().map_err(|_| BadToken::Unsigned)?;
        let key = TokenKey::new(Secret::new(STANDARD.encode(private.as_ref())), &self.env);
        self.store.token_keys().create(&key).await?;
        tracing::info!(key.id = key.id, "a new key signs access tokens");
        self.load().await?;
        self.newest().ok_or(BadToken::Unsigned)
    }

    pub(super) async fn verifying(&self, id: &str) -> Result<Option<Arc<Loaded>>, BadToken> {
        if let Some(key) = self.find(id) {
            return Ok(Some(key));
        }
        // Whoever comes while another looks waits for what it finds: of several requests that
        // bring the first token of another server, not only one is let in.
        let _turn = self.turn.lock().await;
        if self.find(id).is_none() && self.may_look() {
            self.load().await?;
        }
        Ok(self.find(id))
    }

    pub(super) async fn jwks(&self) -> Result<Jwks, BadToken> {
        self.signing().await?;
        let now = self.env.now();
        let known = self.lock().known.clone();
        let usable = known.iter().filter(|loaded| loaded.key.may_verify(now));
        Ok(Jwks { keys: usable.map(|loaded| loaded.jwk()).collect() })
    }

    fn newest(&self) -> Option<Arc<Loaded>> {
        let now = self.env.now();
        self.lock().known.iter().find(|loaded| loaded.key.may_sign(now)).cloned()
    }

    fn find(&self, id: &str) -> Option<Arc<Loaded>> {
        let now = self.env.now();
        let keys = self.lock();
        keys.known.iter().find(|key| key.id == id && key.key.may_verify(now)).cloned()
    }

    fn may_look(&self) -> bool {
        let now = self.env.elapsed();
        let mut keys = self.lock();
        let may = keys.looked_at.is_none_or(|at| now.saturating_sub(at) >= LOOK_AGAIN);
        if may {
            keys.looked_at = Some(now);
        }
        may
    }

    async fn load(&self) -> Result<(), BadToken> {
        let stored = self.store.token_keys().list().await?;
        let known = stored.into_iter().map(|key| Loaded::of(key).map(Arc::new));
        let known = known.collect::<Result<Vec<_>, _>>()?;
        self.lock().known = known;
        Ok(())
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Keys> {
        self.keys.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Loaded {
    fn of(key: TokenKey) -> Result<Self, StoreError> {
        let corrupt = |reason: &str| StoreError::corrupt(Kind::TokenKey, reason);
        let private = STANDARD.decode(key.private_key.expose());
        let private = private.map_err(|_| corrupt("its private half is not base64"))?;
        let pair = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &private);
        let pair = pair.map_err(|_| corrupt("its private half is no key"))?;
        let public = ParsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, pair.public_key().as_ref());
        let public = public.map_err(|_| corrupt("its public half is no key"))?;
        Ok(Self { id: key.id.clone(), pair, public, key })
    }

    fn jwk(&self) -> Jwk {
        let point = self.pair.public_key().as_ref();
        let (x, y) = point.get(1..).unwrap_or_default().split_at(COORDINATE_BYTES);
        Jwk {
            kty: "EC".into(),
            crv: "P-256".into(),
            alg: ALGORITHM.into(),
            purpose: "sig".into(),
            kid: self.id.clone(),
            x: URL_SAFE_NO_PAD.encode(x),
            y: URL_SAFE_NO_PAD.encode(y),
        }
    }
}
