use super::*;

#[test]
fn columns_are_as_wide_as_what_is_in_them() {
    let mut columns = Columns::new(["ID", "NAME", "STATE"]);
    columns.line(["1".into(), "a long name".into(), "done".into()]);
    columns.line(["22".into(), or_dash(None::<&str>), String::new()]);
    insta::assert_snapshot!(columns.show(), @r"
    ID  NAME         STATE
    1   a long name  done
    22  -
    ");
}

/// An event type can carry anything, also what clears a screen.
#[test]
fn a_terminal_is_told_nothing_by_strangers() {
    assert_eq!(plain("\u{1b}[2Jgone\r\n\u{9b}31m"), r"\u{1b}[2Jgone\r\n\u{9b}31m");
    assert_eq!(plain("Grüße"), "Grüße");
}
