//! Tests of [`super`].

use super::*;

#[test]
fn only_a_run_with_a_pass_and_no_failure_succeeds() {
    let code = |outcomes: &[Outcome]| format!("{:?}", exit_code(outcomes.iter().copied()));
    let expected = |code: u8| format!("{:?}", ExitCode::from(code));
    assert_eq!(code(&[Outcome::Pass, Outcome::Warn, Outcome::Skip]), expected(0));
    assert_eq!(code(&[Outcome::Skip, Outcome::Skip]), expected(code::UNSUPPORTED));
    for bad in [Outcome::Fail, Outcome::Crash, Outcome::Hang] {
        assert_eq!(code(&[Outcome::Pass, bad]), expected(code::NONCONFORMANT));
    }
}

#[test]
fn a_filter_selects_by_a_part_of_the_name() {
    let all = select(None).map(|selected| selected.len()).unwrap_or_default();
    let some = select(Some("VKWAIT"))
        .map(|selected| selected.len())
        .unwrap_or_default();
    assert_eq!(some, 2);
    assert!(all > some);
    assert!(select(Some("no such thing")).is_err());
}
