//! The output of a jailed program on its way to the caller's terminal.

use super::sequence::{Verdict, judge_command, judge_control, judge_escape};
use super::utf8::{Byte, Utf8};

/// Lets pass what draws on the screen, and drops what reaches beyond it.
///
/// Works byte by byte on a stream: the result does not depend on how the stream is cut. A sequence is held until it is
/// complete and then passes whole or not at all, so the terminal is never left in the middle of one.
#[derive(Debug, Default)]
pub(crate) struct Filter {
    state: State,
    /// The sequence so far, from ESC on. Empty while a string is being dropped.
    held: Vec<u8>,
    characters: Utf8,
    asked: bool,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum State {
    #[default]
    Ground,
    /// After ESC, and what may stand between it and the last byte.
    Escape,
    /// After `ESC [`.
    Control,
    /// In a command or a title, or in a command that is being dropped.
    Command,
    /// In a string of a kind that never passes.
    Other,
    /// After an ESC in a string: the end of it, or the start of something else.
    End,
    /// In a colour of the Linux console, with so many digits to come. It has no end of its own.
    Palette(u8),
}

const ESC: u8 = 0x1b;
const BEL: u8 = 0x07;
const ENQ: u8 = 0x05;
const CAN: u8 = 0x18;
const SUB: u8 = 0x1a;
const DEL: u8 = 0x7f;
const ST: u8 = 0x9c;

/// The longest control sequence; a line full of colours in one sequence is a tenth of it.
const LONGEST_CONTROL: usize = 1024;
/// The longest command: an address and more.
const LONGEST_COMMAND: usize = 4096;

impl Filter {
    /// Adds to `screen` what of `output` may be shown now.
    pub(crate) fn push(&mut self, mut output: &[u8], screen: &mut Vec<u8>) {
        while let [byte, rest @ ..] = output {
            let plain = if self.state == State::Ground { plain_length(output) } else { 0 };
            if plain > 0 {
                self.characters.reset();
                screen.extend_from_slice(&output[..plain]);
                output = &output[plain..];
            } else {
                self.step(*byte, screen);
                output = rest;
            }
        }
    }

    /// Returns true if the terminal was sent a query, so that an answer may still be on its way.
    pub(crate) fn asked(&self) -> bool {
        self.asked
    }

    fn step(&mut self, byte: u8, screen: &mut Vec<u8>) {
        // Also in what is dropped: a character begun there must not lend its place to a control after it.
        if byte.is_ascii() {
            self.characters.reset();
        }
        match self.state {
            State::Ground => self.ground(byte, screen),
            State::Escape => self.escape(byte, screen),
            State::Control => self.control(byte, screen),
            State::Command => self.command(byte, screen),
            State::Other => self.other(byte),
            State::End => self.end(byte, screen),
            State::Palette(left) => self.palette(left, byte, screen),
        }
    }

    fn ground(&mut self, byte: u8, screen: &mut Vec<u8>) {
        self.state = State::Ground;
        match byte {
            ESC => self.begin(),
            // Asks for an answer that the user has set, and that may be a secret of theirs.
            ENQ => {}
            0x80.. if self.characters.take(byte) != Byte::Text => {}
            _ => screen.push(byte),
        }
    }

    fn begin(&mut self) {
        self.held.clear();
        self.held.push(ESC);
        self.state = State::Escape;
    }

    fn escape(&mut self, byte: u8, screen: &mut Vec<u8>) {
        let first = self.held.len() == 1;
        match byte {
            b'[' if first => self.hold(byte, State::Control),
            b']' | b'k' if first => self.hold(byte, State::Command),
            // DCS, SOS, PM, APC: key definitions, macros, settings sent back, what a multiplexer hands through unread,
            // pictures from files. Programs ask with some of them and live without the answer.
            b'P' | b'X' | b'^' | b'_' if first => self.lose(State::Other),
            0x30..=0x7e => self.conclude(byte, screen, judge_escape),
            _ => self.continue_sequence(byte, screen),
        }
    }

    fn control(&mut self, byte: u8, screen: &mut Vec<u8>) {
        match byte {
            0x40..=0x7e => self.conclude(byte, screen, |held| judge_control(&held[2..])),
            0x30..=0x3f => self.hold(byte, State::Control),
            _ => self.continue_sequence(byte, screen),
        }
    }

    /// Handles a byte in the middle of a sequence of any kind.
    fn continue_sequence(&mut self, byte: u8, screen: &mut Vec<u8>) {
        match byte {
            ESC => self.begin(),
            CAN | SUB => self.state = State::Ground,
            ENQ | DEL => {}
            // Terminals obey these at once and go on with the sequence.
            0x00..=0x1f => screen.push(byte),
            0x20..=0x2f => self.hold(byte, self.state),
            _ => self.ground(byte, screen),
        }
    }

    fn hold(&mut self, byte: u8, state: State) {
        self.held.push(byte);
        self.state = if self.held.len() > LONGEST_CONTROL { State::Ground } else { state };
    }

    fn conclude(&mut self, last: u8, screen: &mut Vec<u8>, judge: fn(&[u8]) -> Verdict) {
        self.held.push(last);
        self.state = State::Ground;
        self.carry_out(judge(&self.held), screen);
    }

    fn carry_out(&mut self, verdict: Verdict, screen: &mut Vec<u8>) {
        self.asked |= verdict == Verdict::Ask;
        if verdict != Verdict::Drop {
            screen.extend_from_slice(&self.held);
        }
    }

    fn command(&mut self, byte: u8, screen: &mut Vec<u8>) {
        match byte {
            b'R' if self.held == b"\x1b]" => self.state = State::Ground,
            b'P' if self.held == b"\x1b]" => self.state = State::Palette(7),
            0x20..=0x7e => self.add(byte),
            BEL => self.conclude(byte, screen, judge_string),
            ESC => self.state = State::End,
            DEL => self.held.clear(),
            // Not part of any command. Better a line too much on the screen than all that follows lost.
            0x00..=0x1f => self.ground(byte, screen),
            0x80.. => self.collect_high(byte),
        }
    }

    fn collect_high(&mut self, byte: u8) {
        match self.characters.take(byte) {
            Byte::Text => self.add(byte),
            Byte::Control(ST) => self.state = State::Ground,
            Byte::Control(_) => self.held.clear(),
        }
    }

    /// Adds to the command, unless it is being dropped or has become too long.
    fn add(&mut self, byte: u8) {
        if self.held.len() >= LONGEST_COMMAND {
            self.held.clear();
        }
        if !self.held.is_empty() {
            self.held.push(byte);
        }
    }

    fn lose(&mut self, state: State) {
        self.held.clear();
        self.state = state;
    }

    fn other(&mut self, byte: u8) {
        match byte {
            ESC => self.state = State::End,
            CAN | SUB => self.state = State::Ground,
            0x80.. if self.characters.take(byte) == Byte::Control(ST) => self.state = State::Ground,
            _ => {}
        }
    }

    fn end(&mut self, byte: u8, screen: &mut Vec<u8>) {
        if byte == b'\\' {
            self.held.push(ESC);
            self.conclude(byte, screen, judge_string);
        } else {
            self.begin();
            self.escape(byte, screen);
        }
    }

    fn palette(&mut self, left: u8, byte: u8, screen: &mut Vec<u8>) {
        match (left, byte.is_ascii_hexdigit()) {
            (_, false) => self.ground(byte, screen),
            (..=1, true) => self.state = State::Ground,
            (2.., true) => self.state = State::Palette(left - 1),
        }
    }
}

/// Judges a string with its end. One that is being dropped has no beginning left.
fn judge_string(held: &[u8]) -> Verdict {
    let body = held.strip_suffix(b"\x1b\\").or_else(|| held.strip_suffix(&[BEL])).unwrap_or(held);
    match body {
        [ESC, b']', command @ ..] => judge_command(command),
        // A title in the way of terminal multiplexers.
        [ESC, b'k', ..] if held.ends_with(b"\\") => Verdict::Pass,
        _ => Verdict::Drop,
    }
}

/// Returns the number of leading bytes that need no inspection.
fn plain_length(output: &[u8]) -> usize {
    output.iter().position(|byte| matches!(*byte, ESC | ENQ | 0x80..)).unwrap_or(output.len())
}

#[cfg(test)]
mod tests;
