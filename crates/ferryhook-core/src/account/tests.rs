use super::*;
use crate::{Env, samples};

#[test]
fn a_path_has_the_names_from_the_root_down() {
    let env = Env::fixed("2026-01-01T00:00:00Z");
    let root = Account::root(Id::new(&env), "acme", samples::user().id, env.now());
    let child = root.child(Id::new(&env), "retail", AccountType::Subsidiary, env.now());
    let grandchild = child.child(Id::new(&env), "A/B", AccountType::Location, env.now());
    assert_eq!((&*root.path, root.level), ("/acme/", 0));
    assert_eq!((&*child.path, child.level), ("/acme/retail/", 1));
    assert_eq!((&*grandchild.path, grandchild.level), ("/acme/retail/A-B/", 2));
    assert_eq!(grandchild.parent_account_id, Some(child.id));
    assert_eq!(grandchild.user_id, root.user_id);

    let renamed = child.renamed("shops", env.now());
    assert_eq!((&*renamed.name, &*renamed.path), ("shops", "/acme/shops/"));
    assert_eq!(grandchild.beneath(&renamed).path, "/acme/shops/A-B/");
    assert_eq!(root.renamed("emca", env.now()).path, "/emca/");
}

#[test]
fn terminated_is_worse_than_suspended() {
    assert!(Status::Active < Status::Suspended && Status::Suspended < Status::Terminated);
}
