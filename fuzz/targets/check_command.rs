//! Decisions on command lines: what is allowed is certain, and no program in it is one that is denied.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use policy::{Certainty, Code, CommandPattern, Decision, Effect, Policy as _, Reason, Request, Rule, RuleSet, Subject, ToolName, Want};
use shell::{Dialect, Surroundings};

static DENIED: LazyLock<CommandPattern> = LazyLock::new(|| CommandPattern::parse("pwn").expect("a pattern"));
static RULES: LazyLock<RuleSet> = LazyLock::new(|| {
    let all = CommandPattern::parse("*").expect("a pattern");
    RuleSet::new(vec![rule(Effect::Deny, DENIED.clone()), rule(Effect::Allow, all)]).expect("rules")
});

fuzz_target!(|text: &[u8]| {
    let around = Surroundings { dialects: Dialect::ALL, cwd: Some("/ws"), home: Some("/home/me"), stdin: None };
    let read = shell::read(text, &around);
    let tool = ToolName::parse("exec").expect("a tool");
    let decided = RULES.decide(&Request { tool: &tool, want: Want::Exec(&read) });
    if let Some(Decision::Allow(_)) = decided {
        assert!(read.is_certain(), "{read:?}");
        for program in &read.programs {
            assert!(program.argv.words().iter().all(|word| word.certainty != Certainty::Unknown), "{program:?}");
            for argv in program.through.iter().chain([&program.argv]) {
                assert!(!DENIED.matches(program, Effect::Deny), "{program:?}");
            }
        }
    }
});

fn rule(effect: Effect, pattern: CommandPattern) -> Rule {
    let subject = Subject::Command(pattern);
    Rule { id: 0, effect, tool: None, subject, arguments: vec![], reason: Reason::new(Code::Rule, "a rule") }
}
