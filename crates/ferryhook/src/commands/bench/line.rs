//! A connection to the API.

use std::net::SocketAddr;
use std::time::Duration;

use anyhow::{Context, bail};
use ferryhook_core::Env;
use serde::de::DeserializeOwned;
use tokio::time::timeout;

use super::http::{self, Wire};

/// A request that is not answered in this time has failed.
const PATIENCE: Duration = Duration::from_secs(30);

#[derive(Debug)]
pub struct Line {
    wire: Wire,
    key: String,
    env: Env,
}

impl Line {
    pub async fn open(address: SocketAddr, key: &str, env: &Env) -> anyhow::Result<Self> {
        let wire = Wire::connect(address).await.context("cannot connect to the server")?;
        Ok(Self { wire, key: key.to_owned(), env: env.clone() })
    }

    pub async fn get<T: DeserializeOwned>(&mut self, path: &str) -> anyhow::Result<(T, Duration)> {
        self.exchange("GET", path, "").await
    }

    pub async fn post<T: DeserializeOwned>(
        &mut self,
        path: &str,
        body: &str,
    ) -> anyhow::Result<(T, Duration)> {
        self.exchange("POST", path, body).await
    }

    /// The answer, and how long it took to come; reading it is not the server's.
    async fn exchange<T: DeserializeOwned>(
        &mut self,
        method: &str,
        path: &str,
        body: &str,
    ) -> anyhow::Result<(T, Duration)> {
        let request = format!(
            "{method} {path} HTTP/1.1\r\nhost: ferryhook\r\nx-api-key: {}\r\n\
             content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            self.key,
            body.len()
        );
        let began = self.env.elapsed();
        let answer = async {
            self.wire.send(request.as_bytes()).await?;
            self.wire.receive(|head, body| (http::status(head), body.to_vec())).await
        };
        let answer = timeout(PATIENCE, answer).await.context("the server does not answer")??;
        let took = self.env.elapsed().saturating_sub(began);
        match answer {
            Some((Some(200), body)) => Ok((serde_json::from_slice(&body)?, took)),
            Some((status, body)) => {
                let said = String::from_utf8_lossy(&body);
                bail!("{method} {path} was answered {}: {said}", status.unwrap_or_default())
            }
            None => bail!("the server has hung up"),
        }
    }
}
