//! `ferryhook bench` in small: it measures everything and leaves nothing behind.

use crate::ferry::{run, show};

#[test]
fn a_small_benchmark_measures_everything() {
    let folder = tempfile::tempdir().unwrap();
    let asked = ["bench", "--json", "--events", "100", "--connections", "2,4", "--sources", "3"];
    let output = run(&folder, &asked, &[]);
    assert_eq!(output.status.code(), Some(0), "{}", show(&output));
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["failures"], serde_json::json!([]));
    assert_eq!(report["runs"].as_array().unwrap().len(), 2);
    for (run, connections) in report["runs"].as_array().unwrap().iter().zip([2, 4]) {
        assert_eq!(run["connections"], connections);
        for part in ["bareHttp", "bareRelay", "ingest", "endToEnd"] {
            assert_eq!(run[part]["events"], 100, "{part}");
            assert!(run[part]["eventsPerSecond"].as_f64().unwrap() > 0.0, "{part}");
        }
        for ratio in ["ingestToBareHttp", "endToEndToRelay"] {
            assert!(run["ratios"][ratio].as_f64().unwrap() > 0.0, "{ratio}");
        }
    }
    assert_eq!(report["paced"]["endToEnd"]["events"], 100);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "all of it is removed");
}

#[test]
fn a_benchmark_that_cannot_begin_says_why() {
    let folder = tempfile::tempdir().unwrap();
    let output = run(&folder, &["bench", "--directory", "nowhere"], &[]);
    assert_eq!(output.status.code(), Some(1));
    let shown = show(&output);
    assert!(shown.contains("cannot make a directory in"), "{shown}");
}

#[test]
fn a_small_benchmark_of_the_api_asks_for_everything() {
    let folder = tempfile::tempdir().unwrap();
    let asked = ["bench", "--api", "--json", "--events", "400", "--rate", "200", "--seconds", "2"];
    let output = run(&folder, &asked, &[]);
    assert_eq!(output.status.code(), Some(0), "{}", show(&output));
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["failures"], serde_json::json!([]));
    assert_eq!((&report["events"], &report["sources"]), (&400.into(), &300.into()));
    for part in ["all", "floor"] {
        assert_eq!(report[part]["count"], 400, "{part}");
        assert_eq!(report[part]["failed"], 0, "{part}");
    }
    let operations = report["operations"].as_array().unwrap();
    assert_eq!(operations.len(), 16);
    for operation in operations {
        assert!(operation["count"].as_u64().unwrap() > 0, "{operation}");
        assert!(operation["ms"]["p99"].as_f64().unwrap() > 0.0, "{operation}");
    }
    assert!(report["diskMs"]["p50"].as_f64().unwrap() > 0.0);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "all of it is removed");
}

#[test]
fn a_small_benchmark_of_the_inbox_empties_it() {
    let folder = tempfile::tempdir().unwrap();
    let output = run(&folder, &["bench", "--inbox", "--json", "--events", "250"], &[]);
    assert_eq!(output.status.code(), Some(0), "{}", show(&output));
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["failures"], serde_json::json!([]));
    assert_eq!(
        (&report["ingested"]["events"], &report["fetched"]["events"]),
        (&250.into(), &250.into())
    );
    assert_eq!(report["pages"]["far"], 3);
    for ratio in [&report["fetchedToIngested"], &report["pages"]["farToFirst"]] {
        assert!(ratio.as_f64().unwrap() > 0.0, "{report}");
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "all of it is removed");
}

#[test]
fn a_small_benchmark_of_a_backlog_delivers_what_was_held() {
    let folder = tempfile::tempdir().unwrap();
    let asked = ["bench", "--backlog", "--json", "--events", "300", "--seconds", "1"];
    let output = run(&folder, &asked, &[]);
    assert_eq!(output.status.code(), Some(0), "{}", show(&output));
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["failures"], serde_json::json!([]));
    assert_eq!(report["held"], 300);
    for side in ["idle", "beside"] {
        assert_eq!(report[side]["count"], 100, "{side} {report}");
        assert!(report[side]["p99"].as_f64().unwrap() > 0.0, "{side} {report}");
    }
    assert!(report["readySeconds"].as_f64().unwrap() > 0.0);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "all of it is removed");
}

#[test]
fn the_options_of_one_benchmark_are_refused_by_the_other() {
    let folder = tempfile::tempdir().unwrap();
    let both = [
        &["bench", "--api", "--stored", "5"][..],
        &["bench", "--rate", "5"],
        &["bench", "--backlog", "--inbox"],
        &["bench", "--backlog", "--stored", "5"],
    ];
    for asked in both {
        assert_eq!(run(&folder, asked, &[]).status.code(), Some(2), "{asked:?}");
    }
}
