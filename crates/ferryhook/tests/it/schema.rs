use crate::ferry::{run, show};

#[test]
fn terraform_needs_no_server() {
    let folder = tempfile::tempdir().unwrap();
    let output = run(&folder, &["schema", "terraform", "--dynamo-table-prefix", "mine-"], &[]);
    assert_eq!(output.status.code(), Some(0));
    let file: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(file["resource"]["aws_dynamodb_table"].is_object(), "{file}");
    assert!(file.to_string().contains("\"mine-events\""));
}

#[test]
fn help_tells_the_exit_codes_of_a_plan() {
    let folder = tempfile::tempdir().unwrap();
    let help = show(&run(&folder, &["schema", "plan", "--help"], &[]));
    assert!(help.contains("with 2 when there is something to change"), "{help}");
}

#[cfg(not(feature = "aws"))]
#[test]
fn a_build_without_dynamodb_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let variables = [("FERRYHOOK_STORE", "dynamodb"), ("FERRYHOOK_LISTEN", "127.0.0.1:0")];
    for command in [&["serve"][..], &["schema", "plan"], &["schema", "apply"]] {
        assert_eq!(
            show(&run(&folder, command, &variables)),
            "exit 1\nferryhook: this build has no DynamoDB support; build with --features aws\n"
        );
    }
}

#[cfg(feature = "aws")]
mod live {
    use crate::ferry::{Ferry, run, show};
    use crate::tables::{as_variables, settings};

    #[test]
    fn tables_are_planned_made_once_and_served() {
        let Some(settings) = settings("tables") else { return };
        let settings = as_variables(&settings);
        let folder = tempfile::tempdir().unwrap();
        let schema = |arguments: &[&str]| {
            let output = run(&folder, &[&["schema"], arguments].concat(), &settings);
            (output.status.code().unwrap(), show(&output))
        };

        let serve = run(&folder, &["serve", "--listen", "127.0.0.1:0"], &settings);
        let refusal = show(&serve);
        assert_eq!(serve.status.code(), Some(1));
        assert!(refusal.contains("run `ferryhook schema apply`"), "{refusal}");
        assert_eq!(refusal.lines().filter(|line| line.starts_with("ferryhook:")).count(), 1);

        let (code, shown) = schema(&["plan"]);
        assert_eq!(code, 2, "{shown}");
        assert!(shown.contains("tables-events: create, on demand"), "{shown}");
        let (code, shown) = schema(&["plan", "--json"]);
        let plan: serde_json::Value =
            serde_json::from_str(shown.strip_prefix("exit 2\n").unwrap()).unwrap();
        assert_eq!((code, &plan["steps"][0]["change"]), (2, &"create".into()), "{plan}");

        let (code, shown) = schema(&["apply"]);
        assert_eq!(code, 0, "{shown}");
        assert!(shown.contains("done: "), "{shown}");
        let (code, shown) = schema(&["apply"]);
        assert!(code == 0 && shown.contains("every table is as declared"), "{shown}");
        let (code, shown) = schema(&["plan"]);
        assert!(code == 0 && shown.contains("every table is as declared"), "{shown}");

        let ferry = Ferry::start_in(&folder, &settings);
        assert_eq!(ferry.get("/readyz").status, 200);
        assert!(ferry.greeting.contains("(dynamodb store)"), "{}", ferry.greeting);
        ferry.stop();
    }

    /// An unreachable server is one line, in bounded time.
    #[test]
    fn a_server_that_is_away_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let nobody = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let endpoint = format!("http://{nobody}");
        let output = run(&folder, &["schema", "plan"], &[("DYNAMO_ENDPOINT", &endpoint)]);
        let shown = show(&output);
        assert!(shown.starts_with("exit 1\nferryhook: the store is unavailable"), "{shown}");
        assert_eq!(shown.lines().count(), 2, "{shown}");
    }
}
