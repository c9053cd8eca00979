//! Laws that hold for every tree: printed and read again it is the same, and every node lies in the one around it.
//!
//! Some texts cannot be printed from the tree alone: a backslash at the very end, a here-document whose last line is missing
//! or that has a continued line. For those only the places are held.
#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

mod generator;

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use ringfence_shell::Dialect;
use ringfence_shell::tree::List;

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, rng_seed: RngSeed::Fixed(4), ..ProptestConfig::default() })]

    #[test]
    fn a_printed_tree_is_read_as_the_same_tree(seed in any::<u64>()) {
        hold(&generator::line(seed).text)?;
    }

    /// A line that was damaged often parses still, as something unusual.
    #[test]
    fn so_it_is_for_damaged_lines(seed in any::<u64>(), damage in any::<u64>()) {
        let mut chance = generator::Chance::new(damage);
        let text = generator::mutate(&generator::line(seed).text, &mut chance);
        hold(&text)?;
    }

    #[test]
    fn so_it_is_for_any_text(text in "[a-c'\"$`(){}<>|&;#= \n\\\\*?\\[\\]!~@:/-]{0,40}") {
        hold(&text)?;
    }
}

#[test]
fn so_it_is_for_the_corpus() {
    let mut printed = 0;
    for row in include_str!("corpus/corpus.jsonl").lines() {
        let row: serde_json::Value = serde_json::from_str(row).unwrap();
        printed += hold(row["command"].as_str().unwrap()).unwrap();
    }
    assert!(printed > 4500, "only {printed} trees were printed");
}

/// Holds the laws for a text in every dialect; in how many it was printed.
fn hold(text: &str) -> Result<u32, TestCaseError> {
    let mut printed = 0;
    for &dialect in Dialect::ALL {
        let Ok(tree) = ringfence_shell::parse(text, dialect) else { continue };
        nests(&tree, text)?;
        if !needs_its_spelling(text) && !needs_its_end(&tree) {
            same_again(&tree, dialect, text)?;
            printed += 1;
        }
    }
    Ok(printed)
}

fn nests(tree: &List, text: &str) -> Result<(), TestCaseError> {
    let mut outside = None;
    tree.spans(&mut |around, inner| {
        let lies = around.contains(inner) && inner.start <= inner.end && (inner.end as usize) <= text.len();
        if !lies {
            outside = Some((around, inner));
        }
    });
    prop_assert!(outside.is_none(), "{:?}: {:?}", text, outside);
    Ok(())
}

fn same_again(tree: &List, dialect: Dialect, text: &str) -> Result<(), TestCaseError> {
    let printed = ringfence_shell::print(tree, dialect);
    match ringfence_shell::parse(&printed, dialect) {
        Ok(again) => {
            prop_assert_eq!(tree, &again, "{:?} {:?} -> {:?}", dialect, text, printed);
            prop_assert_eq!(ringfence_shell::print(&again, dialect), printed, "printed twice");
            Ok(())
        }
        Err(error) => Err(TestCaseError::fail(format!("{dialect:?} {text:?} -> {printed:?}: {error}"))),
    }
}

/// Returns true if something in the text is lost in the tree: a backslash at the end, a continued line in a here-document.
fn needs_its_spelling(text: &str) -> bool {
    text.ends_with('\\') || (text.contains("<<") && text.contains("\\\n"))
}

/// Returns true if something in the tree needs the end of the text.
fn needs_its_end(tree: &List) -> bool {
    let spelled = format!("{tree:?}");
    spelled.contains("ended: false") || spelled.contains(r#"\\")"#)
}
