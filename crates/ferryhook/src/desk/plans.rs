//! Plans, as the operator looks after them. What is changed here holds at once on the server that
//! does it; others that share the store follow within a minute.

use ferryhook_api::owner;
use ferryhook_api::visit::details;
use ferryhook_core::operational::Operational;
use ferryhook_core::plan::{BadPlan, Edit};
use ferryhook_core::{Account, Activity, Id, Map, Plan, User};
use ferryhook_store::{Store, StoreError, Stored};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::questions::{Answer, said};
use super::{Complaint, Desk};

/// How often somebody else may have been quicker.
const TRIES_MAX: usize = 8;

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum PlanOrder {
    /// Answered with all plans.
    List,
    /// Answered with a [`Plan`], as are the next three.
    Get(String),
    Set(String, Edit),
    Create(String, Edit),
    Retire(String),
    /// To an account, or an address. Answered with [`Assigned`].
    Assign {
        whom: String,
        plan: String,
    },
}

/// Who has got which plan.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Assigned {
    pub user_id: Id<User>,
    pub email: String,
    pub before: String,
    pub after: String,
}

impl Desk {
    pub(super) async fn plans(&self, order: PlanOrder) -> Answer<Value> {
        match order {
            PlanOrder::List => {
                let plans = self.store.plans().all().await?;
                said(plans.into_iter().map(|plan| plan.record).collect::<Vec<_>>())
            }
            PlanOrder::Get(id) => said(self.plan(&id).await?.record),
            PlanOrder::Set(id, edit) => said(self.set_plan(&id, &edit).await?),
            PlanOrder::Create(id, edit) => said(self.create_plan(&id, &edit).await?),
            PlanOrder::Retire(id) => {
                let edit = Edit { is_active: Some(false), ..Edit::default() };
                said(self.set_plan(&id, &edit).await?)
            }
            PlanOrder::Assign { whom, plan } => said(self.assign(&whom, &plan).await?),
        }
    }

    async fn plan(&self, id: &str) -> Answer<Stored<Plan>> {
        let unknown = || Complaint::NotFound(format!("there is no plan {id:?}"));
        // The store has no key without a letter.
        let found = match id.is_empty() {
            true => None,
            false => self.store.plans().find(id).await?,
        };
        found.ok_or_else(unknown)
    }

    async fn create_plan(&self, id: &str, edit: &Edit) -> Answer<Plan> {
        let plan = Plan::create(id, edit, self.env.now())?;
        self.require_unsold(&plan).await?;
        let store = self.noting("plan_created", id, details(None::<&Plan>, Some(&plan))).await?;
        let made = match plan.is_default {
            true => store.plans().make_default(None, &plan).await,
            false => store.plans().create(&plan).await,
        };
        match made {
            Err(error) if error.is_refused() => {
                Err(Complaint::Refused(format!("there is a plan {id:?} already; see plans set")))
            }
            made => Ok(made.map(|()| plan)?),
        }
    }

    async fn set_plan(&self, id: &str, edit: &Edit) -> Answer<Plan> {
        for _ in 0..TRIES_MAX {
            let was = self.plan(id).await?;
            let now = was.edited(edit, self.env.now())?;
            self.require_unsold(&now).await?;
            let details = details(Some(&was.record), Some(&now));
            let store = self.noting("plan_updated", id, details).await?;
            let done = match now.is_default && !was.is_default {
                true => store.plans().make_default(Some(&was), &now).await,
                false => store.plans().replace(&was, now.clone()).await.map(drop),
            };
            match done {
                Err(error) if error.is_refused() => {}
                done => {
                    done?;
                    // Anybody may have it.
                    self.routes.forget_all();
                    return Ok(now);
                }
            }
        }
        Err(busy())
    }

    /// Two plans with one price could not be told apart by what somebody pays.
    async fn require_unsold(&self, plan: &Plan) -> Answer<()> {
        let Some(price) = plan.stripe_price() else { return Ok(()) };
        let mut others = self.store.plans().all().await?.into_iter();
        match others.find(|other| other.id != plan.id && other.is_sold_as(price)) {
            None => Ok(()),
            Some(other) => Err(Complaint::Refused(format!(
                "{price} is, or was, the price of the plan {:?}",
                other.id
            ))),
        }
    }

    async fn assign(&self, whom: &str, plan: &str) -> Answer<Assigned> {
        let plan = self.plan(plan).await?.record;
        for _ in 0..TRIES_MAX {
            let (user, account) = self.payer(whom).await?;
            let (before, after) = (user.plan.clone(), plan.id.clone());
            let assigned = Assigned { user_id: user.id, email: user.email.clone(), before, after };
            if assigned.before == assigned.after {
                return Ok(assigned);
            }
            let plan_of = |id: &str| json!({ "plan": id });
            let details =
                details(Some(&plan_of(&assigned.before)), Some(&plan_of(&assigned.after)));
            let note = self.activity(account, "plan_changed", "user", user.id.as_str(), details);
            let store = self.store.noting(note);
            match store.users().change_plan(&user, &plan.id).await {
                Err(error) if error.is_refused() => {}
                done => {
                    done?;
                    self.routes.forget_all();
                    if let Some(courier) = &self.courier {
                        let said = Operational::plan_changed(&assigned.before, &assigned.after);
                        courier.announce(account, &said).await?;
                    }
                    return Ok(assigned);
                }
            }
        }
        Err(busy())
    }

    /// Whose plan it is, and the account that its change is told to.
    async fn payer(&self, whom: &str) -> Answer<(Stored<User>, Id<Account>)> {
        if let Ok(id) = whom.parse::<Id<Account>>() {
            let unknown = || Complaint::NotFound(format!("there is no account {id}"));
            let account = self.store.accounts().find(id).await?.ok_or_else(unknown)?;
            let user = self.store.users().find(account.user_id).await?.ok_or_else(unknown)?;
            return Ok((user, id));
        }
        let unknown = || Complaint::NotFound(format!("nobody here has the address {whom:?}"));
        let user = match whom.contains('@') {
            true => self.store.users().find_holder(whom).await?.ok_or_else(unknown)?,
            false => return Err(unknown()),
        };
        let account = user.default_account_id;
        Ok((user, account))
    }

    /// With a line in the log of the installation's own account, once there is one.
    async fn noting(&self, event_type: &str, id: &str, details: Map) -> Result<Store, StoreError> {
        let Some(owner) = owner::find(&self.store).await? else { return Ok(self.store.clone()) };
        let note = self.activity(owner.account, event_type, "plan", id, details);
        Ok(self.store.noting(note))
    }

    fn activity(
        &self,
        account_id: Id<Account>,
        event_type: &str,
        resource: &str,
        id: &str,
        details: Map,
    ) -> Activity {
        Activity {
            account_id,
            id: Id::new(&self.env),
            at: self.env.now(),
            user_id: None,
            event_type: event_type.to_owned(),
            resource: resource.to_owned(),
            resource_id: Some(id.to_owned()),
            action: event_type.rsplit('_').next().unwrap_or_default().to_owned(),
            details: Some(details),
            ip_address: None,
            user_agent: None,
            number: None,
            previous_hash: None,
            hash: None,
        }
    }
}

fn busy() -> Complaint {
    Complaint::Refused("somebody else changes it all the time; try again".to_owned())
}

impl From<BadPlan> for Complaint {
    fn from(error: BadPlan) -> Self {
        Self::Refused(error.to_string())
    }
}
