//! Arithmetic evaluates values once more. What is a number for sure is free; what may be anything is asked about.
#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

mod judged;

use judged::{Mode, verdict};
use policy::Effect;
use ringfence_shell::{Dialect, Surroundings, read};

/// Everyday lines.
const FREE: &[&str] = &[
    "x=1; echo $((x+1))",
    "x=1; echo $(($x+1)) $[x]",
    "echo $(( $(wc -l < f) + 1 ))",
    "n=$(wc -l < f); echo $((n+1)) $(($n / 2))",
    "n=$(cat f | wc -l); if (( n > 3 )); then echo a; fi",
    "n=$(find . -name '*.rs' | wc -l); echo $((n * 2))",
    "n=$(grep -c foo f); echo $((n + 1))",
    "n=$(ls *.rs 2>/dev/null | wc -l); echo $((n + 1))",
    "n=$(wc -l < f 2>/dev/null); echo $((n + 1))",
    "a=(1 2); a[1]=5; echo $((a[1] + 1))",
    "echo $(( $(nproc) * 2 ))",
    "make -j$(( $(nproc) + 1 ))",
    "s=$(date +%s); sleep 1; e=$(date +%s); echo $((e - s))",
    "s=$(date +%s%N); echo $(( ($(date +%s%N) - s) / 1000000 ))",
    "echo $(( $(id -u) + 1 ))",
    "for f in *; do s=$(stat -c %s \"$f\"); t=$((t + s)); done",
    "t=0; for f in *; do s=$(stat -c%s \"$f\"); t=$((t + s)); done; echo $t",
    "x=abc; echo $(( ${#x} - 1 ))",
    "echo $(( $# + 1 )) $(( $? )) $(( RANDOM % 6 )) $((SECONDS/60))",
    "i=0; while [ $i -lt 3 ]; do i=$((i+1)); done",
    "i=0; until (( i >= 3 )); do (( i++ )); done",
    "for f in a b; do n=$((n+1)); done; echo $n",
    "for f in a b; do ((n++)); done; echo $n",
    "i=0; for f in a b; do i=$((i+1)); echo $i; done",
    "for i in 1 2 3; do echo $((i*i)); done",
    "for i in {1..10}; do echo $((i*i)); done",
    "for i in $(seq 1 10); do echo $((i*i)); done",
    "n=5; for i in $(seq $n); do echo $((i*i)); done",
    "for ((i=0; i<10; i++)); do echo $i; done",
    "n=$(nproc); for ((i=0; i<n; i++)); do echo $i; done",
    "a=(x y z); for ((i=0; i<${#a[@]}; i++)); do echo ${a[$i]} ${a[i]}; done",
    "a=(x y z); for i in \"${!a[@]}\"; do echo ${a[$i]}; done",
    "a=(x y z); echo ${a[0]} ${a[-1]} ${a[@]:1:2}",
    "declare -A m; for k in \"${!m[@]}\"; do echo ${m[$k]}; done",
    "[[ $? -eq 0 ]] && echo a",
    "[[ $# -lt 1 ]] && echo a",
    "[[ $(ls | wc -l) -gt 3 ]] && echo a",
    "n=$(wc -l < f); [[ $n -gt 3 ]] && echo a",
    "rc=$?; exit $rc",
    "a | b; rc=${PIPESTATUS[0]}; exit $rc",
    "x=5; let x++; let 'x = x * 2'; echo $x",
    "f() { local i=0; i=$((i+1)); echo $i; }; f",
    "i=0; f() { i=$((i+1)); }; f; echo $i",
    "x=abcdef; n=3; echo ${x:0:$n} ${x:$((n+1))} ${x:2}",
    "printf '%d\\n' 5; printf '%s\\n' \"$x\"; printf '%d\\n' $((1+1))",
    "bash -c 'x=1; echo $((x+1)); [[ $# -eq 0 ]]'",
    "read -r -p \"Go on [$d]? \" answer",
    "unset x; unset -f f",
    "sleep $((2 * 3)); echo $((16#ff)) $((0x10 + 07))",
    "n=$(git rev-list --count HEAD); echo $((n - 1))",
    "x=${1:-3}; echo $x",
];

/// The same, in what not every shell knows.
const FREE_IN_BASH: &[&str] =
    &["declare -A m; m[foo]=1; echo ${m[foo]}", "declare -A m; while read -r k v; do m[$k]=$v; done < f"];

/// Values that may be anything.
const ASKED: &[&str] = &[
    "echo $(( $(cat f) ))",
    "echo $(( $(aux 'a[$(pwn)]') ))",
    "echo $((x + 1))",
    "echo $(( $x ))",
    "x=$(cat f); echo $((x))",
    "while read n; do echo $((n+1)); done < f",
    "echo $(( $(wc -l f) ))",
    "echo $(( $(wc -l $f) ))",
    "echo $(( $(wc --total=never) ))",
    "echo $(( $(date +%A) ))",
    "echo $(( $(date \"$f\") ))",
    "echo $(( $(id -un) ))",
    "echo $(( $(stat -c %n f) ))",
    "echo $(( $(stat -c %s $f) ))",
    "echo $(( $(stat -c %s \"$f\" \"$g\") ))",
    "echo $(( $(stat -c %s --format=%n f) ))",
    "echo $(( $(grep -c x *) ))",
    "echo $(( $(grep -rc x .) ))",
    "echo $(( $(seq -s \"$x\" 3) ))",
    "echo $(( $(seq $x 3) ))",
    "echo $(( $(expr \"$x\") ))",
    "echo $(( $(echo \"$x\") ))",
    "echo $(( $(nproc; cat f) ))",
    "echo $(( $(grep -c \"$p\" f) ))",
    "echo $(( $(date +s) ))",
    "echo $(( $(date +%sx) ))",
    "echo $(( $(date -d \"$x\" +%s 2>&1) ))",
    "echo $(( $(stat -c s f) ))",
    "nproc() { cat f; }; export -f nproc; bash -c 'echo $(( $(nproc) ))'",
    "env 'BASH_FUNC_nproc%%=() { cat f; }' bash -c 'echo $(( $(nproc) ))'",
    "for i in 1 2; do echo $(( $(nproc) )); eval 'nproc() { cat f; }'; done",
    "a=('b[$(pwn)]'); a[1]=5; echo $((a[0]))",
    "a=('b[$(pwn)]'); a[1]=5; echo $((a))",
    "echo $(( $(PATH=. nproc) ))",
    "PATH=.:$PATH; echo $(( $(nproc) ))",
    "nproc() { cat f; }; echo $(( $(nproc) ))",
    ". ./f; echo $(( $(nproc) ))",
    "[[ $(cat f) -eq 0 ]]",
    "[[ $x -eq 0 ]]",
    "x=$(cat f); a=(1); echo ${a[$x]}",
    "x=$(cat f); a[$x]=1",
    "x=abc; echo ${x:$(cat f)}",
    "let \"$(cat f)\"",
    "unset \"$(cat f)\"",
    "printf -v \"$(cat f)\" x",
    "x='a[$(pwn)]' bash -c 'echo $((x))'",
    "env x='a[$(pwn)]' bash -c '((x++))'",
    "x='a[$(pwn)]' bash -c 'x=$((x+1))'",
    "x=1; f() { : ${x:='a[$(pwn)]'}; }; g() { echo $((x)); }; unset x; f; g",
    "x=1; f() { echo $((x)); }; declare -n r=x; r='a[$(pwn)]'; f",
    "x=1; f() { echo $((x)); }; command read x <g; f",
    "x=1; f() { echo $((x)); }; printf -vx 'a[$(pwn)]'; f",
];

/// Operands that zsh evaluates.
const ASKED_BY_ZSH: &[&str] = &[
    "exit $(cat f)",
    "return \"$x\"",
    "shift $x",
    "printf %d \"$x\"",
    "repeat $x echo a",
    "print -f %d $(cat f)",
];

#[test]
fn numbers_are_free() {
    for dialects in [Dialect::ALL, &[Dialect::Bash], &[Dialect::Zsh]] {
        let asked: Vec<_> = FREE.iter().filter_map(|text| asked(text, dialects)).collect();
        assert!(asked.is_empty(), "{dialects:?}:\n{}", asked.join("\n"));
    }
    for dialects in [&[Dialect::Bash, Dialect::Zsh][..], &[Dialect::Bash], &[Dialect::Zsh]] {
        let asked: Vec<_> = FREE_IN_BASH.iter().filter_map(|text| asked(text, dialects)).collect();
        assert!(asked.is_empty(), "{dialects:?}:\n{}", asked.join("\n"));
    }
}

#[test]
fn what_may_be_anything_is_asked_about() {
    for dialects in [Dialect::ALL, &[Dialect::Bash]] {
        let free: Vec<_> = ASKED.iter().filter(|text| asked(text, dialects).is_none()).collect();
        assert!(free.is_empty(), "{dialects:?}: {free:#?}");
    }
    for dialects in [Dialect::ALL, &[Dialect::Zsh]] {
        let free: Vec<_> = ASKED_BY_ZSH.iter().filter(|text| asked(text, dialects).is_none()).collect();
        assert!(free.is_empty(), "{dialects:?}: {free:#?}");
    }
}

/// Returns the message about a line that is not allowed in standard mode.
fn asked(text: &str, dialects: &[Dialect]) -> Option<String> {
    let around = Surroundings { dialects, cwd: Some("/w"), home: Some("/h"), stdin: None };
    let read = read(text.as_bytes(), &around);
    (verdict(&read, Mode::Standard) != Effect::Allow).then(|| {
        let findings = read.findings.iter().map(|finding| format!("{} {}", finding.code, finding.text));
        format!("{text:?}: {:?}", findings.collect::<Vec<_>>())
    })
}
