//! Where people come back to from Stripe: this server, or where the operator allows it. Anywhere
//! else would make a link of ours lead wherever a stranger likes.

use url::{Origin, Url};

use crate::call::ApiResult;
use crate::problem::Problem;
use crate::router::App;

const URL_BYTES_MAX: usize = 2048;
/// The page that shows the account's plan.
const PAGE: &str = "/billing";

/// As it was asked for, if it may be; else our own page with this behind it.
pub(super) fn checked(
    app: &App,
    asked: Option<&str>,
    pointer: &str,
    otherwise: &str,
) -> ApiResult<String> {
    let base = &app.auth.settings.base_url;
    let Some(asked) = asked else { return Ok(format!("{base}{PAGE}{otherwise}")) };
    let own = std::iter::once(base.as_str());
    let allowed = own.chain(app.billing.return_urls.iter().map(String::as_str));
    let mut allowed = allowed.filter_map(|url| origin(&Url::parse(url).ok()?));
    let url = Url::parse(asked).ok().filter(|_| asked.len() <= URL_BYTES_MAX);
    let url = url.filter(|url| url.username().is_empty() && url.password().is_none());
    match url.as_ref().and_then(origin) {
        Some(origin) if allowed.any(|allowed| allowed == origin) => Ok(asked.to_owned()),
        _ => {
            let said = "must be a URL of this server, or of one that the operator allows to come \
                        back to (billing.returnUrls)";
            Err(Problem::invalid(pointer, said))
        }
    }
}

fn origin(url: &Url) -> Option<Origin> {
    matches!(url.scheme(), "http" | "https").then(|| url.origin())
}
