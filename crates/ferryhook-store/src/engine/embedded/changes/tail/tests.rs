use super::*;

fn frame(offset: u32, bytes: usize) -> Arc<Frame> {
    let at = Position { segment: 1, offset };
    Arc::new(Frame { at, bytes: vec![0; bytes], rows: Vec::new() })
}

fn kept(tail: &Tail) -> Vec<u32> {
    lock(&tail.0).frames.iter().map(|frame| frame.at.offset).collect()
}

#[test]
fn the_newest_are_kept_as_far_as_they_fit() {
    let tail = Tail::default();
    for offset in [10, 20, 15, 20, 30] {
        tail.add(&frame(offset, TAIL_BYTES_MAX / 2), 0);
    }
    assert_eq!(kept(&tail), [20, 30]);
    tail.add(&frame(40, TAIL_BYTES_MAX + 1), 0);
    assert_eq!(kept(&tail), [20, 30], "that would be too much");
    assert!(tail.find(Position { segment: 1, offset: 30 }).is_some());
    assert!(tail.find(Position { segment: 2, offset: 30 }).is_none());
}

#[test]
fn what_was_read_before_it_was_cleared_is_not_taken() {
    let tail = Tail::default();
    let before = tail.cleared();
    tail.add(&frame(10, 100), before);
    tail.clear();
    tail.add(&frame(20, 100), before);
    assert_eq!(kept(&tail), [0; 0]);
    tail.add(&frame(30, 100), tail.cleared());
    assert_eq!(kept(&tail), [30]);
}
