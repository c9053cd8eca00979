use proptest::prelude::*;

use super::Filter;

fn shown(output: &[u8]) -> Vec<u8> {
    let (mut filter, mut screen) = (Filter::default(), Vec::new());
    filter.push(output, &mut screen);
    screen
}

#[track_caller]
fn check(output: &[u8], want: &[u8], why: &str) {
    let got = shown(output);
    assert_eq!(got.escape_ascii().to_string(), want.escape_ascii().to_string(), "{why}");
}

#[test]
fn what_draws_on_the_screen_passes_unchanged() {
    const ROWS: &[(&[u8], &str)] = &[
        (b"plain\r\n\ttext\x08\x07\x0e\x0f\x00", "text and the controls of a typewriter"),
        ("Grüße, 世界, ✓ ⛛ 🦀\n".as_bytes(), "letters with bytes from 0x80 to 0x9f inside"),
        (b"caf\xe9 na\xefve", "an old encoding"),
        (b"\x1b[1;38;5;208m\x1b[48:2::1:2:3m\x1b[0m\x1b[m", "colours"),
        (b"\x1b[2J\x1b[H\x1b[10;20H\x1b[K\x1b[3A\x1b[1;24r\x1b7\x1b8\x1bM\x1bD", "cursor and regions"),
        (b"\x1b[?1049h\x1b[?25l\x1b[?1049l", "the alternate screen, the cursor hidden"),
        (b"\x1b[?1000h\x1b[?1002h\x1b[?1006h\x1b[?1004h", "mouse and focus"),
        (b"\x1b[?2004h\x1b[?2026h\x1b[?1h\x1b=\x1b>\x1b[?12l", "paste brackets, updates at once, keypads"),
        (b"\x1b(0lqk\x1b(B\x1b)0\x1b#8\x1b[!p\x1bc", "line drawing, resets"),
        (b"\x1b[>4;2m\x1b[>1u\x1b[<u\x1b[=1;1u\x1b[2 q", "keyboard protocols and cursor shapes"),
        (b"\x1b[c\x1b[>c\x1b[6n\x1b[?6n\x1b[?2026$p\x1b[>q\x1b[?u", "questions with an answer of fixed form"),
        (b"\x1b[14t\x1b[16t\x1b[18t\x1b[19t\x1b[22;2t\x1b[23;0;0t", "sizes, and the title kept and put back"),
        (b"\x1b]0;vim: main.rs\x07\x1b]2;\xe2\x9c\x93 done\x1b\\\x1bkshell\x1b\\", "titles"),
        (b"\x1b]11;?\x07\x1b]4;1;rgb:ff/00/00\x1b\\\x1b]104\x07\x1b]112\x07", "colours of the terminal"),
        (b"\x1b]8;id=1;https://example.org/a\x1b\\a link\x1b]8;;\x1b\\", "links into the web"),
        (b"\x1b]9;4;1;50\x07\x1b]9;4;0\x1b\\\x1b]133;A\x07\x1b]22;text\x07", "progress, marks, the pointer"),
        (b"\x1b[1$r\x1b[3 t\x1b[1;2;3$t\x1b[5\"q", "rectangles, bells, protected letters"),
    ];
    for (output, why) in ROWS {
        check(output, output, why);
    }
}

#[test]
fn what_reaches_beyond_the_screen_is_dropped() {
    const ROWS: &[(&[u8], &str)] = &[
        (b"\x1b]52;c;cm0gLXJmIH4K\x07", "the clipboard is written"),
        (b"\x1b]52;c;?\x1b\\", "the clipboard is read"),
        (b"\x1b]052;c;QQ==\x07", "a number with a zero before it is the same number"),
        (b"\x1b]5522;type=read\x1b\\", "the clipboard by its newer name"),
        (b"\x1b]50;?\x07\x1b]50;evil\x07", "fonts, with an answer that echoes"),
        (b"\x1b]7;file://host/tmp/evil\x07\x1b]9;9;/tmp/evil\x07", "the directory of the next tab"),
        (b"\x1b]9;you have mail\x07\x1b]777;notify;a;b\x07\x1b]99;i=1;hello\x1b\\", "notifications"),
        (b"\x1b]9;4;1;50;evil\x07", "a notification in the clothes of a progress bar"),
        (b"\x1b]1337;File=inline=0:QQ==\x07\x1b]633;E;rm -rf ~\x07\x1b]3;PROP=1\x07", "of single terminals"),
        (b"\x1b]L title\x1b\\\x1b]\x07\x1b];x\x07\x1b]2:x\x07", "commands without a number"),
        (b"\x1b]2;?\x07", "the title, asked for"),
        (b"\x1b[21t\x1b[20t\x1b[021t\x1b[21;1t\x1b[>2t", "the title, reported as if typed"),
        (b"\x1b[8;500;500t\x1b[3;0;0t\x1b[2t\x1b[5t\x1b[30t\x1b[t\x1b[11t\x1b[13t", "the window"),
        (b"\x05", "the answerback of the user"),
        (b"\x1b[5i\x1b[4i\x1b[?5i\x1b[i", "the printer"),
        (b"\x1b[1;1;1;1;1;1*y\x1b[2;1y\x1b[3#y", "what others have written on the screen"),
        (b"\x1b[12;3]\x1b[14]", "another console in front"),
        (b"\x1b[?2l\x1b[?1;2l", "another language"),
        (b"\x1b%@\x1b%G", "another encoding"),
        (b"\x1bP$q\"p\x1b\\", "settings sent back"),
        (b"\x1bP+q544e\x1b\\", "capabilities sent back"),
        (b"\x1bPtmux;\x1b\x1b]52;c;QQ==\x07\x1b\\", "what a multiplexer hands through unread"),
        (b"\x1bP0;1|17/68656c6c6f\x1b\\", "keys that type a command"),
        (b"\x1bPq#0;2;0;0;0~~\n-\x1b\\", "pictures"),
        (
            b"\x1b_Ga=T,t=f;L2V0Yy9wYXNzd2Q=\x1b\\\x1b^pm\x1b\\\x1bXsos\x07still\x1b\\",
            "strings of other kinds",
        ),
        (b"\x1b]8;;file:///etc/passwd\x1b\\\x1b]8;;ssh://-oProxyCommand=x\x07", "links that start programs"),
        (b"\x1b]P0ff0000\x1b]R", "the palette of the Linux console"),
        (b"\x9d\x90\x9b\x98\x9e\x9f\x9a\x9c", "the same openings as one byte"),
        (b"\x1b[1;\x1b]52;c;QQ==\x07", "a sequence that breaks off for another"),
        (b"\x1b]0;a\x1b]52;c;QQ==\x07", "a string that breaks off for another"),
        (b"\x1b[3>5m\x1b[1$2m\x1b[12<t", "parts in an order terminals disagree about"),
        (b"\x1b]0;a\x9db\x07", "an opening inside of a title"),
        (b"\x1b", "nothing yet"),
    ];
    for (output, why) in ROWS {
        check(output, b"", why);
        check(&[b"before", *output, b"\x1b\\after"].concat(), b"beforeafter", why);
    }
}

#[test]
fn a_part_of_the_output_is_dropped_and_the_rest_stays() {
    const ROWS: &[(&[u8], &[u8], &str)] = &[
        (b"a\x1b]52;c;QQ==\x07b", b"ab", "text around it"),
        (b"\x1b]8;;vscode://x\x07name\x1b]8;;\x07", b"name\x1b]8;;\x07", "the text of a link stays"),
        (b"a\xc2\x9b21tb", b"a\xc221tb", "an encoded opening is broken, what followed is text"),
        (b"a\xe0\x82\x9b21t", b"a\xe0\x8221t", "encoded longer than allowed: a lenient decoder would obey"),
        (b"\xc2\x85\xc2\xa9", b"\xc2\x85\xc2\xa9", "an encoded newline and a letter"),
        (b"\x1b[3\n1m", b"\n\x1b[31m", "a newline inside is obeyed at once"),
        (b"\x1b[2\x051t\x1b[2\x00\x7f1tx", b"\x00x", "hidden inside"),
        (b"\x1b[31\x18m\x1b[31\x1am", b"mm", "cancelled"),
        (b"\x1b[31\x1b[32m", b"\x1b[32m", "begun anew"),
        (b"\x1b]0;x\nline\n", b"\nline\n", "a title without an end costs a line"),
        (b"\x1b]0;x\x9cy", b"y", "the end of a string as one byte"),
        (b"\x1bPq\xe2\x9c\x93~\x9cy", b"y", "a letter with that byte inside is no end"),
        (b"\x1b]Ry\x1b]P12z", b"yz", "palettes have no end of their own"),
        (b"\x1b\x1b[1m", b"\x1b[1m", "ESC twice"),
        (b"\x1b]0;\xe1\n\x9b21t", b"\n21t", "a letter begun in what is dropped hides no opening"),
        (b"\xe1\x05\x9b21t", b"\xe121t", "nor does one that is interrupted"),
        (b"\x1b[31\xe2\x9c\x93", b"\xe2\x9c\x93", "a letter ends it"),
    ];
    for (output, want, why) in ROWS {
        check(output, want, why);
    }
}

#[test]
fn nothing_endless_is_kept() {
    for opening in ["\x1b]0;", "\x1b]52;c;", "\x1bP", "\x1b_", "\x1b[", "\x1b(", "\x1bk"] {
        let (mut filter, mut screen) = (Filter::default(), Vec::new());
        filter.push(opening.as_bytes(), &mut screen);
        for _ in 0..256 {
            filter.push(&vec![b' '; 65536], &mut screen);
            screen.clear();
        }
        assert!(filter.held.capacity() <= 2 * super::LONGEST_COMMAND, "{opening:?}");
        filter.push(b"\x1b\\\x1b[mtext", &mut screen);
        assert!(screen.ends_with(b"\x1b[mtext"), "{opening:?}");
    }
}

#[test]
fn questions_are_remembered() {
    const ROWS: &[(&[u8], bool)] = &[
        (b"text\x1b[31m\x1b]0;t\x07", false),
        (b"\x1b[c", true),
        (b"\x1b[6n", true),
        (b"\x1b[18t", true),
        (b"\x1b[21t", false),
        (b"\x1b]11;?\x07", true),
        (b"\x1b]11;red\x07", false),
        (b"\x1bZ", true),
    ];
    for (output, asked) in ROWS {
        let mut filter = Filter::default();
        filter.push(output, &mut Vec::new());
        assert_eq!(filter.asked(), *asked, "{}", output.escape_ascii());
    }
}

/// Bytes as a program writes them, with more of the dangerous ones than chance would give.
fn output() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        any::<u8>().prop_map(|byte| vec![byte]),
        "[ -~]{0,8}".prop_map(String::into_bytes),
        "\\PC{0,4}".prop_map(String::into_bytes),
        proptest::sample::select(vec![
            &b"\x1b"[..],
            b"\x1b[",
            b"\x1b]",
            b"\x1bP",
            b"\x1b\\",
            b"\x07",
            b"52;c;",
            b"21t",
            b"\xc2",
            b"\x9b",
            b"\x9d",
            b"0;",
            b"?",
        ])
        .prop_map(<[u8]>::to_vec),
    ];
    proptest::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn the_result_does_not_depend_on_the_cuts(output in output(), cuts in proptest::collection::vec(0_usize..200, 0..8)) {
        let (mut filter, mut screen) = (Filter::default(), Vec::new());
        let mut rest = &output[..];
        for cut in cuts {
            let (now, later) = rest.split_at(cut.min(rest.len()));
            filter.push(now, &mut screen);
            rest = later;
        }
        filter.push(rest, &mut screen);
        prop_assert_eq!(screen, shown(&output));
    }

    #[test]
    fn what_was_shown_is_shown_again(output in output()) {
        let once = shown(&output);
        prop_assert_eq!(shown(&once), once);
    }

    #[test]
    fn text_passes(text in "[\\PC\n\r\t]{0,200}") {
        prop_assert_eq!(shown(text.as_bytes()), text.into_bytes());
    }

    #[test]
    fn nothing_opens_what_never_passes(output in output()) {
        let screen = shown(&output);
        let parts = [&b"\x1b]52"[..], b"\x1bP", b"\x1b_", b"\x1b^", b"\x1bX", b"\xc2\x9b", b"\xc2\x9d", b"\xc2\x90", b"\x05"];
        for part in parts {
            let found = screen.windows(part.len()).any(|window| window == part);
            prop_assert!(!found, "{} in {}", part.escape_ascii(), screen.escape_ascii());
        }
    }

    #[test]
    fn no_byte_outside_of_a_letter_is_a_control(output in output()) {
        for chunk in shown(&output).utf8_chunks() {
            prop_assert!(!chunk.invalid().iter().any(|byte| matches!(byte, 0x90 | 0x98..=0x9f) && chunk.invalid().len() == 1));
        }
    }
}
