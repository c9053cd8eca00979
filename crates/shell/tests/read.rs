//! Programs that a line would start, as far as the text tells: a row for every rule.

use policy::{Certainty, Invocation, Program};
use ringfence_shell::{Dialect, Surroundings, read};

const HOME: &str = "/home/ann";
const WORKSPACE: &str = "/ws";

fn around(dialects: &[Dialect]) -> Surroundings<'_> {
    Surroundings { dialects, cwd: Some(WORKSPACE), home: Some(HOME), stdin: None }
}

fn bash(line: &str) -> Invocation {
    read(line.as_bytes(), &around(&[Dialect::Bash]))
}

/// The words of a program; what is not known in brackets.
fn shown(program: &Program, between: &str) -> String {
    let word = |word: &policy::Word| match word.certainty {
        Certainty::Literal => word.text.clone(),
        Certainty::Pattern => format!("<{}>", word.text),
        Certainty::Unknown => format!("[{}]", word.text),
    };
    program.argv.words().iter().map(word).collect::<Vec<_>>().join(between)
}

fn programs(read: &Invocation) -> String {
    read.programs.iter().map(|program| shown(program, " ")).collect::<Vec<_>>().join(" | ")
}

fn codes(read: &Invocation) -> Vec<&'static str> {
    let mut codes: Vec<_> = read.findings.iter().map(|finding| finding.code.id()).collect();
    codes.sort_unstable();
    codes.dedup();
    codes
}

#[test]
fn programs_in_their_order() {
    let rows = [
        ("git status", "git status"),
        ("a && b || c; d & e", "a | b | c | d | e"),
        ("a | b |& c", "a | b | c"),
        ("# nothing\n\n", ""),
        ("a # b; c", "a"),
        ("a#b", "a#b"),
        ("ls # don't\npwn", "ls | pwn"),
        ("(a; { b; })", "a | b"),
        ("if a; then b; elif c; then d; else e; fi", "a | b | c | d | e"),
        ("if (a) then (b) else (c) fi", "a | b | c"),
        ("while (a) do { b; } done", "a | b"),
        ("while a; do b; done; until c; do d; done", "a | b | c | d"),
        ("for x in 1 2; do a $x; done", "a []"),
        ("for ((i=0;i<3;i++)); do a; done", "a"),
        ("case $x in a|b) c;; (d) e;& *) f;; esac", "c | e | f"),
        ("f() { a; }; f b", "a"),
        ("function f { a; }; f", "a"),
        ("a() { b; }; c", "b | c"),
        ("a() { b; }; unset -f a; a", "b | unset -f a | a"),
        ("a() { b; }; exec a; command a; env a", "b | a | a | a"),
        ("time a; ! b", "a | b"),
        ("coproc a; coproc N { b; }", "a | b"),
        ("[[ -n $(a) && b == c ]]", "a"),
        ("(( x = 1 ))", ""),
        ("select x in 1; do a; done", "a"),
    ];
    for (line, expected) in rows {
        assert_eq!(programs(&bash(line)), expected, "{line}");
    }
}

#[test]
fn words_as_the_program_gets_them() {
    let rows = [
        (r#"a 'b c' "d e" f\ g"#, "a|b c|d e|f g"),
        ("r''m x", "rm|x"),
        (r#"r""m x"#, "rm|x"),
        (r"\rm x", "rm|x"),
        (r"$'\x72m' x", "rm|x"),
        ("$\"rm\" x", "rm|x"),
        ("r\\\nm x", "rm|x"),
        ("{rm,x}", "rm|x"),
        ("a {1..3} b{c,d}", "a|1|2|3|bc|bd"),
        ("a '{b,c}'", "a|{b,c}"),
        ("a ~/x ~", "a|/home/ann/x|/home/ann"),
        ("a \"~\"", "a|~"),
        ("a $HOME \"$HOME/x\" $PWD", "a|/home/ann|/home/ann/x|/ws"),
        ("x=rm; $x y", "rm|y"),
        ("x='rm y'; $x", "rm|y"),
        ("x='rm y'; \"$x\"", "rm y"),
        ("x=r; y=m; $x$y z", "rm|z"),
        ("x=rm; x+=dir; $x z", "rmdir|z"),
        ("x=; $x rm y", "rm|y"),
        ("x=; ${x-ls} rm y", "rm|y"),
        ("x=a; (x=b); $x", "a"),
        ("x=a; y=$(x=b); $x", "a"),
        ("a *.txt", "a|<*.txt>"),
        ("[ -f a ]", "[|-f|a|]"),
        ("a $x", "a|[]"),
        ("a b$(c)d", "c ; a|[bd]"),
        ("a \"${x:-y}\"", "a|[y]"),
        ("x=1; a \"${x:-y}\" ${x:+z}", "a|1|z"),
        ("a $'it\\'s'", "a|it's"),
        ("a $((1+2))", "a|[]"),
    ];
    for (line, expected) in rows {
        let read = bash(line);
        assert_eq!(
            read.programs.iter().map(|it| shown(it, "|")).collect::<Vec<_>>().join(" ; "),
            expected,
            "{line}"
        );
    }
}

#[test]
fn what_depends_on_values_is_unprovable() {
    let unprovable = [
        "$x -rf",
        "${x:-rm} y",
        "eval \"$y\"",
        "\"$@\"",
        "/bin/r? x",
        "${!x}",
        "echo ${x@P}",
        "x=$(a); $x",
        "trap \"$x\" EXIT",
        "x=a; if b; then x=c; fi; $x",
        "x=a; while b; do $x; x=c; done",
        "f() { x=rm; }; x=ls; f; $x y",
        "trap 'x=rm' DEBUG; x=ls; $x y",
        ". /dev/stdin <<'E'\nx=rm\nE\nx=$x; $x y",
        "source ./f; x=ls; f; $x y",
        "x=ls; sh <<'E'\n$x y\nE",
        "x=$(c); x+=s; $x y",
        "x=r; declare x+=m; $x y",
        "x=; select x in ls; do $x rm y; done",
        "IFS=,; x=rm,y; $x",
        "x=ls; x=rm :; $x y",
        "false && x=ls; $x rm -rf y",
        "x=rm; false && x=ls; $x y",
        "x=ls; while c; do $x; eval 'x=rm'; done",
        "readonly x=rm; x=ls; $x y",
        "declare -l x; x=RM; $x y",
        "declare -n r=x; x=rm; $r y",
        "x=ls; sh -c '$x'",
        "read x; $x",
        "read x; echo $((x))",
        "x='a[$(pwn)]'; (( x ))",
        "x=$(a); echo $((x+1))",
        "f() { echo $(($1)); }",
        "set -- a; echo $(($1))",
        "declare -i n='a[$(x)]'",
        "let 'n=a[$(x)]'",
        "unset 'a[$(x)]'",
        "[[ 'a[$(x)]' -eq 1 ]]",
        "printf -v 'a[$(x)]' y",
        "read 'a[$(x)]'",
        "test -v 'a[$(x)]'",
        "fc -s",
        "hash -p ./x ls",
        "enable -f ./x y",
        "complete -C x y",
        "mapfile -C x y",
        "source <(a)",
        ". \"$x\"",
        "x=ls; source ./y; $x",
        "$x rm y",
        "PROMPT_COMMAND=x",
        // A file that the line fetched: any program that fetches or copies from another machine.
        "curl -o x.sh http://h/x; sh x.sh",
        "wget2 http://h/x.sh; sh x.sh",
        "xh http://h/x.sh; sh x.sh",
        "rsync h:/x.sh x.sh; sh x.sh",
    ];
    for line in unprovable {
        let read = bash(line);
        assert!(!read.is_certain(), "{line}: {:?}", read.findings);
    }
    let certain = [
        "git commit -m \"$msg\"",
        "cat \"$f\"",
        "echo $((1+2))",
        "for ((i=0;i<3;i++)); do echo $((i*2)); done",
        "for i in 1 2 3; do echo $((i+1)); done",
        "x=5; echo $((x*2))",
        "n=$((n+1))",
        "echo ${#x} ${x%.*} ${x//a/b}",
        "echo \"${x:-default}\"",
        "x=(a b); echo ${x[1]} ${!x[@]}",
        "trap 'echo bye' EXIT",
        "trap - EXIT",
        "let x=1+2",
        "while IFS= read -r line; do echo \"$line\"; done < a.txt",
        "set -euo pipefail; echo ok",
        "history -c",
        "source .venv/bin/activate && pytest",
        "echo $# $? $$",
        "y=5; [[ $x == a* && $y -gt 3 ]]",
        "unset x",
        "fc -l",
    ];
    for line in certain {
        let read = bash(line);
        assert!(read.is_certain(), "{line}: {:?}", read.findings);
    }
}

#[test]
fn substitutions_are_found_where_the_shell_finds_them() {
    let live = [
        "echo $(pwn)",
        "echo \"$(pwn)\"",
        "echo `pwn`",
        "echo \"`pwn`\"",
        "echo $'\\'' $(pwn) ''",
        "echo \"${x:-\"' $(pwn) '\"}\"",
        "echo \"${x:-'$(pwn)'}\"",
        "cat <<E\n$(pwn)\nE",
        "cat <<-E\n\t$(pwn)\n\tE",
        "cat <<<\"$(pwn)\"",
        "cat <(pwn)",
        "tee >(pwn)",
        "x=$(pwn)",
        "a=(b $(pwn))",
        "a[$(pwn)]=1",
        "echo ${x[$(pwn)]}",
        "echo $((1 + $(pwn)))",
        "echo $[$(pwn)]",
        "echo $((pwn) )",
        "echo ${x/a/$(pwn)}",
        "[[ a == $(pwn) ]]",
        "case $(pwn) in a) ;; esac",
        "for x in $(pwn); do :; done",
        "a > $(pwn)",
        "f() { $(pwn); }",
        "echo $\\\n(pwn)",
        "echo `echo \\`pwn\\``",
        "cat <<A <<'B'\n$(pwn)\nA\nB",
        "echo a # it's\necho $(pwn)",
        "echo \"$(case a in a) pwn;; esac)\"",
        "echo $(# )\npwn)",
        "cat <<E\n${x:-'$(pwn)'}\nE",
        "echo ${ pwn; }",
        "[[ -v a[$(pwn)] ]]",
        "exec {x[$(pwn)]}<a",
    ];
    for line in live {
        let read = bash(line);
        assert!(
            read.programs.iter().any(|program| program.argv.words()[0].text == "pwn"),
            "{line}: {read:?}"
        );
    }
    let dead = [
        "echo '$(pwn)'",
        "echo \\$(pwn",
        "echo \"\\$(pwn)\"",
        "echo \"\\`pwn\\`\"",
        "cat <<'E'\n$(pwn)\nE",
        "cat <<\\E\n`pwn`\nE",
        "# $(pwn)",
        "echo a # $(pwn)",
        "echo $'$(pwn)'",
        "x='$(pwn)'; echo \"$x\"",
        "echo ${x:-'$(pwn)'}",
        "echo $((pwn))",
        "cat <<'E'\nx\nE \n$(pwn)\nE",
        "echo '\\'\\''$(pwn)'",
    ];
    for line in dead {
        let read = bash(line);
        assert!(
            !read.programs.iter().any(|program| program.argv.words()[0].text == "pwn"),
            "{line}: {read:?}"
        );
        assert!(!codes(&read).iter().any(|code| ["RF-S004", "RF-S005", "RF-S006"].contains(code)), "{line}");
    }
}

#[test]
fn the_directory_is_tracked() {
    let rows = [
        ("a", Some("/ws")),
        ("cd /etc && a", Some("/etc")),
        ("cd x; a", Some("/ws/x")),
        ("cd ../..; a", Some("/")),
        ("cd; a", Some(HOME)),
        ("cd ~/x && a", Some("/home/ann/x")),
        ("(cd /etc); a", Some("/ws")),
        ("x=$(cd /etc); a", Some("/ws")),
        ("cd $x; a", None),
        ("cd -; a", None),
        ("popd; a", None),
        ("if b; then cd /etc; fi; a", None),
        ("b || cd /etc; a", None),
        ("f() { cd /etc; }; f; a", None),
        ("pushd /etc; a", Some("/etc")),
        ("cd -P /etc; a", Some("/etc")),
    ];
    for (line, expected) in rows {
        let read = bash(line);
        assert_eq!(read.programs.last().unwrap().cwd.as_deref(), expected, "{line}");
    }
}

#[test]
fn texts_that_are_read_again() {
    let rows = [
        ("eval rm x", "rm x"),
        ("eval 'a; b'", "a | b"),
        ("e''val rm x", "rm x"),
        ("eval \"echo \\$(pwn)\"", "pwn | echo []"),
        ("trap 'rm x' EXIT", "rm x"),
        (". /dev/stdin <<'E'\npwn\nE", "pwn"),
        ("shopt -s expand_aliases; alias x='rm y'\nx z", "rm y z"),
        ("f() { eval 'rm x'; }", "rm x"),
    ];
    for (line, expected) in rows {
        let found = bash(line);
        let all = programs(&found);
        assert!(
            expected.split(" | ").all(|program| all.split(" | ").any(|found| found == program)),
            "{line}: {all}"
        );
    }
}

#[test]
fn characters_that_mislead_are_refused_with_place_and_name() {
    let rows = [
        ("ls\u{202e}; rm x", "U+202E RIGHT-TO-LEFT OVERRIDE at byte 2"),
        ("rm\u{200b} x", "U+200B ZERO WIDTH SPACE at byte 2"),
        ("\u{a0}rm x", "U+00A0 NO-BREAK SPACE at byte 0"),
        ("ls\r\n", "U+000D CARRIAGE RETURN at byte 2"),
        ("ls # \u{2066}x", "U+2066 LEFT-TO-RIGHT ISOLATE at byte 5"),
        ("ls \u{1b}[2K", "U+001B ESCAPE at byte 3"),
    ];
    for (line, expected) in rows {
        let read = bash(line);
        assert!(
            read.findings.iter().any(|finding| finding.text.contains(expected)),
            "{line:?}: {:?}",
            read.findings
        );
        assert!(!read.is_certain());
    }
    for quoted in [
        "echo 'a\u{202e}b'",
        "echo \"a\rb\"",
        "echo $'a\\rb'",
        "cat <<'E'\na\u{200b}b\nE",
        "echo caf\u{e9} \u{4e2d}",
    ] {
        assert!(bash(quoted).findings.is_empty(), "{quoted:?}: {:?}", bash(quoted).findings);
    }
    for (bytes, expected) in
        [(&b"ls\0; rm x"[..], "byte 2 is U+0000 NULL"), (b"ls \xff", "byte 3 is not part of any UTF-8")]
    {
        let read = read(bytes, &around(&[Dialect::Bash]));
        assert!(read.findings[0].text.contains(expected), "{:?}", read.findings);
        assert!(read.programs.is_empty() && !read.is_certain());
    }
}

#[test]
fn what_cannot_be_read_is_a_finding_and_what_ran_before_is_seen() {
    for line in [
        "echo 'x",
        "echo \"x",
        "echo $(x",
        "if a",
        "a )",
        "a;;b",
        "a &&",
        "{ a",
        "case a in",
        "cat <",
        "echo ${x",
        "git log &&& rm x",
    ] {
        assert_eq!(codes(&bash(line)), ["RF-S001"], "{line}");
    }
    assert_eq!(programs(&bash("pwn\n)")), "pwn");
    // Read as arithmetic first, the quotes of the here-document are lost.
    assert_eq!(codes(&bash("((a <<'E'\n`pwn`\nE\n) )")), ["RF-S001"]);
    let deep = format!("{}a{}", "$(".repeat(200), ")".repeat(200));
    assert_eq!(codes(&bash(&deep)), ["RF-S003"]);
    let many = "a;".repeat(100_000);
    assert!(codes(&bash(&many)).contains(&"RF-S003"));
    let wide = format!("a {}", "{1,2}".repeat(30));
    assert!(codes(&bash(&wide)).contains(&"RF-S003"));
    let growing = format!("x=a;{}$x", "x=$x$x$x$x;".repeat(1000));
    assert!(!bash(&growing).is_certain());
}

#[test]
fn dialects_differ_where_the_shells_do() {
    let rows = [
        ("echo $'\\''$(pwn)", Dialect::Sh, "RF-S001"),
        ("echo =ls", Dialect::Zsh, "RF-S007"),
        ("diff =(a) =(b)", Dialect::Zsh, "RF-S007"),
        ("echo *(e:'pwn':)", Dialect::Zsh, "RF-S007"),
        ("echo *(+pwn)", Dialect::Zsh, "RF-S007"),
        ("echo ${(e)x}", Dialect::Zsh, "RF-S007"),
        ("echo $~x", Dialect::Zsh, "RF-S007"),
        ("functions[f]=pwn", Dialect::Zsh, "RF-R003"),
        ("setopt magicequalsubst", Dialect::Zsh, "RF-S007"),
    ];
    for (line, dialect, code) in rows {
        let read = read(line.as_bytes(), &around(&[dialect]));
        assert!(codes(&read).contains(&code), "{line}: {:?}", read.findings);
    }
    let zsh = [
        ("if (a) b", "a | b"),
        ("repeat 2 a", "a"),
        ("for x (1 2) { a }", "a"),
        ("() { a; }", "a"),
        ("{ a } always { b }", "a | b"),
        ("{pwn}", "pwn"),
        ("a &| b", "a | b"),
        ("foreach x (1) a; end", "a"),
        ("if [[ 1 ]] { a } else { b }", "a | b"),
        ("function { a }", "a"),
        ("case a in a) b ;| c) d;; esac", "b | d"),
    ];
    for (line, expected) in zsh {
        let read = read(line.as_bytes(), &around(&[Dialect::Zsh]));
        assert_eq!(programs(&read), expected, "{line}: {:?}", read.findings);
    }
    // Read in every dialect, what any of them would start is there, and a mistake of one alone is none.
    let any = read(b"vis &>/dev/null pwn", &around(Dialect::ALL));
    assert!(
        programs(&any).contains("vis pwn") && programs(&any).split(" | ").any(|program| program == "pwn"),
        "{}",
        programs(&any)
    );
    assert!(read(b"x=(a b)", &around(Dialect::ALL)).is_certain());
}

#[test]
fn a_fork_bomb_is_seen_whatever_its_name() {
    for line in [
        ":(){ :|:& };:",
        "bomb(){ bomb|bomb& };bomb",
        "f() { f | f; }; f",
        "f() { f & f & }; f",
        "f() { while true; do f & done; }; f",
    ] {
        assert!(codes(&bash(line)).contains(&"RF-S018"), "{line}: {:?}", bash(line).findings);
    }
    for line in ["f() { g | g; }; f", "f() { a & b & }; f", "walk() { for x in *; do walk \"$x\"; done; }"] {
        assert!(!codes(&bash(line)).contains(&"RF-S018"), "{line}");
    }
}

#[test]
fn what_only_some_shells_start_is_listed_and_not_certain() {
    // Each with a program that not every shell starts.
    let rows = [
        ("repeat 1 rm x", "rm"),
        ("noglob rm x", "rm"),
        ("echo a &> f; rm x &>/dev/null", "rm"),
        ("if [[ -n a ]] { rm x }", "rm"),
        ("cat <<E\n${x:-<(rm y)}\nE", "cat"),
        ("echo a && =rm x", "rm"),
        ("a=1; foreach i (1) rm x; end", "rm"),
        ("function f { rm x; }; f", "rm"),
        ("echo ${x:-=(rm y)}", "rm"),
    ];
    for (line, name) in rows {
        let all = read(line.as_bytes(), &around(Dialect::ALL));
        let listed = |read: &Invocation| {
            read.programs
                .iter()
                .any(|program| program.argv.words().first().is_some_and(|word| word.text == name))
        };
        let alone: Vec<_> =
            Dialect::ALL.iter().map(|dialect| read(line.as_bytes(), &around(dialect.alone()))).collect();
        assert!(listed(&all), "{line}: {all:?}");
        let whole = |read: &&Invocation| !codes(read).contains(&"RF-S001");
        let differ = alone.iter().any(&listed) && alone.iter().filter(whole).any(|read| !listed(read));
        assert!(!differ || codes(&all).contains(&"RF-R003"), "{line}: {all:?}");
    }
    for line in ["ls | wc -l", "((1 < 2))", "x='a b'; ls $x", "time ls", "[[ -n a ]] && ls"] {
        let all = read(line.as_bytes(), &around(Dialect::ALL));
        assert!(!codes(&all).contains(&"RF-R003"), "{line}: {all:?}");
    }
}
