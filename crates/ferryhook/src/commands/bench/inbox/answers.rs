//! As much of the answers of the API as is looked at.

use serde::Deserialize;

/// As much of a list as is looked at.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Page {
    #[serde(default)]
    pub cursor: Option<String>,
    #[serde(default)]
    pub has_more: bool,
}

/// As much of a lease.
#[derive(Debug, Deserialize)]
pub struct Leases {
    pub data: Vec<Lease>,
}

#[derive(Debug, Deserialize)]
pub struct Lease {
    pub token: String,
}

/// What became of each token.
#[derive(Debug, Deserialize)]
pub struct Replies {
    pub data: Vec<Replied>,
}

#[derive(Debug, Deserialize)]
pub struct Replied {
    pub result: String,
}
