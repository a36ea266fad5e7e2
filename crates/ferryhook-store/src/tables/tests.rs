use super::*;

/// The place of a table or index in its enum is written into every stored key.
#[test]
fn places_on_disk_never_move() {
    for (place, table) in Table::ALL.into_iter().enumerate() {
        assert_eq!(table as usize, place);
    }
    for (place, index) in Index::ALL.into_iter().enumerate() {
        assert_eq!(index as usize, place);
    }
    assert_eq!(Table::OauthStates as u8, 12);
    assert_eq!(Index::PlanCatalogue as u8, 20);
    assert_eq!(Index::HookLanes as u8, 21);
}

#[test]
fn names_are_unique() {
    for table in Table::ALL {
        let mut names: Vec<_> = table.indexes().map(|index| index.shape().name).collect();
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all, "{table:?}");
    }
    let mut names: Vec<_> = Table::ALL.map(Table::name).to_vec();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), Table::ALL.len());
}
