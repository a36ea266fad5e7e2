//! Questions to a partition: ranges, order, pages, and what stands in an index.

use ferryhook_core::{limits, samples};
use ferryhook_store::{Batch, Cursor, Index, IndexKey, Kind, Part, Query, Record, Slice};

use crate::bench::{Bench, all, assert_malformed, assert_out_of_bounds};
use crate::probe::Probe;

fn numbered(bench: &Bench, count: i64) -> Vec<Probe> {
    let probe = |number: i64| {
        let name = format!("{number:03}");
        bench.probe(&name).mail(&name).wait(number)
    };
    (0..count).map(probe).collect()
}

fn names(range: impl Iterator<Item = i64>) -> Vec<String> {
    range.map(|number| format!("{number:03}")).collect()
}

fn text(text: &str) -> Option<Part> {
    Some(text.into())
}

fn number(number: i64) -> Option<Part> {
    Some(number.into())
}

pub(crate) async fn an_empty_partition_has_an_empty_page(bench: Bench) {
    let probe = bench.probe("a");
    for query in [probe.neighbours(), probe.mails(), probe.waits()] {
        let page = bench.page(query).await;
        assert!(page.rows.is_empty() && page.next.is_none());
    }
}

pub(crate) async fn a_partition_is_sorted_both_ways(bench: Bench) {
    let mut probes = numbered(&bench, 10);
    probes.reverse();
    bench.insert_all(&probes).await;
    for query in [probes[0].neighbours(), probes[0].mails(), probes[0].waits()] {
        assert_eq!(bench.labels(query.clone()).await, names(0..10));
        assert_eq!(bench.labels(query.newest_first()).await, names((0..10).rev()));
    }
}

pub(crate) async fn a_prefix_finds_what_begins_with_it(bench: Bench) {
    let sorts = ["a", "ab", "ab\u{10ffff}", "abc", "ac", "b", "A"];
    let probes = sorts.map(|sort| bench.probe(sort).mail(sort));
    bench.insert_all(&probes).await;
    for query in [probes[0].neighbours(), probes[0].mails()] {
        let found = bench.labels(query.clone().prefix("ab")).await;
        assert_eq!(found, ["ab", "abc", "ab\u{10ffff}"]);
        let found = bench.labels(query.clone().prefix("ab").newest_first()).await;
        assert_eq!(found, ["ab\u{10ffff}", "abc", "ab"]);
        assert!(bench.labels(query.prefix("x")).await.is_empty());
    }
}

pub(crate) async fn a_prefix_of_the_last_character_ends(bench: Bench) {
    let sorts = ["\u{10ffff}", "\u{10ffff}a", "a"];
    let probes = sorts.map(|sort| bench.probe(sort));
    bench.insert_all(&probes).await;
    let found = bench.labels(probes[0].neighbours().prefix("\u{10ffff}")).await;
    assert_eq!(found, ["\u{10ffff}", "\u{10ffff}a"]);
}

pub(crate) async fn a_range_of_text_includes_its_ends(bench: Bench) {
    let probes = numbered(&bench, 10);
    bench.insert_all(&probes).await;
    for query in [probes[0].neighbours(), probes[0].mails()] {
        let between = |from, to| query.clone().between(from, to);
        let cases = [
            (text("003"), text("006"), 3..7),
            (text("0025"), text("0065"), 3..7),
            (text("003"), None, 3..10),
            (None, text("003"), 0..4),
            (None, None, 0..10),
            (text("003"), text("003"), 3..4),
            (text("1"), None, 0..0),
        ];
        for (from, to, expected) in cases {
            let query = between(from, to);
            assert_eq!(bench.labels(query.clone()).await, names(expected.clone()));
            let found = bench.labels(query.newest_first()).await;
            assert_eq!(found, names(expected.rev()));
        }
    }
}

pub(crate) async fn a_range_of_numbers_includes_its_ends(bench: Bench) {
    let values = [i64::MIN, -1000, -10, -1, 0, 1, 9, 10, 1000, i64::MAX];
    let probe = |(place, value): (usize, i64)| bench.probe(&format!("{place:03}")).wait(value);
    let probes: Vec<_> = values.into_iter().enumerate().map(probe).collect();
    bench.insert_all(&probes).await;
    let cases = [
        (None, None, 0..10),
        (number(-10), number(9), 2..7),
        (number(-9), number(8), 3..6),
        (number(0), None, 4..10),
        (None, number(-1), 0..4),
        (number(i64::MIN), number(i64::MAX), 0..10),
        (number(10), number(10), 7..8),
        (number(2), number(8), 0..0),
    ];
    for (from, to, expected) in cases {
        let query = probes[0].waits().between(from, to);
        assert_eq!(bench.labels(query.clone()).await, names(expected.clone()));
        let found = bench.labels(query.newest_first()).await;
        assert_eq!(found, names(expected.rev()));
    }
}

pub(crate) async fn a_range_that_ends_before_it_begins_is_empty(bench: Bench) {
    let probes = numbered(&bench, 5);
    bench.insert_all(&probes).await;
    let query = probes[0].neighbours().between(text("003"), text("001"));
    assert!(bench.labels(query).await.is_empty());
    let query = probes[0].waits().between(number(3), number(1));
    assert!(bench.labels(query.newest_first()).await.is_empty());
}

pub(crate) async fn exactly_finds_one_sort_key(bench: Bench) {
    let probes = numbered(&bench, 5);
    bench.insert_all(&probes).await;
    let probe = &probes[0];
    assert_eq!(bench.labels(probe.neighbours().exactly("003")).await, ["003"]);
    assert_eq!(bench.labels(probe.mails().exactly("003")).await, ["003"]);
    assert_eq!(bench.labels(probe.waits().exactly(3)).await, ["003"]);
    assert!(bench.labels(probe.neighbours().exactly("00")).await.is_empty());
}

/// Two full pages and a half: each row once, in order, and then the end.
async fn pages_through(bench: &Bench, query: Query, expected: &[String]) {
    let query = query.limit(10);
    let mut found = Vec::new();
    let mut pages = 0;
    let mut next = None;
    loop {
        let page = bench.page(query.clone().after(next)).await;
        assert!(page.rows.len() <= 10);
        found.extend(page.rows.into_iter().map(|row| row.record.label));
        pages += 1;
        assert!(pages < 100, "the pages do not end");
        next = page.next;
        if next.is_none() {
            break;
        }
    }
    assert_eq!(found, expected);
}

pub(crate) async fn pages_of_a_table_neither_skip_nor_repeat(bench: Bench) {
    let probes = numbered(&bench, 25);
    bench.insert_all(&probes).await;
    let query = probes[0].neighbours();
    pages_through(&bench, query.clone(), &names(0..25)).await;
    pages_through(&bench, query.newest_first(), &names((0..25).rev())).await;
}

pub(crate) async fn pages_of_an_index_neither_skip_nor_repeat(bench: Bench) {
    let probes = numbered(&bench, 25);
    bench.insert_all(&probes).await;
    for query in [probes[0].mails(), probes[0].waits()] {
        pages_through(&bench, query.clone(), &names(0..25)).await;
        pages_through(&bench, query.newest_first(), &names((0..25).rev())).await;
    }
}

pub(crate) async fn pages_of_a_range_stay_in_it(bench: Bench) {
    let probes = numbered(&bench, 40);
    bench.insert_all(&probes).await;
    let probe = &probes[0];
    for query in [
        probe.neighbours().between(text("005"), text("029")),
        probe.mails().between(text("005"), text("029")),
        probe.waits().between(number(5), number(29)),
    ] {
        pages_through(&bench, query.clone(), &names(5..30)).await;
        pages_through(&bench, query.newest_first(), &names((5..30).rev())).await;
    }
    let query = probe.neighbours().prefix("01");
    pages_through(&bench, query.clone(), &names(10..20)).await;
    pages_through(&bench, query.newest_first(), &names((10..20).rev())).await;
}

pub(crate) async fn equal_index_keys_are_paged_one_by_one(bench: Bench) {
    let sorts = (0..25).map(|number| format!("{number:03}"));
    let probes: Vec<_> = sorts.map(|sort| bench.probe(&sort).mail("same").wait(7)).collect();
    bench.insert_all(&probes).await;
    for query in [probes[0].mails(), probes[0].waits()] {
        for query in [query.clone(), query.newest_first()] {
            let query = query.limit(4);
            let mut found = bench.labels(query).await;
            found.sort_unstable(); // their order among themselves is the engine's own
            assert_eq!(found, names(0..25));
        }
    }
}

pub(crate) async fn a_page_that_ends_with_the_list_may_say_so_late(bench: Bench) {
    let probes = numbered(&bench, 10);
    bench.insert_all(&probes).await;
    pages_through(&bench, probes[0].neighbours().limit(10), &names(0..10)).await;
}

pub(crate) async fn pages_go_on_while_rows_come_and_go(bench: Bench) {
    let probes = numbered(&bench, 20);
    bench.insert_all(&probes).await;
    for query in [probes[0].neighbours(), probes[0].mails()] {
        let first = bench.page(query.clone().limit(10)).await;
        let seen: Vec<_> = first.rows.iter().map(|row| row.label.clone()).collect();
        assert_eq!(seen, names(0..10));
        // Behind: one goes (the very row of the cursor) and one comes. Ahead: the same.
        let cursor_row = bench.read(&probes[9]).await;
        let ahead = bench.read(&probes[15]).await;
        let new = [bench.probe("0045").mail("0045"), bench.probe("0125").mail("0125")];
        let batch = Batch::new().delete(&cursor_row).delete(&ahead);
        bench.commit(batch.insert(&new[0]).insert(&new[1])).await.unwrap();
        let rest = bench.labels(query.after(first.next)).await;
        let mut expected = names(10..20);
        expected.retain(|name| name != "015");
        expected.insert(3, "0125".to_owned());
        assert_eq!(rest, expected);
        let (a, b) = (bench.read(&new[0]).await, bench.read(&new[1]).await);
        let batch = Batch::new().delete(&a).delete(&b);
        let batch = batch.insert(&probes[9]).insert(&probes[15]);
        bench.commit(batch).await.unwrap();
    }
}

pub(crate) async fn pages_pass_over_what_has_expired(bench: Bench) {
    let soon = bench.later(10);
    let probes: Vec<_> = numbered(&bench, 30)
        .into_iter()
        .map(|probe| match probe.wait {
            Some(5..25) => probe.expires(soon),
            _ => probe,
        })
        .collect();
    bench.insert_all(&probes).await;
    bench.advance(10);
    let expected = names((0..5).chain(25..30));
    for query in [probes[0].neighbours(), probes[0].mails(), probes[0].waits()] {
        assert_eq!(bench.labels(query.clone().limit(3)).await, expected);
        let mut reversed = expected.clone();
        reversed.reverse();
        assert_eq!(bench.labels(query.newest_first().limit(3)).await, reversed);
    }
}

pub(crate) async fn a_page_has_at_least_one_row_and_at_most_its_bound(bench: Bench) {
    let query = bench.probe("a").neighbours();
    assert_out_of_bounds(bench.engine.query(query.clone().limit(0)).await);
    let over = query.clone().limit(limits::PAGE_MAX + 1);
    assert_out_of_bounds(bench.engine.query(over).await);
    bench.engine.query(query.limit(limits::PAGE_MAX)).await.unwrap();
}

pub(crate) async fn a_question_has_to_fit_the_declaration(bench: Bench) {
    let probe = bench.probe("a");
    let wrong = [
        Query::index(Kind::Event, Index::UserByEmail, "p"),
        Query::index(Kind::Event, Index::Inbox, 1),
        Query::index(Kind::Schedule, Index::ScheduleNextRun, "text"),
        probe.waits().between(text("a"), None),
        probe.waits().prefix("1"),
        probe.mails().between(None, number(1)),
        probe.neighbours().between(number(1), None),
        Query::index(Kind::Schedule, Index::ScheduleNextRun, 60).exactly(1),
        Query::table(Kind::Claim, "p").prefix("x"),
    ];
    for query in wrong {
        assert_malformed(bench.engine.query(query).await);
    }
}

pub(crate) async fn a_cursor_of_another_list_is_refused(bench: Bench) {
    let probes = numbered(&bench, 3);
    bench.insert_all(&probes).await;
    let other = bench.probe_in("other", "001").mail("001").wait(1);
    bench.insert(&other).await;
    let probe = &probes[0];
    let in_table = Cursor { key: probe.key(), entry: None };
    let entry = |index, sort: Part| Cursor {
        key: probe.key(),
        entry: Some(IndexKey::new(index, &*probe.partition, sort)),
    };
    let in_mails = entry(Index::Inbox, "000".into());
    let in_waits = entry(Index::Pending, 0.into());
    let foreign = [
        (probe.mails(), in_table.clone()),
        (probe.neighbours(), in_mails.clone()),
        (probe.waits(), in_mails.clone()),
        (other.neighbours(), in_table.clone()),
        (other.mails(), in_mails.clone()),
        (other.waits(), in_waits.clone()),
        (Query::table(Kind::User, &*probe.partition), in_table.clone()),
        (probe.neighbours().prefix("1"), in_table.clone()),
        (probe.waits().between(number(1), None), in_waits.clone()),
    ];
    for (query, cursor) in foreign {
        assert_malformed(bench.engine.query(query.after(Some(cursor))).await);
    }
    for (query, cursor) in
        [(probe.neighbours(), in_table), (probe.mails(), in_mails), (probe.waits(), in_waits)]
    {
        let rest = bench.labels(query.after(Some(cursor))).await;
        assert_eq!(rest, ["001", "002"]);
    }
}

/// Sources and keys lie in their user's partition, beside the user.
pub(crate) async fn other_kinds_in_a_partition_are_passed_over(bench: Bench) {
    let (mut user, mut source, mut key) = (samples::user(), samples::source(), samples::key());
    user.id = bench.id();
    (source.user_id, key.user_id) = (user.id, user.id);
    let mut batch = Batch::new().insert(&user);
    for _ in 0..5 {
        (source.id, key.id) = (bench.id(), bench.id());
        batch = batch.insert(&source).insert(&key);
    }
    bench.commit(batch).await.unwrap();
    let partition = format!("USER#{}", user.id);
    for (kind, count) in [(Kind::User, 1), (Kind::Source, 5), (Kind::Key, 5)] {
        let mut found = 0;
        let mut query = Query::table(kind, &*partition).limit(2);
        loop {
            let page = bench.engine.query(query.clone()).await.unwrap();
            assert!(page.rows.iter().all(|row| row.kind == kind));
            found += page.rows.len();
            match page.next {
                None => break,
                next => query = query.after(next),
            }
        }
        assert_eq!(found, count, "{kind}");
    }
}

pub(crate) async fn other_kinds_in_an_index_are_passed_over(bench: Bench) {
    let (mut source, mut connection) = (samples::source(), samples::connection());
    let account = bench.id();
    (source.account_id, connection.account_id) = (account, account);
    for _ in 0..3 {
        (source.id, connection.id) = (bench.id(), bench.id());
        let batch = Batch::new().insert(&source).insert(&connection);
        bench.commit(batch).await.unwrap();
    }
    let slice = Slice::default().limit(2);
    let connections = bench.store.connections();
    let found = all(slice, async |slice| connections.list_by_account(account, slice).await).await;
    assert_eq!(found.len(), 3);
}

pub(crate) async fn a_sparse_index_has_only_those_with_an_entry(bench: Bench) {
    let with = bench.probe("with").mail("m");
    let without = bench.probe("without");
    bench.insert_all(&[with.clone(), without.clone()]).await;
    assert_eq!(bench.labels(with.mails()).await, ["with"]);
    // The entry goes from one to the other.
    let (was_with, was_without) = (bench.read(&with).await, bench.read(&without).await);
    let batch = Batch::new()
        .replace(&was_with, &bench.probe("with"))
        .replace(&was_without, &without.clone().mail("m"));
    bench.commit(batch).await.unwrap();
    assert_eq!(bench.labels(with.mails()).await, ["without"]);
    assert_eq!(bench.labels(with.neighbours()).await, ["with", "without"]);
}

pub(crate) async fn an_index_entry_follows_its_row(bench: Bench) {
    let probe = bench.probe("a").mail("open#1").wait(5);
    bench.insert(&probe).await;
    for (mail, wait) in [("closed#1", -5), ("open#2", 50)] {
        let was = bench.read(&probe).await;
        let now = was.record.clone().mail(mail).wait(wait);
        bench.commit(Batch::new().replace(&was, &now)).await.unwrap();
        let page = bench.page(probe.mails()).await;
        assert_eq!(page.rows.len(), 1);
        assert_eq!(page.rows[0].record, now);
        assert_eq!(bench.labels(probe.mails().exactly(mail)).await, ["a"]);
        assert_eq!(bench.labels(probe.waits().exactly(wait)).await, ["a"]);
    }
    assert!(bench.labels(probe.mails().prefix("closed#")).await.is_empty());
    assert_eq!(bench.labels(probe.waits()).await, ["a"]);
}

pub(crate) async fn an_index_shows_the_row_as_it_is(bench: Bench) {
    let probe = bench.probe("a").mail("m").count(1).body("body");
    bench.insert(&probe).await;
    let was = bench.read(&probe).await;
    let now = probe.clone().count(2);
    bench.commit(Batch::new().replace(&was, &now)).await.unwrap();
    let page = bench.page(probe.mails()).await;
    assert_eq!(page.rows[0], bench.read(&probe).await);
    assert_eq!(page.rows[0].record, now);
}

/// An index without a sort key: everyone in a partition is equal.
pub(crate) async fn an_index_without_order_is_paged_too(bench: Bench) {
    let mut schedule = samples::schedule();
    schedule.source_id = bench.id();
    schedule.next_run_at = bench.now().minute();
    let mut ids = Vec::new();
    for _ in 0..7 {
        schedule.id = bench.id();
        ids.push(schedule.id);
        bench.store.schedules().create(&schedule).await.unwrap();
    }
    for slice in [Slice::oldest_first(), Slice::newest_first()] {
        let schedules = bench.store.schedules();
        let at = schedule.next_run_at;
        let due = all(slice.limit(2), async |slice| schedules.list_due(at, slice).await).await;
        let mut found: Vec<_> = due.into_iter().map(|schedule| schedule.id).collect();
        found.retain(|id| ids.contains(id));
        found.sort_unstable();
        ids.sort_unstable();
        assert_eq!(found, ids);
    }
}
