//! The providers for machines where the native one does not work, on the real kernel.
//!
//! This is a program with its own `main`: it starts itself again in roles, as a machine without user namespaces, as an
//! ordinary user, and as a launcher that is killed.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test fails by panicking and says what it does"
)]

mod fenced;
mod launcher;
mod place;
mod role;
mod run;
#[path = "../../../../tests/runner.rs"]
mod runner;
#[path = "../../../../tests/skip.rs"]
mod skip;
mod stopped;
mod wrapped;

use std::env;
use std::process::ExitCode;

use role::Role;

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().collect();
    match Role::of_this_process(&arguments) {
        Some(role) => {
            role.play();
            ExitCode::SUCCESS
        }
        None => runner::run(TESTS, &arguments[1..]),
    }
}

const TESTS: &[(&str, fn())] = &[
    ("fenced::confines", fenced::confines),
    ("fenced::confines_an_ordinary_user", fenced::confines_an_ordinary_user),
    ("fenced::ends_like_the_command", fenced::ends_like_the_command),
    ("fenced::reads_to_the_end", fenced::reads_to_the_end),
    ("fenced::signals_are_not_blocked", fenced::signals_are_not_blocked),
    ("fenced::says_what_is_enforced", fenced::says_what_is_enforced),
    ("fenced::programs_work", fenced::programs_work),
    ("fenced::nothing_outlives_the_command", fenced::nothing_outlives_the_command),
    ("fenced::nothing_outlives_the_launcher", fenced::nothing_outlives_the_launcher),
    ("fenced::two_at_once_keep_apart", fenced::two_at_once_keep_apart),
    ("fenced::limits_hold", fenced::limits_hold),
    ("fenced::refuses_what_it_cannot_express", fenced::refuses_what_it_cannot_express),
    ("fenced::nests", fenced::nests),
    ("launcher::ignored_children_change_no_exit_code", launcher::ignored_children_change_no_exit_code),
    ("launcher::few_descriptors_are_enough", launcher::few_descriptors_are_enough),
    ("launcher::stays_dumpable", launcher::stays_dumpable),
    ("launcher::outlives_memory_that_runs_out", launcher::outlives_memory_that_runs_out),
    ("launcher::works_where_memory_cannot_be_executed", launcher::works_where_memory_cannot_be_executed),
    ("stopped::asked_from_elsewhere", stopped::asked_from_elsewhere),
    ("stopped::asked_before_it_is_let_go", stopped::asked_before_it_is_let_go),
    ("stopped::asked_after_the_end", stopped::asked_after_the_end),
    ("stopped::endless_output_is_followed_and_bounded", stopped::endless_output_is_followed_and_bounded),
    ("wrapped::confines", wrapped::confines),
    ("wrapped::ends_like_the_command", wrapped::ends_like_the_command),
    ("wrapped::signals_are_not_blocked", wrapped::signals_are_not_blocked),
    ("wrapped::nothing_outlives_the_command", wrapped::nothing_outlives_the_command),
    ("wrapped::nothing_outlives_the_launcher", wrapped::nothing_outlives_the_launcher),
    ("wrapped::nothing_runs_before_it_is_let_go", wrapped::nothing_runs_before_it_is_let_go),
    ("wrapped::refuses_root", wrapped::refuses_root),
    ("wrapped::many_views_are_seen", wrapped::many_views_are_seen),
    ("fenced::taken_where_namespaces_are_forbidden", fenced::taken_where_namespaces_are_forbidden),
];
