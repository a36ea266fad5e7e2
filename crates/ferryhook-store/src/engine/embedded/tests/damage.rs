use super::*;

/// A log with five commits in its only used segment, closed.
async fn five_commits() -> (Bench, PathBuf, Vec<u8>) {
    let bench = Bench::new();
    let engine = bench.open();
    for number in 0..5 {
        insert(&engine, &parcel(number)).await.unwrap();
    }
    drop(engine);
    let path = segments(&bench).pop().unwrap();
    let bytes = std::fs::read(&path).unwrap();
    (bench, path, bytes)
}

/// Puts a damaged log into a fresh copy of the directory and opens it.
fn open_with(bench: &Bench, path: &Path, bytes: &[u8]) -> Result<Embedded, StoreError> {
    let name = path.strip_prefix(&bench.config.directory).unwrap();
    let copy = bench.directory.path().join("copy");
    let _ = std::fs::remove_dir_all(&copy);
    copy_tree(&bench.config.directory, &copy);
    std::fs::write(copy.join(name), bytes).unwrap();
    let config = EmbeddedConfig { directory: copy, ..bench.config.clone() };
    Embedded::open(config, bench.env.clone())
}

fn copy_tree(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => copy_tree(&entry.path(), &target),
            false => drop(std::fs::copy(entry.path(), target).unwrap()),
        }
    }
}

/// Rows and index entries agree, and there are exactly the first `count` of them.
async fn assert_first(engine: &Embedded, count: u64) {
    let expected: Vec<u64> = (0..count).collect();
    assert_eq!(list(engine, by_time()).await, expected);
    assert_eq!(list(engine, inbox()).await, expected);
    assert_eq!(list(engine, with_status("received")).await, expected);
}

/// Where each frame ends.
fn frame_ends(path: &Path) -> Vec<usize> {
    let number = path.file_stem().unwrap().to_str().unwrap().parse().unwrap();
    let start = log::Position { segment: number, offset: 0 };
    let mut frames = log::Frames::open(path.parent().unwrap(), start).unwrap();
    let mut ends = Vec::new();
    while let log::Next::Frame(..) = frames.next().unwrap() {
        ends.push(frames.position().offset as usize);
    }
    ends
}

#[tokio::test]
async fn a_log_cut_at_any_byte_of_its_last_frames_opens_with_the_whole_frames() {
    let (bench, path, bytes) = five_commits().await;
    let ends = frame_ends(&path);
    assert_eq!(ends.len(), 5);
    for cut in ends[2]..=ends[4] {
        let engine = open_with(&bench, &path, &bytes[..cut]).unwrap();
        assert_first(&engine, ends.iter().filter(|end| **end <= cut).count() as u64).await;
    }
}

/// The tail of the preallocated segment is zeros after a power loss, at any byte.
#[tokio::test]
async fn a_zeroed_tail_opens_with_the_whole_frames() {
    let (bench, path, bytes) = five_commits().await;
    let ends = frame_ends(&path);
    for cut in (ends[3]..ends[4]).step_by(7) {
        let mut zeroed = bytes.clone();
        zeroed[cut..].fill(0);
        let engine = open_with(&bench, &path, &zeroed).unwrap();
        assert_first(&engine, 4).await;
    }
}

/// The last frame may be torn, whichever byte of it is wrong; it alone is lost, and only it.
#[tokio::test]
async fn a_wrong_byte_in_the_last_frame_costs_that_frame() {
    let (bench, path, bytes) = five_commits().await;
    let ends = frame_ends(&path);
    for place in ends[3]..ends[4] {
        let mut wrong = bytes.clone();
        wrong[place] ^= 0x40;
        let engine = open_with(&bench, &path, &wrong).unwrap();
        assert_first(&engine, 4).await;
    }
}

/// A later frame proves that this one was durable and acknowledged: never a silent loss.
#[tokio::test]
async fn a_wrong_byte_before_the_last_frame_is_refused_by_name() {
    let (bench, path, bytes) = five_commits().await;
    let ends = frame_ends(&path);
    for place in (ends[1]..ends[2]).step_by(11) {
        let mut wrong = bytes.clone();
        wrong[place] ^= 0x01;
        let error = open_with(&bench, &path, &wrong).unwrap_err();
        assert!(matches!(error, StoreError::Damaged(_)), "{error:?}");
        assert!(error.to_string().contains(".log is damaged at byte"), "{error}");
    }
}

/// The header is durable before the first frame is written. So a segment without a frame was being
/// made when the power failed, whatever its first bytes say.
#[tokio::test]
async fn a_segment_torn_while_it_was_made_is_taken_for_none() {
    let (bench, path, bytes) = five_commits().await;
    let number: u32 = path.file_stem().unwrap().to_str().unwrap().parse().unwrap();
    let next = log::segment_path(path.parent().unwrap(), number + 1);
    let garbage: Vec<u8> = (1..=700).map(|byte| byte as u8).collect();
    let zeroed = |from: usize| [&bytes[..from], &[0; 700]].concat();
    for torn in [&[], &bytes[..5], &garbage[..3], &garbage, &zeroed(5), &zeroed(0)] {
        let engine = open_with(&bench, &next, torn).unwrap();
        assert_first(&engine, 5).await;
    }
}

#[tokio::test]
async fn a_wrong_byte_in_a_header_before_frames_is_refused_by_name() {
    let (bench, path, bytes) = five_commits().await;
    for place in 0..16 {
        let mut wrong = bytes.clone();
        wrong[place] ^= 0x40;
        let error = open_with(&bench, &path, &wrong).unwrap_err();
        assert!(error.to_string().contains("does not start as a log segment"), "{error}");
    }
    let mut zeroed = bytes.clone();
    zeroed[..16].fill(0);
    assert!(open_with(&bench, &path, &zeroed).is_err());
    // The only frame is broken as well: it was there, and may have been acknowledged.
    let mut both = bytes[..frame_ends(&path)[0]].to_vec();
    both[3] ^= 0x40;
    both[40] ^= 0x40;
    assert!(open_with(&bench, &path, &both).is_err());
}

/// Frames that are missing leave no trace in their own segment, or there is none any more.
#[tokio::test]
async fn a_segment_that_lost_its_end_is_refused_by_name() {
    let mut bench = Bench::new();
    bench.config.table_bytes_max = 64 * 1024 * 1024;
    let engine = bench.open();
    for number in 0..400 {
        insert(&engine, &parcel(number)).await.unwrap();
    }
    drop(engine);
    let path = segments(&bench)[1].clone();
    let bytes = std::fs::read(&path).unwrap();
    let ends = frame_ends(&path);
    assert!(ends.len() > 10 && segments(&bench).len() > 3);
    drop(open_with(&bench, &path, &bytes).unwrap());
    for end in [ends[ends.len() - 2], ends[3], 16] {
        let error = open_with(&bench, &path, &bytes[..end]).unwrap_err();
        assert!(error.to_string().contains("that were acknowledged"), "{error}");
    }
    std::fs::remove_file(&path).unwrap();
    let error = bench.try_open().unwrap_err();
    assert!(error.to_string().contains("that were acknowledged"), "{error}");
}

#[tokio::test]
async fn writing_goes_on_behind_a_torn_tail() {
    let (bench, path, bytes) = five_commits().await;
    let ends = frame_ends(&path);
    let engine = open_with(&bench, &path, &bytes[..ends[4] - 3]).unwrap();
    insert(&engine, &parcel(4)).await.unwrap();
    drop(engine);
    let copy = bench.directory.path().join("copy");
    let config = EmbeddedConfig { directory: copy, ..bench.config.clone() };
    assert_first(&Embedded::open(config, bench.env.clone()).unwrap(), 5).await;
}

#[tokio::test]
async fn a_flipped_bit_in_content_is_told_and_the_rest_is_served() {
    let bench = Bench::new();
    let engine = bench.open();
    for number in 0..200 {
        insert(&engine, &parcel(number)).await.unwrap();
    }
    let place = {
        let snapshot = engine.shared.snapshot();
        let value = snapshot.get(&layout::row_key(&key(3))).unwrap().unwrap();
        codec::place_of(&value).unwrap()
    };
    let path = log::segment_path(&bench.config.directory.join("log"), place.segment);
    let file = std::fs::OpenOptions::new().read(true).write(true).open(path).unwrap();
    let mut byte = [0];
    file.read_exact_at(&mut byte, u64::from(place.offset) + 50).unwrap();
    file.write_all_at(&[byte[0] ^ 1], u64::from(place.offset) + 50).unwrap();
    let error = engine.get(&key(3)).await.unwrap_err();
    assert!(matches!(error, StoreError::Corrupt { kind: Kind::Event, .. }), "{error:?}");
    assert_eq!(get(&engine, 4).await.unwrap().record, parcel(4));
}
