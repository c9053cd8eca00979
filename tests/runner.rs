//! The tests of a program with its own `main`: shared by the tests of several rooms through `#[path]`.

use std::process::ExitCode;

/// Understands as much of the usual test command line as runners need: `--list`, `--ignored`, `--exact` and words.
/// A failing test panics, which ends the program.
pub(crate) fn run(tests: &[(&str, fn())], arguments: &[String]) -> ExitCode {
    let has = |flag: &str| arguments.iter().any(|argument| argument == flag);
    let words: Vec<&str> =
        arguments.iter().map(String::as_str).filter(|word| !word.starts_with('-')).collect();
    let asked = |name: &str, word: &str| if has("--exact") { name == word } else { name.contains(word) };
    let mut passed = 0;
    for (name, test) in tests.iter().filter(|_| !has("--ignored")) {
        if has("--list") {
            println!("{name}: test");
        } else if words.is_empty() || words.iter().any(|word| asked(name, word)) {
            println!("test {name} ...");
            test();
            passed += 1;
        }
    }
    if !has("--list") {
        println!("\ntest result: ok. {passed} passed; 0 failed; 0 ignored; 0 measured; 0 filtered out");
    }
    ExitCode::SUCCESS
}
