//! One denied command, `git push`, in many spellings.
//!
//! Everything else is allowed here, so a spelling that is not understood goes through and fails its row.
#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

mod judged;

use judged::{Mode, verdict};
use policy::{
    Arguments, Code, CommandPattern, Effect, Execution, Invocation, Policy as _, Reason, Request, Rule,
    RuleSet, Subject, ToolName, Want,
};
use ringfence_shell::{Dialect, Surroundings};

/// The way of hiding, and the line.
type Row = (&'static str, &'static str);

const SPELLINGS: &[Row] = &[
    ("plainly", "git push origin main"),
    ("redirect before", ">/dev/null git push origin main"),
    ("redirect between", "git >/dev/null push 2>&1 origin main"),
    ("descriptor in a variable", "{fd}>/dev/null git push origin main"),
    ("assignment", "A=1 git push origin main"),
    ("two assignments", "A=1 B='2 3' git push origin main"),
    ("subshell", "(git push origin main)"),
    ("group", "{ git push origin main; }"),
    ("nested groups", "({ ( git push origin main ); })"),
    ("background", "git push origin main &"),
    ("after and", "true && git push origin main"),
    ("after or", "false || git push origin main"),
    ("after semicolon without blank", "true;git push origin main"),
    ("after newline", "true\ngit push origin main"),
    ("negation", "! git push origin main"),
    ("end of a pipeline", "echo y | git push origin main"),
    ("start of a pipeline", "git push origin main |& cat"),
    ("time", "time git push origin main"),
    ("time -p", "time -p git push origin main"),
    ("if condition", "if git push origin main; then :; fi"),
    ("if branch", "if true; then git push origin main; fi"),
    ("else branch", "if false; then :; else git push origin main; fi"),
    ("elif", "if false; then :; elif git push origin main; then :; fi"),
    ("while", "while git push origin main; do break; done"),
    ("until", "until git push origin main; do break; done"),
    ("for", "for i in 1; do git push origin main; done"),
    ("for over the word", "for g in git; do $g push origin main; done"),
    ("for in C style", "for ((i=0; i<1; i++)); do git push origin main; done"),
    ("case", "case a in a) git push origin main ;; esac"),
    ("case with fall through", "case a in a) ;& b) git push origin main ;; esac"),
    ("case with a quoted parenthesis", "case ')' in ')') git push origin main ;; esac"),
    ("select", "select x in a; do git push origin main; break; done <<<1"),
    ("double quotes", "\"git\" \"push\" origin main"),
    ("single quotes", "'git' 'push' origin main"),
    ("quotes inside", "g'i't pu\"s\"h origin main"),
    ("empty quotes", "''git \"\"push origin main"),
    ("backslash", "\\git push origin main"),
    ("backslashes", "g\\it p\\ush origin main"),
    ("ANSI quotes", "$'git' push origin main"),
    ("ANSI hex", "$'\\x67it' $'pu\\x73h' origin main"),
    ("ANSI octal", "$'\\147it' push origin main"),
    ("ANSI unicode", "$'\\u0067it' push origin main"),
    ("translated quotes", "$\"git\" push origin main"),
    ("line continuation", "git \\\n push origin main"),
    ("line continuation in the word", "g\\\nit pu\\\nsh origin main"),
    ("tab", "git\tpush\torigin\tmain"),
    ("absolute path", "/usr/bin/git push origin main"),
    ("path with detours", "//usr/bin/../bin/git push origin main"),
    ("path with dots", "/usr/./bin/./git push origin main"),
    ("path from a directory", "cd /usr/bin && ./git push origin main"),
    ("path from above", "cd /usr && bin/git push origin main"),
    ("glob", "/usr/bin/gi? push origin main"),
    ("glob class", "/usr/bin/g[i]t push origin main"),
    ("glob everywhere", "/u?r/b*n/gi[t] push origin main"),
    ("variable", "x=git; $x push origin main"),
    ("variable with arguments", "x='git push origin main'; $x"),
    ("variable for the word", "x=push; git $x origin main"),
    ("unknown variable", "git $X origin main"),
    ("default", "${x:-git} push origin main"),
    ("default in a word", "git ${x:-push} origin main"),
    ("alternative", "x=1; ${x:+git} push origin main"),
    ("assigned default", "${x:=git} push origin main"),
    ("empty variable before", "$u git push origin main"),
    ("empty variable inside", "g${y}it push origin main"),
    ("empty positional inside", "g$1it pu$@sh origin main"),
    ("cut from a variable", "x=xgit; ${x#x} push origin main"),
    ("slice", "x=xgitx; ${x:1:3} push origin main"),
    ("replacement", "x=gat; ${x/a/i} push origin main"),
    ("lower case", "x=GIT; ${x,,} push origin main"),
    ("indirect variable", "y=git; x=y; ${!x} push origin main"),
    ("array", "a=(git push origin main); \"${a[@]}\""),
    ("array element", "a=(x git); ${a[1]} push origin main"),
    ("positional", "set -- git push origin main; \"$@\""),
    ("read", "read x <<<git; $x push origin main"),
    ("printf -v", "printf -v x git; $x push origin main"),
    ("field separator", "IFS=,; x=git,push,origin,main; $x"),
    ("brace expansion", "{git,push,origin,main}"),
    ("command substitution", "$(echo git) push origin main"),
    ("whole substitution", "$(echo git push origin main)"),
    ("backticks", "`echo git` push origin main"),
    ("inside a substitution", "echo $(git push origin main)"),
    ("inside backticks", "echo `git push origin main`"),
    ("inside quotes inside a substitution", "echo \"$(echo \"$(git push origin main)\")\""),
    ("inside a default", "echo \"${x:-$(git push origin main)}\""),
    ("inside a pattern", "echo ${x#$(git push origin main)}"),
    ("inside arithmetic", "echo $(( $(git push origin main; echo 1) + 1 ))"),
    ("inside an index", "a[$(git push origin main)]=1"),
    ("arithmetic on text", "x='a[$(git push origin main)]'; echo $((x))"),
    ("inside an assignment", "x=$(git push origin main)"),
    ("inside an array", "a=(b $(git push origin main))"),
    ("inside a redirection", ">\"$(git push origin main)\" true"),
    ("inside a test", "[[ -n $(git push origin main) ]]"),
    ("inside a test of old", "[ -n \"$(git push origin main)\" ]"),
    ("subshell that looks like arithmetic", "$((git push origin main) )"),
    ("process substitution", "cat <(git push origin main)"),
    ("process substitution for output", "echo a > >(git push origin main)"),
    ("inside a heredoc", "cat <<EOF\n$(git push origin main)\nEOF"),
    ("inside a here-string", "cat <<<\"$(git push origin main)\""),
    ("after a quoted heredoc", "cat <<'EOF'\nit's\nEOF\ngit push origin main"),
    ("on the line of a heredoc", "cat <<EOF; git push origin main\na\nEOF"),
    ("after a comment", "# don't\ngit push origin main"),
    ("after a comment at the end", "true # it's \"\ngit push origin main"),
    ("after what is no comment", "echo a#b; git push origin main"),
    ("behind a quote in ANSI quotes", "echo $'\\''; git push origin main #'"),
    ("behind quotes in a default", "echo \"${x:-'}\"; git push origin main #'}\""),
    ("heredoc to a shell", "sh <<EOF\ngit push origin main\nEOF"),
    ("quoted heredoc to a shell", "bash -s <<'EOF'\ngit push origin main\nEOF"),
    ("here-string to a shell", "bash <<<'git push origin main'"),
    ("piped to a shell", "echo git push origin main | sh"),
    ("piped by printf", "printf '%s %s origin main' git push | bash"),
    ("heredoc piped to a shell", "cat <<EOF | sh\ngit push origin main\nEOF"),
    ("base64 to a shell", "echo Z2l0IHB1c2ggb3JpZ2luIG1haW4K | base64 -d | sh"),
    ("reversed to a shell", "echo niam nigiro hsup tig | rev | sh"),
    ("tee to a shell", "echo git push origin main | tee >(sh)"),
    ("sh -c", "sh -c 'git push origin main'"),
    ("bash -c with options", "bash --norc -ec 'git push origin main'"),
    ("bash -c with arguments", "bash -c '\"$@\"' x git push origin main"),
    ("bash -c with a name", "bash -c '$0 push origin main' git"),
    ("bash -lc nested", "bash -lc \"sh -c 'git push origin main'\""),
    ("bash -O before -c", "bash -O extglob -c 'git push origin main'"),
    ("sh -c of a substitution", "sh -c \"$(printf 'git push origin main')\""),
    ("busybox sh", "busybox sh -c 'git push origin main'"),
    ("zsh -c", "zsh -c 'git push origin main'"),
    ("shell on a process substitution", "bash <(echo git push origin main)"),
    ("sourced from standard input", "source /dev/stdin <<<'git push origin main'"),
    ("dot on a process substitution", ". <(echo git push origin main)"),
    ("written and run", "echo git push origin main >a.sh; sh a.sh"),
    ("eval", "eval git push origin main"),
    ("eval quoted", "eval 'git push' \"origin main\""),
    ("eval of a variable", "x='git push origin main'; eval \"$x\""),
    ("eval twice", "eval eval git push origin main"),
    ("eval escaped", "\\eval git push origin main"),
    ("builtin eval", "builtin eval git push origin main"),
    ("command eval", "command eval git push origin main"),
    ("trap", "trap 'git push origin main' EXIT"),
    ("trap on debug", "trap 'git push origin main' DEBUG; true"),
    ("prompt expansion", "x='$(git push origin main)'; echo \"${x@P}\""),
    ("trace prompt", "PS4='$(git push origin main)'; set -x; true"),
    ("alias", "alias g='git push'\ng origin main"),
    ("alias in eval", "shopt -s expand_aliases; alias g=git; eval 'g push origin main'"),
    ("function", "f() { git push origin main; }; f"),
    ("function with arguments", "f() { \"$@\"; }; f git push origin main"),
    ("function by keyword", "function f { git \"$1\" origin main; }; f push"),
    ("function in a subshell", "f() ( git push origin main ); f"),
    ("function that takes another name", "true() { git push origin main; }; true"),
    ("coproc", "coproc git push origin main"),
    ("coproc with a name", "coproc C { git push origin main; }"),
    ("callback of mapfile", "mapfile -c 1 -C 'git push origin main #' m <<<a"),
    ("env", "env git push origin main"),
    ("env with assignment", "env A=1 git push origin main"),
    ("env -i", "env -i git push origin main"),
    ("env -u", "env -u HOME git push origin main"),
    ("env --", "env -- git push origin main"),
    ("env -S", "env -S 'git push origin main'"),
    ("env -S joined", "env -S'git push' origin main"),
    ("env --split-string", "env --split-string='git push origin main'"),
    ("env -C", "env -C /tmp git push origin main"),
    ("env by path", "/usr/bin/env git push origin main"),
    ("env of env", "env env A=1 env git push origin main"),
    ("command", "command git push origin main"),
    ("command -p", "command -p git push origin main"),
    ("exec", "exec git push origin main"),
    ("exec -a", "exec -a ls git push origin main"),
    ("exec -cl", "exec -cl git push origin main"),
    ("nohup", "nohup git push origin main"),
    ("nice", "nice -n 5 git push origin main"),
    ("nice with a number", "nice -5 git push origin main"),
    ("ionice", "ionice -c 3 git push origin main"),
    ("timeout", "timeout 10 git push origin main"),
    ("timeout with options", "timeout -k 5 --signal=KILL 10 git push origin main"),
    ("setsid", "setsid -w git push origin main"),
    ("stdbuf", "stdbuf -oL git push origin main"),
    ("time by path", "/usr/bin/time -f %e git push origin main"),
    ("wrappers in a row", "nohup nice -n 1 timeout 5 env A=1 git push origin main"),
    ("sudo", "sudo git push origin main"),
    ("sudo -u", "sudo -u me -- git push origin main"),
    ("doas", "doas git push origin main"),
    ("su -c", "su me -c 'git push origin main'"),
    ("runuser", "runuser -u me -- git push origin main"),
    ("chroot", "chroot / git push origin main"),
    ("unshare", "unshare -r git push origin main"),
    ("nsenter", "nsenter -t 1 git push origin main"),
    ("taskset", "taskset 1 git push origin main"),
    ("chrt", "chrt -b 0 git push origin main"),
    ("strace", "strace -f -o /dev/null git push origin main"),
    ("watch", "watch -n 1 git push origin main"),
    ("script -c", "script -qc 'git push origin main' /dev/null"),
    ("flock", "flock /tmp/l git push origin main"),
    ("flock -c", "flock /tmp/l -c 'git push origin main'"),
    ("xargs", "echo push origin main | xargs git"),
    ("xargs with words", "echo main | xargs -n 1 git push origin"),
    ("xargs -I", "echo push | xargs -I{} git {} origin main"),
    ("xargs of a shell", "echo a | xargs sh -c 'git push origin main'"),
    ("xargs of everything", "echo git push origin main | xargs env"),
    ("xargs from a here-string", "xargs git <<<'push origin main'"),
    ("parallel", "parallel git ::: push"),
    ("parallel with a line", "parallel ::: 'git push origin main'"),
    ("find -exec", "find . -maxdepth 0 -exec git push origin main \\;"),
    ("find -execdir", "find . -execdir git push origin main {} +"),
    ("find -ok", "find . -ok git push origin main ';'"),
    ("find -exec sh", "find . -exec sh -c 'git push origin main' \\;"),
    ("fd -x", "fd . -x git push origin main"),
    ("git -C", "git -C . push origin main"),
    ("git --no-pager", "git --no-pager push origin main"),
    ("git --git-dir", "git --git-dir .git --work-tree=. push origin main"),
    ("git -c", "git -c user.name=x push origin main"),
    ("git alias", "git -c alias.p=push p origin main"),
    ("git shell alias", "git -c alias.p='!git push' p origin main"),
    (
        "git alias from the environment",
        "GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=alias.p GIT_CONFIG_VALUE_0=push git p origin main",
    ),
    ("git --config-env", "P=push git --config-env=alias.p=P p origin main"),
    ("git submodule foreach", "git submodule foreach 'git push origin main'"),
    ("git bisect run", "git bisect run git push origin main"),
    ("git rebase -x", "git rebase -x 'git push origin main' HEAD~1"),
    ("git with a pager", "git -c core.pager='git push origin main' -p log"),
    ("python", "python3 -c 'import os; os.system(\"git push origin main\")'"),
    ("python from standard input", "echo 'import os; os.system(\"git push\")' | python3"),
    ("python from a heredoc", "python3 - <<'E'\nimport os\nos.system('git push origin main')\nE"),
    ("perl", "perl -e 'system(\"git push origin main\")'"),
    ("perl bundled", "perl -we 'exec qw(git push origin main)'"),
    ("ruby", "ruby -e '`git push origin main`'"),
    ("node", "node -e 'require(\"child_process\").execSync(\"git push origin main\")'"),
    ("php", "php -r 'system(\"git push origin main\");'"),
    ("lua", "lua -e 'os.execute(\"git push origin main\")'"),
    ("awk", "awk 'BEGIN { system(\"git push origin main\") }'"),
    ("awk with a pipe", "awk 'BEGIN { \"git push origin main\" | getline }'"),
    ("awk by variable", "awk -v c='git push origin main' 'BEGIN { system(c) }'"),
    ("sed e", "sed '1e git push origin main' README.md"),
    ("sed s///e", "echo a | sed 's/a/git push origin main/e'"),
    ("tar", "tar cf /dev/null --checkpoint=1 --checkpoint-action=exec='git push origin main' ."),
    ("tar --to-command", "tar xf a.tar --to-command='git push origin main'"),
    ("tar -I", "tar -I 'git push origin main' -cf a.tar ."),
    ("vim", "vim -c '!git push origin main' -c q"),
    ("ssh proxy", "ssh -o ProxyCommand='git push origin main' host"),
    ("rsync -e", "rsync -e 'git push origin main' a host:b"),
    ("make", "make -f - <<'E'\nall:\n\tgit push origin main\nE"),
    ("make --eval", "make --eval='x:;git push origin main' x"),
    ("gdb", "gdb -batch -ex 'shell git push origin main'"),
    ("less", "LESSOPEN='|git push origin main' less a"),
    ("editor of the environment", "GIT_EDITOR='git push origin main' git commit"),
    ("start-up file of a shell", "BASH_ENV=<(echo git push origin main) bash -c :"),
    ("at", "echo git push origin main | at now"),
    ("crontab", "echo '* * * * * git push origin main' | crontab -"),
    ("tmux", "tmux new-session -d 'git push origin main'"),
    ("screen", "screen -dm git push origin main"),
    ("systemd-run", "systemd-run --user git push origin main"),
    ("ld.so", "/lib64/ld-linux-x86-64.so.2 /usr/bin/git push origin main"),
    ("zsh =cmd", "=git push origin main"),
    ("zsh =( )", "cat =(git push origin main)"),
    ("zsh repeat", "repeat 1 git push origin main"),
    ("zsh short for", "for i (1) git push origin main"),
    ("zsh anonymous function", "() { git push origin main }"),
    ("zsh always", "{ git push origin main } always { : }"),
    ("zsh noglob", "noglob git push origin main"),
    ("zsh dash", "- git push origin main"),
    ("zsh evaluation flag", "x='$(git push origin main)'; echo ${(e)x}"),
    ("zsh glob qualifier", "echo *(e:'git push origin main':)"),
    ("zsh functions table", "functions[f]='git push origin main'; f"),
    ("zsh short if", "if [[ -n 1 ]] { git push origin main }"),
];

/// Lines that must pass, so that refusing everything does not.
const HARMLESS: &[&str] = &[
    "git status",
    "git log --oneline -5",
    "git commit -m 'git push later'",
    "git commit -m \"don't git push\"",
    "echo git push origin main",
    "echo 'git push'",
    "grep -rn 'git push' README.md",
    "git stash list",
    "git status && git diff --stat | cat",
    "true # git push",
    "cat <<'EOF'\ngit push\nEOF",
    "x=1; echo \"$x\"",
    "echo $(git rev-parse HEAD)",
    "for f in a b; do echo \"$f\"; done",
    "env A=1 git status",
    "timeout 10 git fetch",
    "sh -c 'git status'",
];

#[test]
fn every_spelling_is_denied_or_asked() {
    let rules = rules();
    let mut missed = Vec::new();
    for (how, line) in SPELLINGS {
        if effect(&rules, line, None) == Effect::Allow {
            missed.push(format!("  {how}: {line:?}"));
        }
    }
    println!("{} of {} spellings denied or asked", SPELLINGS.len() - missed.len(), SPELLINGS.len());
    assert!(missed.is_empty(), "{} spellings went through:\n{}", missed.len(), missed.join("\n"));
}

#[test]
fn standard_input_counts_when_a_shell_reads_it() {
    let rules = rules();
    for line in [
        "sh",
        "bash -s",
        "bash /dev/stdin",
        "cat | sh",
        "sh -",
        "env sh",
        "xargs git",
        "read x; $x",
        "eval \"$(cat)\"",
    ] {
        let known = effect(&rules, line, Some(b"git push origin main\n"));
        assert_ne!(known, Effect::Allow, "{line}");
    }
}

#[test]
fn what_only_mentions_it_is_allowed() {
    let rules = rules();
    let refused: Vec<_> =
        HARMLESS.iter().filter(|line| effect(&rules, line, None) != Effect::Allow).collect();
    assert!(refused.is_empty(), "refused: {refused:#?}");
}

#[test]
fn there_are_enough_spellings_and_none_twice() {
    let different: std::collections::BTreeSet<_> = SPELLINGS.iter().map(|(_, line)| line).collect();
    assert!(different.len() == SPELLINGS.len() && SPELLINGS.len() >= 60, "{}", SPELLINGS.len());
}

/// `git push` is denied, everything else allowed.
fn rules() -> RuleSet {
    let rule = |effect: Effect, pattern: &str| Rule {
        id: 0,
        effect,
        tool: None,
        subject: Subject::Command(CommandPattern::parse(pattern).unwrap()),
        arguments: vec![],
        reason: Reason::new(Code::Rule, "a rule"),
    };
    RuleSet::new(vec![rule(Effect::Deny, "git push"), rule(Effect::Allow, "*")]).unwrap()
}

/// Returns the effect of rules and findings together. A line that no rule speaks about counts as allowed, as if that were
/// the default.
fn effect(rules: &RuleSet, line: &str, stdin: Option<&[u8]>) -> Effect {
    let around = Surroundings { dialects: Dialect::ALL, cwd: Some("/ws"), home: Some("/home/me"), stdin };
    let read: Invocation = ringfence_shell::read(line.as_bytes(), &around);
    let tool = ToolName::parse("exec").unwrap();
    let said = rules.decide(&Request {
        tool: &tool,
        want: Want::Exec(Execution { invocation: &read, arguments: Arguments::NONE }),
    });
    let said = said.map_or(Effect::Allow, |decision| decision.effect());
    said.max(verdict(&read, Mode::Standard))
}
