//! The schema
use crate::tables::Table;
/// What the tables are called in one deployment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Names {
    pub prefix: String,
    pub ledger: String,
}

impl Names {
    pub fn of(&self, table: Table) -> String {
        match table {
            Table::Ledger => self.ledger.clone(),
            table => format!("{}{}", self.prefix, table.name()),
        }
    }
}
