use super::*;

const HOUR: Duration = Duration::from_secs(3600);

fn taken(window: &mut Window, times: usize, limit: u64, seconds: u64) -> usize {
    let now = Duration::from_secs(seconds);
    (0..times).filter(|_| window.take(limit, HOUR, now).is_ok()).count()
}

/// The tests of what it was first made for, an event's source, are with that.
#[test]
fn a_stretch_may_have_any_length() {
    let mut window = Window::default();
    assert_eq!(taken(&mut window, 20, 10, 3500), 10);
    assert_eq!(taken(&mut window, 20, 10, 3600), 0, "its edge opens no gate");
    assert_eq!(taken(&mut window, 20, 10, 5400), 5, "half of it has faded");
    assert!(!window.is_quiet(HOUR, Duration::from_secs(7200)));
    assert!(window.is_quiet(HOUR, Duration::from_secs(10800)));
    assert_eq!(window.remaining(10, HOUR, Duration::from_secs(10800)), 10);
}

#[test]
fn what_is_given_back_does_not_count() {
    let mut window = Window::default();
    assert_eq!(taken(&mut window, 3, 3, 0), 3);
    window.give_back();
    assert_eq!(taken(&mut window, 3, 3, 0), 1);
    window.add(5);
    assert_eq!(window.remaining(10, HOUR, Duration::ZERO), 2);
}
