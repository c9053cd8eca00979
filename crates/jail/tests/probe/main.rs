//! The probe on the real kernel, allowed and forbidden in every way that a test can arrange.
//!
//! This is a program with its own `main`: it starts itself again, with one thread, in roles that change their own process
//! for good. Nothing here touches the host: limits are set inside a new user namespace, filters die with their process.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test fails by panicking and says what it does"
)]

mod bounded;
mod bwrap;
mod forbidden;
mod role;
#[path = "../../../../tests/runner.rs"]
mod runner;
#[path = "../../../../tests/skip.rs"]
mod skip;

use std::env;
use std::process::{Command, ExitCode};

use ringfence_jail::probe::{Namespaces, Step, Unmeasured};

use role::{LIMIT, Role};

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().collect();
    match role::of_this_process(&arguments) {
        Some(role) => role.play(),
        None => runner::run(TESTS, &arguments[1..]),
    }
}

const TESTS: &[(&str, fn())] = &[
    ("namespaces_as_we_are", namespaces_as_we_are),
    ("namespaces_as_an_ordinary_user", namespaces_as_an_ordinary_user),
    ("the_host_stays_as_it_was", the_host_stays_as_it_was),
    ("threads_are_refused_and_nothing_changes", threads_are_refused_and_nothing_changes),
    ("bounded::answers_that_do_not_count", bounded::answers_that_do_not_count),
    ("bounded::nothing_is_left_behind", bounded::nothing_is_left_behind),
    ("bounded::works_without_process_handles", bounded::works_without_process_handles),
    ("forbidden::limits_of_the_user_namespace", forbidden::limits_of_the_user_namespace),
    ("forbidden::masked_proc", forbidden::masked_proc),
    ("forbidden::sealed_proc", forbidden::sealed_proc),
    ("forbidden::filtered_namespaces", forbidden::filtered_namespaces),
    ("forbidden::filtered_landlock", forbidden::filtered_landlock),
    ("forbidden::filters_are_counted", forbidden::filters_are_counted),
    ("bwrap::judged_before_it_is_started", bwrap::judged_before_it_is_started),
    ("bwrap::introduces_itself", bwrap::introduces_itself),
    ("bwrap::directories_above_count", bwrap::directories_above_count),
];

fn namespaces_as_we_are() {
    agrees_with_unshare(|command| command);
}

fn namespaces_as_an_ordinary_user() {
    if !rustix::process::geteuid().is_root() {
        return skip::skipped("namespaces as another user", "only root can become one");
    }
    agrees_with_unshare(role::as_nobody);
}

/// The oracle is unshare(1), written by others.
fn agrees_with_unshare(user: fn(Command) -> Command) {
    let found = ringfence_jail::probe::namespaces(user(Role::Namespaces.command()), LIMIT).unwrap();
    println!("  {}", found.to_string().trim_end());
    match user(role::unshare()).status() {
        Ok(status) => {
            let ours = found.did(&[Step::Map, Step::Net, Step::Loopback, Step::Mount, Step::Tmpfs]);
            assert_eq!(ours, status.success(), "{found}");
        }
        Err(error) => skip::skipped("namespaces beside unshare(1)", &error.to_string()),
    }
}

fn the_host_stays_as_it_was() {
    let before = role::outside();
    Role::Namespaces.ask().unwrap();
    assert_eq!(role::outside(), before);
}

fn threads_are_refused_and_nothing_changes() {
    // The role itself compares its namespaces before and after, and answers with the number of threads.
    let answer: Result<Namespaces, Unmeasured> = Role::Threads.ask();
    assert!(answer.is_ok(), "{answer:?}");
}
