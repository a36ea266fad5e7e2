use super::*;

const AT: Position = Position { segment: 7, offset: 4096 };

/// Where the length of the rest takes another digit there is a length that only an odd spelling
/// of it makes up.
#[test]
fn an_op_of_any_length_can_be_made_void() {
    for length in (3..300).chain(16_380..16_400).chain(2_097_150..2_097_170) {
        let mut frame = vec![0xA5; FRAME_HEADER + length];
        blank(&mut frame[FRAME_HEADER..]);
        let mut ops = 0;
        read_ops(&frame, AT, |op, place, bytes| {
            assert!(matches!(op, Op::Put { key: [], value } if value.iter().all(|one| *one == 0)));
            assert_eq!((place, bytes), (None, FRAME_HEADER..frame.len()));
            ops += 1;
            Ok(())
        })
        .unwrap();
        assert_eq!(ops, 1, "{length} bytes");
    }
}
