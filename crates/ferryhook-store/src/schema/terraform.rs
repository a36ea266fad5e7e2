//! The same tables for who keeps infrastructure in Terraform.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::Names;
use crate::tables::{Capacity, KeyAttribute, Table};

/// A `.tf.json` document with one `aws_dynamodb_table` for each table.
pub fn terraform(names: &Names) -> String {
    let tables: serde_json::Map<_, _> = Table::ALL
        .into_iter()
        .map(|table| (table.name().to_owned(), resource(table, names)))
        .collect();
    let document = json!({ "resource": { "aws_dynamodb_table": tables } });
    format!("{document:#}\n")
}

fn resource(table: Table, names: &Names) -> Value {
    let shape = table.shape();
    let mut resource = json!({ "name": names.of(table) });
    let mut set = |name: &str, value: Value| resource[name] = value;
    match shape.capacity {
        Capacity::OnDemand => set("billing_mode", json!("PAY_PER_REQUEST")),
        Capacity::Provisioned { read, write } => {
            set("billing_mode", json!("PROVISIONED"));
            set("read_capacity", json!(read));
            set("write_capacity", json!(write));
        }
    }
    set("hash_key", json!(shape.partition.name));
    if let Some(sort) = shape.sort {
        set("range_key", json!(sort.name));
    }
    let attributes = key_attributes(table);
    let attributes = attributes.iter().map(|(name, attribute)| {
        let kind = if attribute.numeric { "N" } else { "S" };
        json!({ "name": name, "type": kind })
    });
    set("attribute", attributes.collect());
    let indexes: Vec<_> = indexes(table).collect();
    if !indexes.is_empty() {
        set("global_secondary_index", json!(indexes));
    }
    if let Some(attribute) = shape.expiry {
        set("ttl", json!({ "attribute_name": attribute, "enabled": true }));
    }
    if shape.stream {
        set("stream_enabled", json!(true));
        set("stream_view_type", json!("NEW_IMAGE"));
    }
    if shape.point_in_time_recovery {
        set("point_in_time_recovery", json!({ "enabled": true }));
    }
    set("server_side_encryption", json!({ "enabled": true }));
    resource
}

fn indexes(table: Table) -> impl Iterator<Item = Value> {
    table.indexes().map(move |index| {
        let shape = index.shape();
        let mut index = json!({ "name": shape.name, "hash_key": shape.partition.name });
        if let Some(sort) = shape.sort {
            index["range_key"] = json!(sort.name);
        }
        index["projection_type"] = json!("ALL");
        if let Capacity::Provisioned { read, write } = table.shape().capacity {
            index["read_capacity"] = json!(read);
            index["write_capacity"] = json!(write);
        }
        index
    })
}

/// Every attribute that is part of some key of the table, once.
pub(crate) fn key_attributes(table: Table) -> BTreeMap<&'static str, KeyAttribute> {
    let shape = table.shape();
    let of_indexes = table.indexes().flat_map(|index| {
        let shape = index.shape();
        [Some(shape.partition), shape.sort]
    });
    [Some(shape.partition), shape.sort]
        .into_iter()
        .chain(of_indexes)
        .flatten()
        .map(|attribute| (attribute.name, attribute))
        .collect()
}
