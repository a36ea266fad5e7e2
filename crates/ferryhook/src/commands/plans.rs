//! `ferryhook plans`: what is sold, for how much, and who has it.

use std::io::Write;
use std::process::ExitCode;

use ferryhook_core::Plan;
use serde_json::Value;

use super::columns::{Columns, or_dash, plain};
use super::{answered, print_json, runtime};
use crate::cli::{PlansAssign, PlansCommand, PlansEdit, PlansList, PlansOf};
use crate::config::Config;
use crate::desk::{self, Asked, Assigned, PlanOrder};

pub fn run(command: &PlansCommand) -> anyhow::Result<ExitCode> {
    match command {
        PlansCommand::List(command) => list(command),
        PlansCommand::Get(command) => show(command, PlanOrder::Get(command.plan.clone())),
        PlansCommand::Retire(command) => show(command, PlanOrder::Retire(command.plan.clone())),
        PlansCommand::Set(command) => edit(command, PlanOrder::Set),
        PlansCommand::Create(command) => edit(command, PlanOrder::Create),
        PlansCommand::Assign(command) => assign(command),
    }
}

fn list(command: &PlansList) -> anyhow::Result<ExitCode> {
    let (config, values) = Config::load(&command.flags.0)?;
    let asked = Asked::Plans(PlanOrder::List);
    let answer = runtime()?.block_on(desk::ask::<Vec<Plan>>(&config, &values, asked));
    answered(answer, |plans| match command.json {
        true => print_json(&plans),
        false => print_list(&plans),
    })
}

fn print_list(plans: &[Plan]) -> anyhow::Result<()> {
    let mut columns = Columns::new([
        "PLAN",
        "NAME",
        "PRICE",
        "EVENTS/MONTH",
        "EVENTS/MIN",
        "DAYS KEPT",
        "STRIPE PRICE",
        "",
    ]);
    for plan in plans {
        let limits = &plan.limits;
        columns.line([
            plan.id.clone(),
            plan.name.clone(),
            price(plan),
            or_dash(limits.events_per_month),
            or_dash(limits.events_per_minute),
            or_dash(limits.data_retention_days),
            or_dash(plan.stripe_price()),
            marks(plan),
        ]);
    }
    Ok(write!(std::io::stdout().lock(), "{}", columns.show())?)
}

fn price(plan: &Plan) -> String {
    format!("{}.{:02} {}", plan.price_cents / 100, plan.price_cents % 100, plan.currency)
}

fn marks(plan: &Plan) -> String {
    let marks = [(plan.is_default, "default"), (!plan.is_active, "retired")];
    let marks = marks.into_iter().filter_map(|(is, word)| is.then_some(word));
    marks.collect::<Vec<_>>().join(", ")
}

fn edit(
    command: &PlansEdit,
    order: fn(String, ferryhook_core::plan::Edit) -> PlanOrder,
) -> anyhow::Result<ExitCode> {
    let order = order(command.plan.clone(), command.fields.edit());
    let (config, values) = Config::load(&command.flags.0)?;
    let answer = runtime()?.block_on(desk::ask::<Plan>(&config, &values, Asked::Plans(order)));
    answered(answer, |plan| print_plan(&plan, command.json))
}

fn show(command: &PlansOf, order: PlanOrder) -> anyhow::Result<ExitCode> {
    let (config, values) = Config::load(&command.flags.0)?;
    let answer = runtime()?.block_on(desk::ask::<Plan>(&config, &values, Asked::Plans(order)));
    answered(answer, |plan| print_plan(&plan, command.json))
}

fn print_plan(plan: &Plan, json: bool) -> anyhow::Result<()> {
    if json {
        return print_json(plan);
    }
    let mut out = std::io::stdout().lock();
    let mut line = |name: &str, value: String| writeln!(out, "{name:<18} {}", plain(&value));
    line("plan", plan.id.clone())?;
    line("name", plan.name.clone())?;
    line("type", word(&plan.kind))?;
    line("price", price(plan))?;
    line("stripe price", or_dash(plan.stripe_price()))?;
    line("on offer", if plan.is_active { "yes" } else { "no" }.to_owned())?;
    line("default", if plan.is_default { "yes" } else { "no" }.to_owned())?;
    let limits = serde_json::to_value(&plan.limits)?;
    let limits = limits.as_object().into_iter().flatten();
    for (name, limit) in limits {
        line(name, limit.as_str().map_or_else(|| limit.to_string(), str::to_owned))?;
    }
    for feature in &plan.features {
        line("feature", feature.clone())?;
    }
    Ok(())
}

fn word(value: &impl serde::Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(Value::String(word)) => word,
        _ => "-".to_owned(),
    }
}

fn assign(command: &PlansAssign) -> anyhow::Result<ExitCode> {
    let (config, values) = Config::load(&command.flags.0)?;
    let order = PlanOrder::Assign { whom: command.whom.clone(), plan: command.plan.clone() };
    let answer = runtime()?.block_on(desk::ask::<Assigned>(&config, &values, Asked::Plans(order)));
    answered(answer, |assigned| {
        if command.json {
            return print_json(&assigned);
        }
        let Assigned { email, before, after, .. } = &assigned;
        let (email, before, after) = (plain(email), plain(before), plain(after));
        Ok(writeln!(std::io::stdout().lock(), "{email} has {after} now, and had {before}")?)
    })
}
