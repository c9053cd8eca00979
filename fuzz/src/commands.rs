//! Command lines: reading them, and deciding about them.

use std::sync::LazyLock;

use policy::{
    Arguments, Certainty, Code, CommandPattern, Decision, Effect, Execution, Invocation, Policy as _, Reason,
    Request, Rule, RuleSet, Span, Subject, ToolName, Want,
};
use shell::{Dialect, Surroundings};

static DENIED: LazyLock<CommandPattern> = LazyLock::new(|| CommandPattern::parse("pwn").expect("a pattern"));
static RULES: LazyLock<RuleSet> = LazyLock::new(|| {
    let all = CommandPattern::parse("*").expect("a pattern");
    RuleSet::new(vec![rule(Effect::Deny, DENIED.clone()), rule(Effect::Allow, all)]).expect("rules")
});

/// An allowed command line is certain, and no program in it is denied.
pub fn check_command(text: &[u8]) {
    let invocation = read(text, Dialect::ALL);
    let tool = ToolName::exec();
    let arguments = Arguments::command(String::from_utf8_lossy(text));
    let want = Want::Exec(Execution { invocation: &invocation, arguments: &arguments });
    let decided = RULES.decide(&Request { tool: &tool, want });
    if let Some(Decision::Allow(_)) = decided {
        assert!(invocation.is_certain(), "{invocation:?}");
        for program in &invocation.programs {
            assert!(!DENIED.matches(program, Effect::Deny), "{program:?}");
            assert!(
                program.argv.words().iter().all(|word| word.certainty != Certainty::Unknown),
                "{program:?}"
            );
        }
    }
}

/// Every place lies in the text, for each shell alone; a parsed text can be printed.
pub fn shell_parse(text: &[u8]) {
    let Ok(length) = u32::try_from(text.len()) else { return };
    let whole = Span::new(0, length);
    for dialect in Dialect::ALL {
        let around = Surroundings { dialects: &[*dialect], cwd: None, home: None, stdin: None };
        let read = shell::read(text, &around);
        assert!(read.findings.iter().all(|finding| whole.contains(finding.span)), "{read:?}");
        assert!(read.programs.iter().all(|program| whole.contains(program.span)), "{read:?}");
        let Ok(text) = std::str::from_utf8(text) else { continue };
        let Ok(tree) = shell::parse(text, *dialect) else { continue };
        tree.spans(&mut |around, inner| assert!(around.contains(inner), "{text:?}"));
        // Printed, it can be read again; `tests/tree_laws.rs` says when it is the same.
        drop(shell::parse(&shell::print(&tree, *dialect), *dialect));
    }
}

/// The same text is read the same, and no shell alone finds a program that all together miss.
pub fn shell_read(text: &[u8]) {
    let all = read(text, Dialect::ALL);
    assert_eq!(all, read(text, Dialect::ALL), "{text:?}");
    if !all.is_certain() {
        return;
    }
    let found: Vec<_> = all.programs.iter().map(|program| program.argv.line()).collect();
    for dialect in Dialect::ALL {
        let one = read(text, &[*dialect]);
        // A text that one shell alone cannot read is no mistake of the others.
        let uncertain =
            one.findings.iter().any(|found| found.code.is_uncertain() && found.code != Code::Unreadable);
        assert!(!uncertain, "{dialect:?} alone is not certain");
        for program in &one.programs {
            assert!(
                found.contains(&program.argv.line()),
                "{dialect:?} alone finds {:?}",
                program.argv.line()
            );
        }
    }
}

fn read(text: &[u8], dialects: &[Dialect]) -> Invocation {
    shell::read(text, &Surroundings { dialects, cwd: Some("/ws"), home: Some("/home/me"), stdin: None })
}

fn rule(effect: Effect, pattern: CommandPattern) -> Rule {
    let subject = Subject::Command(pattern);
    Rule { id: 0, effect, tool: None, subject, arguments: vec![], reason: Reason::new(Code::Rule, "a rule") }
}
