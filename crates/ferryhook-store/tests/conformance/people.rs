//! People and their accounts: the tree, who stands where in it, invitations, keys.

use ferryhook_core::account::{AccountType, Status};
use ferryhook_core::invitation::{self, Token};
use ferryhook_core::member::{self, Role};
use ferryhook_core::plan_count::Counted;
use ferryhook_core::{
    Account, Id, Invitation, Key, Member, Plan, User, key, limits, plan, samples,
};
use ferryhook_store::repositories::{
    InviteError, JoinError, KeyError, MemberError, NewChild, TreeError,
};
use ferryhook_store::{Batch, Slice, Stored, Unique, UniqueError};
use tokio::task::JoinSet;

use crate::bench::{Bench, all};

impl Bench {
    /// A root without anybody in it.
    async fn root(&self, name: &str) -> Account {
        let account = Account::root(self.id(), name, self.id(), self.later(0).minute());
        self.store.accounts().create(&account).await.unwrap();
        account
    }

    fn new_child(&self, name: &str) -> NewChild {
        NewChild {
            id: self.id(),
            name: name.to_owned(),
            kind: AccountType::Division,
            metadata: None,
            settings: None,
        }
    }

    async fn child(&self, parent: Id<Account>, name: &str) -> Account {
        let new = self.new_child(name);
        self.store.accounts().create_child(parent, &new).await.unwrap()
    }

    async fn account_now(&self, id: Id<Account>) -> Stored<Account> {
        self.store.accounts().find(id).await.unwrap().unwrap()
    }

    async fn joins(&self, account: Id<Account>, role: Role) -> Stored<Member> {
        let member = Member { role, is_default: false, ..self.member(self.id(), account) };
        self.store.members().add(&member).await.unwrap();
        self.member_now(&member).await.unwrap()
    }

    async fn member_now(&self, member: &Member) -> Option<Stored<Member>> {
        self.store.members().find(member.user_id, member.account_id).await.unwrap()
    }

    /// A user who is in no account.
    async fn person(&self) -> User {
        let user = User { default_account_id: self.id(), ..self.user() };
        self.store.users().create(&user).await.unwrap();
        user
    }

    async fn user_now(&self, id: Id<User>) -> Stored<User> {
        self.store.users().find(id).await.unwrap().unwrap()
    }

    async fn invites(&self, account: Id<Account>, email: &str) -> (Invitation, Token) {
        let host = self.joins(account, Role::Manager).await.user_id;
        let (invitation, token) = Invitation::new(account, email, Role::Member, host, &self.env);
        self.store.invitations().create(&invitation).await.unwrap();
        (invitation, token)
    }

    async fn opened(&self, token: &Token) -> Option<Stored<Invitation>> {
        self.store.invitations().find_by_token(token).await.unwrap()
    }
}

pub(crate) async fn a_child_is_created_for_those_above(bench: Bench) {
    let root = bench.root("acme").await;
    let new = bench.new_child("retail");
    let child = bench.store.accounts().create_child(root.id, &new).await.unwrap();
    assert_eq!((&*child.path, child.level), ("/acme/retail/", 1));
    assert_eq!((child.parent_account_id, child.user_id), (Some(root.id), root.user_id));
    assert_eq!(bench.account_now(root.id).await.child_count, 1);
    assert_eq!(bench.account_now(child.id).await.name, "retail");
    let nobody = bench.store.members().list_by_account(child.id, None, Slice::default()).await;
    assert!(nobody.unwrap().rows.is_empty(), "a place in it would outlast the one above");

    let missing = bench.store.accounts().create_child(bench.id(), &new).await;
    assert!(matches!(missing, Err(TreeError::Missing)), "{missing:?}");
}

/// Whoever is told of what fails in an account: somebody always is.
pub(crate) async fn an_account_without_members_is_kept_by_those_above(bench: Bench) {
    let root = bench.root("acme").await;
    let members = bench.store.members();
    let [boss, manager, clerk] = [(); 3].map(|()| bench.id::<User>());
    for (user, role) in [(boss, Role::Admin), (manager, Role::Manager), (clerk, Role::Member)] {
        members.add(&Member { role, ..bench.member(user, root.id) }).await.unwrap();
    }
    let child = bench.child(root.id, "retail").await;
    assert_eq!(members.keepers(root.id).await.unwrap(), [boss, manager]);
    assert_eq!(members.keepers(child.id).await.unwrap(), [boss], "a manager's right ends here");
    let own: Id<User> = bench.id();
    members.add(&Member { role: Role::Manager, ..bench.member(own, child.id) }).await.unwrap();
    assert_eq!(members.keepers(child.id).await.unwrap(), [own]);
    assert_eq!(members.keepers(bench.id()).await.unwrap(), []);
}

pub(crate) async fn a_tree_has_a_bound_in_both_directions(bench: Bench) {
    let root = bench.root("acme").await;
    let accounts = bench.store.accounts();
    let mut above = root.id;
    for level in 1..limits::ACCOUNT_LEVELS_MAX {
        above = bench.child(above, &format!("l{level}")).await.id;
    }
    let refused = accounts.create_child(above, &bench.new_child("one too many")).await;
    assert!(matches!(refused, Err(TreeError::TooDeep)), "{refused:?}");
    assert_eq!(accounts.lineage(above).await.unwrap().len(), 8);

    let was = bench.account_now(root.id).await;
    let full = Account { child_count: limits::ACCOUNT_CHILDREN_MAX, ..was.record.clone() };
    accounts.replace(&was, full).await.unwrap();
    let refused = accounts.create_child(root.id, &bench.new_child("one too many")).await;
    assert!(matches!(refused, Err(TreeError::TooMany)), "{refused:?}");
}

pub(crate) async fn of_many_children_at_once_all_are_counted(bench: Bench) {
    let root = bench.root("acme").await;
    let mut racers = JoinSet::new();
    for place in 0..4 {
        let (store, new) = (bench.store.clone(), bench.new_child(&format!("c{place}")));
        racers.spawn(async move { store.accounts().create_child(root.id, &new).await });
    }
    for created in racers.join_all().await {
        created.unwrap();
    }
    assert_eq!(bench.account_now(root.id).await.child_count, 4);
    let list = async |slice| bench.store.accounts().list_children(root.id, None, slice).await;
    assert_eq!(all(Slice::default(), list).await.len(), 4);
}

pub(crate) async fn a_renamed_account_takes_the_paths_beneath_it_along(bench: Bench) {
    let root = bench.root("acme").await;
    let left = bench.child(root.id, "left").await;
    let leaf = bench.child(left.id, "leaf").await;
    let right = bench.child(root.id, "right").await;
    let path = async |id| bench.account_now(id).await.record.path;

    let was = bench.account_now(root.id).await;
    let now = was.renamed("emca", bench.now());
    bench.store.accounts().rename(&was, now).await.unwrap();
    assert_eq!(path(root.id).await, "/emca/");
    assert_eq!(path(leaf.id).await, "/emca/left/leaf/");
    assert_eq!(path(right.id).await, "/emca/right/");

    // One that was decided on an older view of the tree is refused.
    let was = bench.account_now(left.id).await;
    bench.child(left.id, "new").await;
    let stale = bench.store.accounts().rename(&was, was.renamed("l", bench.now())).await;
    assert!(stale.is_err(), "{stale:?}");
    assert_eq!(path(leaf.id).await, "/emca/left/leaf/");
}

pub(crate) async fn an_account_with_too_many_beneath_keeps_its_name(bench: Bench) {
    let root = bench.root("acme").await;
    let was = bench.account_now(root.id).await;
    let crowded = Account { child_count: 99, ..was.record.clone() };
    let was = bench.store.accounts().replace(&was, crowded).await.unwrap();
    let refused = bench.store.accounts().rename(&was, was.renamed("x", bench.now())).await;
    assert!(matches!(refused, Err(TreeError::TooManyToRename)), "{refused:?}");
}

pub(crate) async fn an_account_is_as_badly_off_as_the_one_above(bench: Bench) {
    let root = bench.root("acme").await;
    let child = bench.child(root.id, "retail").await;
    let accounts = bench.store.accounts();
    assert_eq!(accounts.status(child.id).await.unwrap(), Some(Status::Active));
    let was = bench.account_now(root.id).await;
    let was = accounts.set_status(&was, Status::Suspended).await.unwrap();
    assert_eq!(accounts.status(child.id).await.unwrap(), Some(Status::Suspended));
    assert_eq!(bench.account_now(child.id).await.status, Status::Active, "its own");
    accounts.set_status(&was, Status::Active).await.unwrap();
    assert_eq!(accounts.status(child.id).await.unwrap(), Some(Status::Active));
    assert_eq!(accounts.status(bench.id()).await.unwrap(), None);
}

pub(crate) async fn an_account_ends_after_those_beneath_it(bench: Bench) {
    let root = bench.root("acme").await;
    let child = bench.child(root.id, "retail").await;
    let accounts = bench.store.accounts();
    let was = bench.account_now(root.id).await;
    let refused = accounts.set_status(&was, Status::Terminated).await;
    assert!(matches!(refused, Err(TreeError::HasChildren)), "{refused:?}");

    let was = bench.account_now(child.id).await;
    let ended = accounts.set_status(&was, Status::Terminated).await.unwrap();
    assert_eq!(bench.account_now(root.id).await.child_count, 0);
    accounts.set_status(&ended, Status::Terminated).await.unwrap();
    assert_eq!(bench.account_now(root.id).await.child_count, 0, "counted once");
    let refused = accounts.create_child(child.id, &bench.new_child("late")).await;
    assert!(matches!(refused, Err(TreeError::Closed)), "{refused:?}");
    let was = bench.account_now(root.id).await;
    accounts.set_status(&was, Status::Terminated).await.unwrap();
}

pub(crate) async fn an_administrator_is_one_in_all_accounts_beneath(bench: Bench) {
    let root = bench.root("acme").await;
    let child = bench.child(root.id, "retail").await;
    let leaf = bench.child(child.id, "berlin").await;
    let (admin, manager) =
        (bench.joins(root.id, Role::Admin).await, bench.joins(root.id, Role::Manager).await);
    let viewer = bench.joins(leaf.id, Role::Viewer).await;
    let members = bench.store.members();
    let stands = async |user, account: Id<Account>| {
        let standing = members.standing(user, account).await.unwrap();
        standing.map(|standing| (standing.role, standing.through))
    };
    assert_eq!(stands(admin.user_id, leaf.id).await, Some((Role::Admin, root.id)));
    assert_eq!(stands(manager.user_id, root.id).await, Some((Role::Manager, root.id)));
    assert_eq!(stands(manager.user_id, leaf.id).await, None, "lesser roles stay where they are");
    assert_eq!(stands(viewer.user_id, leaf.id).await, Some((Role::Viewer, leaf.id)));
    assert_eq!(stands(viewer.user_id, child.id).await, None, "nobody stands further up");
    assert_eq!(stands(admin.user_id, bench.id()).await, None);

    // Whoever is less in the child than above is what they are above.
    let less =
        Member { role: Role::Viewer, is_default: false, ..bench.member(admin.user_id, leaf.id) };
    members.add(&less).await.unwrap();
    assert_eq!(stands(admin.user_id, leaf.id).await, Some((Role::Admin, root.id)));
}

pub(crate) async fn one_who_is_suspended_stands_nowhere(bench: Bench) {
    let root = bench.root("acme").await;
    let member = bench.joins(root.id, Role::Manager).await;
    let members = bench.store.members();
    let suspended = Member { status: member::Status::Suspended, ..member.record.clone() };
    members.replace(&member, suspended).await.unwrap();
    assert!(members.standing(member.user_id, root.id).await.unwrap().is_none());

    let admin = bench.joins(root.id, Role::Admin).await;
    let suspended = Member { status: member::Status::Suspended, ..admin.record.clone() };
    let refused = members.replace(&admin, suspended).await;
    assert!(matches!(refused, Err(MemberError::AdminSuspended)), "{refused:?}");
}

pub(crate) async fn members_change_roles_and_leave(bench: Bench) {
    let account = bench.root("acme").await.id;
    let members = bench.store.members();
    bench.joins(account, Role::Admin).await;
    let was = bench.joins(account, Role::Admin).await;
    let now = Member { role: Role::Viewer, ..was.record.clone() };
    let was = members.replace(&was, now).await.unwrap();
    let with = async |role| {
        let page = members.list_by_account(account, role, Slice::default());
        page.await.unwrap().rows.len()
    };
    assert_eq!(with(Some(Role::Admin)).await, 1);
    assert_eq!(with(Some(Role::Viewer)).await, 1);
    members.remove(&was).await.unwrap();
    assert_eq!(with(None).await, 1);
    assert!(bench.member_now(&was).await.is_none());
}

pub(crate) async fn the_last_administrator_stays(bench: Bench) {
    let account = bench.root("acme").await.id;
    let members = bench.store.members();
    let only = bench.joins(account, Role::Admin).await;
    bench.joins(account, Role::Manager).await;
    let less = Member { role: Role::Manager, ..only.record.clone() };
    let refused = members.replace(&only, less.clone()).await;
    assert!(matches!(refused, Err(MemberError::LastAdmin)), "{refused:?}");
    let refused = members.remove(&only).await;
    assert!(matches!(refused, Err(MemberError::LastAdmin)), "{refused:?}");
    // An administrator of another account is of no help.
    bench.joins(bench.root("other").await.id, Role::Admin).await;
    assert!(members.remove(&only).await.is_err());
    bench.joins(account, Role::Admin).await;
    members.replace(&only, less).await.unwrap();
    // Beneath, those above can always act.
    let child = bench.child(account, "retail").await;
    let only = bench.joins(child.id, Role::Admin).await;
    members.remove(&only).await.unwrap();
}

/// Each takes the role from the next, all at the same time: one is left.
pub(crate) async fn two_administrators_cannot_remove_each_other(bench: Bench) {
    for count in [2, 2, 2, 3, 5] {
        let account = bench.root("acme").await.id;
        let mut admins = Vec::new();
        for _ in 0..count {
            admins.push(bench.joins(account, Role::Admin).await);
        }
        let mut racers = JoinSet::new();
        for (place, admin) in admins.into_iter().enumerate() {
            let store = bench.store.clone();
            racers.spawn(async move {
                let less = Member { role: Role::Viewer, ..admin.record.clone() };
                match place % 2 {
                    0 => store.members().replace(&admin, less).await.map(|_| ()),
                    _ => store.members().remove(&admin).await,
                }
            });
        }
        let results = racers.join_all().await;
        let list = async |slice| {
            bench.store.members().list_by_account(account, Some(Role::Admin), slice).await
        };
        let left = all(Slice::default(), list).await.len();
        assert!(left >= 1, "{results:?}");
        assert_eq!(left, results.iter().filter(|result| result.is_err()).count());
    }
}

/// Rows that were deleted and inserted again have the same revision: the role is what counts.
pub(crate) async fn one_who_came_back_as_less_is_no_administrator(bench: Bench) {
    let account = bench.root("acme").await.id;
    let members = bench.store.members();
    let (first, second) =
        (bench.joins(account, Role::Admin).await, bench.joins(account, Role::Admin).await);
    members.remove(&second).await.unwrap();
    let back = Member { role: Role::Viewer, ..second.record.clone() };
    members.add(&back).await.unwrap();
    assert_eq!(bench.member_now(&back).await.unwrap().revision, second.revision);
    let refused = members.remove(&first).await;
    assert!(matches!(refused, Err(MemberError::LastAdmin)), "{refused:?}");
}

pub(crate) async fn one_who_leaves_their_default_account_gets_another(bench: Bench) {
    let user = bench.person().await;
    let (first, second) = (bench.root("a").await.id, bench.root("b").await.id);
    let members = bench.store.members();
    for account in [first, second] {
        let place = Member { is_default: false, ..bench.member(user.id, account) };
        members.add(&place).await.unwrap();
        bench.joins(account, Role::Admin).await;
    }
    members.make_default(user.id, first).await.unwrap();
    let was = members.find(user.id, first).await.unwrap().unwrap();
    members.remove(&was).await.unwrap();
    assert_eq!(bench.user_now(user.id).await.default_account_id, second);
    let was = members.find(user.id, second).await.unwrap().unwrap();
    assert!(was.is_default);
    members.remove(&was).await.unwrap();
    assert_eq!(bench.user_now(user.id).await.default_account_id, second, "there is no other");
}

pub(crate) async fn a_default_account_is_one(bench: Bench) {
    let user = bench.person().await;
    let accounts = [bench.root("a").await.id, bench.root("b").await.id];
    let members = bench.store.members();
    for account in accounts {
        let place = Member { is_default: false, ..bench.member(user.id, account) };
        members.add(&place).await.unwrap();
    }
    for (here, there) in [(0, 1), (1, 0), (0, 1), (0, 1)] {
        let (here, there) = (accounts[here], accounts[there]);
        members.make_default(user.id, here).await.unwrap();
        assert_eq!(bench.user_now(user.id).await.default_account_id, here);
        assert!(members.find(user.id, here).await.unwrap().unwrap().is_default);
        assert!(!members.find(user.id, there).await.unwrap().unwrap().is_default);
    }
    // Also one in which they have no place of their own.
    let beneath = bench.child(accounts[0], "beneath").await.id;
    members.make_default(user.id, beneath).await.unwrap();
    assert_eq!(bench.user_now(user.id).await.default_account_id, beneath);
    assert!(!members.find(user.id, accounts[0]).await.unwrap().unwrap().is_default);
}

pub(crate) async fn an_invitation_is_found_by_its_token(bench: Bench) {
    let account = bench.root("acme").await.id;
    let (invitation, token) = bench.invites(account, "grace@example.com").await;
    bench.invites(account, "ada@example.com").await;
    bench.invites(bench.root("other").await.id, "ada@example.com").await;
    assert_eq!(bench.opened(&token).await.unwrap().record, invitation);
    let list = async |slice| bench.store.invitations().list_by_account(account, slice).await;
    assert_eq!(all(Slice::default().limit(1), list).await.len(), 2);
    // The place is right and the secret is not.
    let text = token.text();
    let cut = text.expose().len() - 32;
    let guess = format!("{}{}", &text.expose()[..cut], "0".repeat(32));
    assert!(bench.opened(&Token::parse(&guess).unwrap()).await.is_none());
}

pub(crate) async fn an_invitation_is_accepted_once(bench: Bench) {
    let account = bench.root("acme").await.id;
    let user = bench.person().await;
    let (invitation, token) = bench.invites(account, &user.email.to_uppercase()).await;
    let was = bench.opened(&token).await.unwrap();
    let mut racers = JoinSet::new();
    for _ in 0..8 {
        let (store, was, user) = (bench.store.clone(), was.clone(), user.clone());
        racers.spawn(async move { store.invitations().accept(&was, &user).await });
    }
    let results = racers.join_all().await;
    assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 1, "{results:?}");
    let member = bench.store.members().find(user.id, account).await.unwrap().unwrap();
    assert_eq!((member.role, member.invited_by), (Role::Member, Some(invitation.invited_by)));
    let used = bench.store.invitations().find(account, invitation.id).await.unwrap().unwrap();
    assert_eq!((used.status, used.user_id), (invitation::Status::Accepted, Some(user.id)));
    assert!(bench.opened(&token).await.is_none());
}

/// Nobody joins an account that is full, and whoever leaves makes room.
pub(crate) async fn an_account_has_room_for_so_many_members(bench: Bench) {
    let limits = plan::Limits { users: Some(3), ..plan::Limits::default() };
    let plan = Plan { limits, ..bench.plan("seats") };
    bench.store.plans().create(&plan).await.unwrap();
    let owner = User { plan: plan.id.clone(), ..bench.user() };
    let account = Account::root(bench.id(), "acme", owner.id, bench.later(0).minute());
    let first = Member { user_id: owner.id, account_id: account.id, ..samples::member() };
    bench.store.users().sign_up(&owner, &account, &first).await.unwrap();
    let account = account.id;

    let (ada, bob) = (bench.person().await, bench.person().await);
    let (_, ada_token) = bench.invites(account, &ada.email).await;
    let was = bench.opened(&ada_token).await.unwrap();
    // With the owner and the one who invites.
    bench.store.invitations().accept(&was, &ada).await.unwrap();
    let host = was.invited_by;
    let (invitation, bob_token) =
        Invitation::new(account, &bob.email, Role::Member, host, &bench.env);
    bench.store.invitations().create(&invitation).await.unwrap();
    let was = bench.opened(&bob_token).await.unwrap();
    let full = bench.store.invitations().accept(&was, &bob).await;
    assert!(matches!(full, Err(JoinError::Full { most: 3 })), "{full:?}");
    let place = bench.store.members().find(ada.id, account).await.unwrap().unwrap();
    bench.store.members().remove(&place).await.unwrap();
    bench.store.invitations().accept(&was, &bob).await.unwrap();
    let count = bench.store.plan_counts().find(account, Counted::Users).await.unwrap().unwrap();
    assert_eq!(count.count, 3);
}

pub(crate) async fn an_invitation_is_for_one_address(bench: Bench) {
    let account = bench.root("acme").await.id;
    let (_, token) = bench.invites(account, "grace@example.com").await;
    let was = bench.opened(&token).await.unwrap();
    let other = bench.person().await;
    let refused = bench.store.invitations().accept(&was, &other).await;
    assert!(matches!(refused, Err(JoinError::Void)), "{refused:?}");
    assert!(bench.opened(&token).await.is_some());
}

/// However many invite at once, and whatever became of those of today.
pub(crate) async fn an_account_has_a_bound_for_invitations(bench: Bench) {
    let account = bench.root("acme").await.id;
    let host = bench.joins(account, Role::Manager).await.user_id;
    let new = || Invitation::new(account, "grace@example.com", Role::Member, host, &bench.env).0;
    for _ in 0..limits::INVITATIONS_OPEN_MAX - 2 {
        bench.commit(Batch::new().insert(&new())).await.unwrap();
    }
    let mut racers = JoinSet::new();
    for invitation in std::iter::repeat_with(new).take(6) {
        let store = bench.store.clone();
        racers.spawn(async move { store.invitations().create(&invitation).await });
    }
    let done = racers.join_all().await;
    let is_bound = |done: &Result<(), _>| matches!(done, Ok(()) | Err(InviteError::TooManyOpen));
    assert!(done.iter().all(is_bound), "{done:?}");
    assert_eq!(done.iter().filter(|done| done.is_ok()).count(), 2);

    let other = bench.root("other").await.id;
    for _ in 0..limits::INVITATIONS_A_DAY_MAX {
        let status = invitation::Status::Revoked;
        let gone = Invitation { account_id: other, status, ..new() };
        bench.commit(Batch::new().insert(&gone)).await.unwrap();
    }
    let one_more = async || {
        let invitation = Invitation { account_id: other, ..new() };
        bench.store.invitations().create(&invitation).await
    };
    let wait = match one_more().await {
        Err(InviteError::TooManyToday { wait }) => wait,
        other => panic!("{other:?}"),
    };
    bench.clock.advance(wait);
    one_more().await.unwrap();
}

pub(crate) async fn a_suspended_account_takes_nobody_in(bench: Bench) {
    let root = bench.root("acme").await;
    let child = bench.child(root.id, "retail").await;
    let user = bench.person().await;
    let (_, token) = bench.invites(child.id, &user.email).await;
    let was = bench.opened(&token).await.unwrap();
    let above = bench.account_now(root.id).await;
    let above = bench.store.accounts().set_status(&above, Status::Suspended).await.unwrap();
    let refused = bench.store.invitations().accept(&was, &user).await;
    assert!(matches!(refused, Err(JoinError::Closed)), "{refused:?}");
    bench.store.accounts().set_status(&above, Status::Active).await.unwrap();
    bench.store.invitations().accept(&was, &user).await.unwrap();
}

/// What somebody gave out who was removed since gives no place any more.
pub(crate) async fn an_invitation_ends_with_its_host(bench: Bench) {
    let account = bench.root("acme").await.id;
    let user = bench.person().await;
    let (invitation, token) = bench.invites(account, &user.email).await;
    let was = bench.opened(&token).await.unwrap();
    let host = bench.store.members().find(invitation.invited_by, account).await.unwrap().unwrap();
    bench.store.members().remove(&host).await.unwrap();
    let refused = bench.store.invitations().accept(&was, &user).await;
    assert!(matches!(refused, Err(JoinError::Void)), "{refused:?}");
    assert!(bench.store.members().find(user.id, account).await.unwrap().is_none());
}

pub(crate) async fn a_member_needs_no_invitation(bench: Bench) {
    let account = bench.root("acme").await.id;
    let user = bench.person().await;
    bench.store.members().add(&bench.member(user.id, account)).await.unwrap();
    let (_, token) = bench.invites(account, &user.email).await;
    let was = bench.opened(&token).await.unwrap();
    let refused = bench.store.invitations().accept(&was, &user).await;
    assert!(matches!(refused, Err(JoinError::Member)), "{refused:?}");
    let member = bench.store.members().find(user.id, account).await.unwrap().unwrap();
    assert_eq!(member.role, Role::Admin, "as it was");
    assert!(bench.opened(&token).await.is_some());
}

pub(crate) async fn a_revoked_invitation_opens_nothing(bench: Bench) {
    let account = bench.root("acme").await.id;
    let user = bench.person().await;
    let (_, token) = bench.invites(account, &user.email).await;
    let was = bench.opened(&token).await.unwrap();
    bench.store.invitations().revoke(&was).await.unwrap();
    assert!(bench.opened(&token).await.is_none());
    // Also for one who looked before.
    let refused = bench.store.invitations().accept(&was, &user).await;
    assert!(matches!(refused, Err(JoinError::Void)), "{refused:?}");
    assert!(bench.store.members().find(user.id, account).await.unwrap().is_none());
}

pub(crate) async fn an_invitation_goes_a_while_after_its_end(bench: Bench) {
    let account = bench.root("acme").await.id;
    let user = bench.person().await;
    let (invitation, token) = bench.invites(account, &user.email).await;
    let was = bench.opened(&token).await.unwrap();
    bench.advance(limits::INVITATION_LIVES.as_secs());
    assert!(bench.opened(&token).await.is_none());
    let refused = bench.store.invitations().accept(&was, &user).await;
    assert!(matches!(refused, Err(JoinError::Void)), "{refused:?}");
    let found = async || bench.store.invitations().find(account, invitation.id).await.unwrap();
    assert!(found().await.is_some());
    bench.advance(limits::INVITATION_KEPT.as_secs());
    assert!(found().await.is_none());
}

pub(crate) async fn one_who_is_invited_signs_up_or_nothing_happens(bench: Bench) {
    let account = bench.root("acme").await.id;
    let user = User { default_account_id: account, ..bench.user() };
    let (_, token) = bench.invites(account, &user.email).await;
    let was = bench.opened(&token).await.unwrap();
    let invitations = bench.store.invitations();
    let other = User { email: bench.user().email, ..user.clone() };
    let refused = invitations.sign_up(&was, &other, None).await;
    assert!(matches!(refused, Err(JoinError::Void)), "{refused:?}");
    assert!(bench.store.users().find(user.id).await.unwrap().is_none());

    let member = invitations.sign_up(&was, &user, None).await.unwrap();
    assert!(member.is_default);
    assert_eq!(bench.member_now(&member).await.unwrap().record, member);
    assert_eq!(bench.user_now(user.id).await.record, user);
    // The address is taken and the invitation used.
    let (_, second) = bench.invites(account, &user.email).await;
    let second = bench.opened(&second).await.unwrap();
    let again = User { id: bench.id(), ..user.clone() };
    let refused = invitations.sign_up(&second, &again, None).await;
    assert!(matches!(refused, Err(JoinError::EmailTaken)), "{refused:?}");
    let refused = invitations.sign_up(&was, &again, None).await;
    assert!(matches!(refused, Err(JoinError::Void)), "{refused:?}");
}

pub(crate) async fn a_revoked_key_is_found_as_revoked_at_once(bench: Bench) {
    let keys = bench.store.keys();
    for _ in 0..5 {
        let key = bench.key(bench.home());
        keys.create(&key).await.unwrap();
        let found = keys.find_by_hash(key.hash.expose()).await.unwrap().unwrap();
        assert_eq!(found.status, key::Status::Active);
        keys.revoke(key.account_id, key.id).await.unwrap().unwrap();
        let found = keys.find_by_hash(key.hash.expose()).await.unwrap().unwrap();
        assert_eq!(found.status, key::Status::Revoked);
        let again = keys.revoke(key.account_id, key.id).await.unwrap().unwrap();
        assert_eq!(again.revision, found.revision, "nothing is written twice");
    }
    assert!(keys.revoke(bench.id(), bench.id()).await.unwrap().is_none());
}

pub(crate) async fn a_key_is_revoked_while_it_is_used(bench: Bench) {
    let key = bench.key(bench.home());
    bench.store.keys().create(&key).await.unwrap();
    let mut racers = JoinSet::new();
    for _ in 0..4 {
        let (store, now) = (bench.store.clone(), bench.now());
        racers.spawn(async move {
            for _ in 0..4 {
                store.keys().touch(key.user_id, key.id, now).await.unwrap();
            }
        });
    }
    bench.store.keys().revoke(key.account_id, key.id).await.unwrap().unwrap();
    racers.join_all().await;
    let found = bench.store.keys().find_by_hash(key.hash.expose()).await.unwrap().unwrap();
    assert_eq!(found.status, key::Status::Revoked);
    assert_eq!(found.last_used_at, Some(bench.now()));
}

/// However many make one at once.
pub(crate) async fn an_account_has_a_bound_for_keys(bench: Bench) {
    let account = bench.root("acme").await.id;
    let most = limits::KEYS_PER_ACCOUNT_MAX;
    let new = || Key { account_id: account, expires_at: None, ..bench.key(bench.home()) };
    let mut first = None;
    for _ in 0..most - 2 {
        let key = new();
        bench.store.keys().create(&key).await.unwrap();
        first.get_or_insert(key.id);
    }
    let made = async |count: usize| {
        let mut racers = JoinSet::new();
        for key in std::iter::repeat_with(new).take(count) {
            let store = bench.store.clone();
            racers.spawn(async move { store.keys().create_within_bounds(&key).await });
        }
        let done = racers.join_all().await;
        let is_bound =
            |done: &Result<(), KeyError>| matches!(done, Ok(()) | Err(KeyError::TooMany));
        assert!(done.iter().all(is_bound), "{done:?}");
        done.into_iter().filter(Result::is_ok).count()
    };
    assert_eq!(made(6).await, 2);
    assert_eq!(bench.account_now(account).await.key_count, Some(most));
    // One that ends makes room for another.
    bench.store.keys().revoke(account, first.unwrap()).await.unwrap().unwrap();
    assert_eq!(made(3).await, 1);
}

pub(crate) async fn a_key_with_an_old_marker_is_found(bench: Bench) {
    let key = bench.key(bench.home());
    let value = format!("KEYHASH#{}", key.hash.expose());
    let marker = Unique { value, owner_id: key.id.to_string(), user_id: None };
    bench.commit(Batch::new().insert(&marker).insert(&key)).await.unwrap();
    let keys = bench.store.keys();
    let was = keys.find_by_hash(key.hash.expose()).await.unwrap().unwrap();
    assert_eq!(was.record, key);
    let revoked = Key { status: key::Status::Revoked, ..key.clone() };
    keys.replace(&was, revoked).await.unwrap();
    let found = keys.find_by_hash(key.hash.expose()).await.unwrap().unwrap();
    assert_eq!(found.status, key::Status::Revoked);
}

pub(crate) async fn a_key_is_found_in_its_account_only(bench: Bench) {
    let key = bench.key(bench.home());
    let keys = bench.store.keys();
    keys.create(&key).await.unwrap();
    let found = keys.find_in(key.account_id, key.id).await.unwrap().unwrap();
    assert_eq!(found.record, key);
    assert!(keys.find_in(bench.id(), key.id).await.unwrap().is_none());
    assert!(keys.find_in(key.account_id, bench.id()).await.unwrap().is_none());
    assert!(keys.revoke(bench.id(), key.id).await.unwrap().is_none());
    let found = keys.find_by_hash(key.hash.expose()).await.unwrap().unwrap();
    assert_eq!(found.status, key::Status::Active);
}

/// The only case that takes the marker, which all cases of an engine share.
pub(crate) async fn an_installation_has_one_owner(bench: Bench) {
    let mut racers = JoinSet::new();
    for _ in 0..8 {
        let user = User { id: bench.id(), email: format!("{}@x", bench.own("o")), ..bench.user() };
        let account = Account::root(user.default_account_id, "local", user.id, bench.now());
        let account = Account { id: bench.id(), ..account };
        let member = bench.member(user.id, account.id);
        let store = bench.store.clone();
        racers.spawn(async move { store.installation().found(&user, &account, &member).await });
    }
    let results = racers.join_all().await;
    assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 1, "{results:?}");
    let owned = bench.store.installation().find().await.unwrap().unwrap();
    assert_eq!(owned.account.user_id, owned.user.id);
    bench.store.installation().adopt(bench.id()).await.unwrap();
    let still = bench.store.installation().find().await.unwrap().unwrap();
    assert_eq!(still.account.id, owned.account.id);
    // The marker alone decides as well, whatever the address.
    let user = bench.user();
    let account = Account::root(bench.id(), "late", user.id, bench.now());
    let member = bench.member(user.id, account.id);
    let late = bench.store.installation().found(&user, &account, &member).await;
    assert!(matches!(late, Err(UniqueError::Taken("installation"))), "{late:?}");
}

pub(crate) async fn the_owner_is_handed_over_once(bench: Bench) {
    let owner = bench.person().await;
    let was = bench.user_now(owner.id).await;
    let mut racers = JoinSet::new();
    for place in 0..4 {
        let email = format!("{}-{place}@example.com", bench.own("new"));
        let (store, was) = (bench.store.clone(), was.clone());
        let now = User { email, ..was.record.clone() };
        racers.spawn(async move {
            let done = store.installation().hand_over(&was, &now, None).await;
            done.map(|()| now.email)
        });
    }
    let taken: Vec<_> = racers.join_all().await.into_iter().flatten().collect();
    assert_eq!(taken.len(), 1);
    let users = bench.store.users();
    assert_eq!(users.find_holder(&taken[0]).await.unwrap().unwrap().id, owner.id);
    assert!(users.find_holder(&owner.email).await.unwrap().is_none());
    let other = bench.person().await;
    let was = bench.user_now(owner.id).await;
    let now = User { email: other.email, ..was.record.clone() };
    let refused = bench.store.installation().hand_over(&was, &now, None).await;
    assert!(matches!(refused, Err(UniqueError::Taken(_))), "{refused:?}");
}
