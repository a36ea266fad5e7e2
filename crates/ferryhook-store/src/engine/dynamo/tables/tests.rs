use aws_sdk_dynamodb::operation::describe_table::DescribeTableError;

use super::*;

/// People read it on their terminal: what could not be done, why, and nothing of the SDK's insides.
#[test]
fn a_server_that_is_away_is_told_in_one_line() {
    let error = SdkError::<DescribeTableError>::timeout_error("nobody answered");
    let StoreError::Unavailable(what, Some(cause)) = failed(&error, "ferryhook-main") else {
        panic!("{error:?}")
    };
    assert_eq!(
        format!("{what}: {cause}"),
        "DynamoDB could not be asked about ferryhook-main: \
         request has timed out: nobody answered"
    );
}
