//! Paths with what is asked behind the question mark.

use url::form_urlencoded::{Serializer, byte_serialize};

/// The path with those parameters that have a value.
pub fn with_query<'a>(
    path: &str,
    parameters: impl IntoIterator<Item = (&'a str, Option<String>)>,
) -> String {
    let mut query = Serializer::new(String::new());
    for (name, value) in parameters {
        if let Some(value) = value {
            query.append_pair(name, &value);
        }
    }
    let query = query.finish();
    match (query.is_empty(), path.contains('?')) {
        (true, _) => path.to_owned(),
        (false, true) => format!("{path}&{query}"),
        (false, false) => format!("{path}?{query}"),
    }
}

/// A name as one part of a path.
pub fn segment(name: &str) -> String {
    // A plus means a space in a query and itself in a path.
    byte_serialize(name.as_bytes()).collect::<String>().replace('+', "%20")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_said_is_asked_for_and_nothing_slips_out_of_its_place() {
        let asked = with_query("/v1/events", [("type", Some("a b&c".to_owned())), ("q", None)]);
        assert_eq!(asked, "/v1/events?type=a+b%26c");
        assert_eq!(
            with_query(&asked, [("limit", Some("1".to_owned()))]),
            format!("{asked}&limit=1")
        );
        assert_eq!(with_query("/v1/events", [("q", None)]), "/v1/events");
        assert_eq!(segment("a/b c+d?é"), "a%2Fb%20c%2Bd%3F%C3%A9");
    }
}
