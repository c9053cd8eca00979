//! Git's settings as text: what a file such as `.git/config` says, read without git.
//!
//! The text is untrusted. Syntax that git itself would refuse is refused: git then does nothing with the file.

/// One setting of a file of git's settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GitSetting {
    /// The section, in lower case.
    pub section: String,
    /// Text in quotes after it, as it is.
    pub subsection: Option<Vec<u8>>,
    /// The key, in lower case.
    pub key: String,
    /// The value; `None` where only the key stands, which means true.
    pub value: Option<Vec<u8>>,
}

/// Why a text is not one of git's settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {what}")]
pub struct GitSettingsError {
    /// The line, from 1.
    pub line: usize,
    /// Description of the mistake.
    pub what: &'static str,
}

/// The settings of a text, in its order.
pub fn git_settings(text: &[u8]) -> Result<Vec<GitSetting>, GitSettingsError> {
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    let mut reader = Reader { text, at: 0, line: 1 };
    let (mut section, mut settings) = (None, Vec::new());
    while let Some(byte) = reader.next() {
        match byte {
            b'\n' | b' ' | b'\t' | b'\r' => {}
            b'#' | b';' => reader.skip_comment(),
            b'[' => section = Some(reader.section()?),
            letter if letter.is_ascii_alphabetic() => {
                let (name, subsection) =
                    section.clone().ok_or_else(|| reader.error("a key stands before every section"))?;
                let (key, value) = reader.setting(letter)?;
                settings.push(GitSetting { section: name, subsection, key, value });
            }
            _ => return Err(reader.error("neither a section nor a key")),
        }
    }
    Ok(settings)
}

impl GitSetting {
    /// Returns true if it is this one: `section.key`, or `section.*.key` with any text in quotes. Lower case.
    #[must_use]
    pub fn is(&self, name: &str) -> bool {
        let Some((section, key)) = name.split_once('.') else { return false };
        let (any, key) = key.strip_prefix("*.").map_or((false, key), |key| (true, key));
        self.section == section && self.subsection.is_some() == any && (key == "*" || self.key == key)
    }

    /// Returns true if its value is a command, or has one in it, which git runs.
    #[must_use]
    pub fn is_command(&self) -> bool {
        let shell = || self.value.as_ref().is_some_and(|value| value.starts_with(b"!"));
        COMMANDS.iter().any(|name| self.is(name)) && (self.section != "alias" || shell())
    }

    /// Returns true if its value is true as git reads it.
    #[must_use]
    pub fn is_true(&self) -> bool {
        let Some(value) = &self.value else { return true };
        let words: [&[u8]; 3] = [b"true", b"yes", b"on"];
        let number = std::str::from_utf8(value).ok().and_then(|text| text.parse::<i64>().ok());
        words.iter().any(|word| value.eq_ignore_ascii_case(word)) || number.is_some_and(|number| number != 0)
    }
}

/// Settings with commands in them.
const COMMANDS: &[&str] = &[
    "core.fsmonitor",
    "core.sshcommand",
    "core.editor",
    "core.pager",
    "core.askpass",
    "core.gitproxy",
    "core.alternaterefscommand",
    "sequence.editor",
    "gpg.program",
    "gpg.*.program",
    "gpg.ssh.defaultkeycommand",
    "credential.helper",
    "credential.*.helper",
    "filter.*.clean",
    "filter.*.smudge",
    "filter.*.process",
    "diff.external",
    "diff.*.command",
    "diff.*.textconv",
    "merge.*.driver",
    "mergetool.*.cmd",
    "difftool.*.cmd",
    "interactive.difffilter",
    "pager.*",
    "alias.*",
    "remote.*.uploadpack",
    "remote.*.receivepack",
    "submodule.*.update",
    "trailer.*.command",
    "trailer.*.cmd",
    "uploadpack.packobjectshook",
    "web.browser",
    "browser.*.cmd",
    "man.*.cmd",
];

struct Reader<'a> {
    text: &'a [u8],
    at: usize,
    line: usize,
}

impl Reader<'_> {
    /// The next byte. A carriage return before a line end is none.
    fn next(&mut self) -> Option<u8> {
        if self.text[self.at..].starts_with(b"\r\n") {
            self.at += 1;
        }
        let byte = *self.text.get(self.at)?;
        self.at += 1;
        self.line += usize::from(byte == b'\n');
        Some(byte)
    }

    fn error(&self, what: &'static str) -> GitSettingsError {
        // The line end itself belongs to the line before.
        let ended = self.at > 0 && self.text.get(self.at - 1) == Some(&b'\n');
        GitSettingsError { line: self.line - usize::from(ended), what }
    }

    fn skip_comment(&mut self) {
        while !matches!(self.next(), None | Some(b'\n')) {}
    }

    /// Reads the text between brackets: a name, and perhaps another one in quotes or, in the old syntax, after a dot.
    fn section(&mut self) -> Result<(String, Option<Vec<u8>>), GitSettingsError> {
        let mut name = String::new();
        loop {
            match self.next() {
                Some(b']') => break,
                Some(b' ' | b'\t') => return Ok((name, Some(self.subsection()?))),
                Some(byte) if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.') => {
                    name.push(char::from(byte.to_ascii_lowercase()));
                }
                _ => return Err(self.error("the name of the section does not end")),
            }
        }
        Ok(match name.split_once('.') {
            Some((name, rest)) => (name.to_owned(), Some(rest.as_bytes().to_vec())),
            None => (name, None),
        })
    }

    fn subsection(&mut self) -> Result<Vec<u8>, GitSettingsError> {
        let mut name = Vec::new();
        loop {
            match self.next() {
                Some(b' ' | b'\t') => {}
                Some(b'"') => break,
                _ => return Err(self.error("a section goes on without quotes")),
            }
        }
        loop {
            let byte = match self.next() {
                Some(b'"') => break,
                Some(b'\\') => self.next(),
                byte => byte,
            };
            match byte {
                None | Some(b'\n' | 0) => return Err(self.error("the quotes of a section do not end")),
                Some(byte) => name.push(byte),
            }
        }
        if self.next() == Some(b']') { Ok(name) } else { Err(self.error("the section does not end")) }
    }

    fn setting(&mut self, first: u8) -> Result<(String, Option<Vec<u8>>), GitSettingsError> {
        let mut key = String::from(char::from(first.to_ascii_lowercase()));
        let mut byte = self.next();
        while let Some(letter) = byte.filter(|byte| byte.is_ascii_alphanumeric() || *byte == b'-') {
            key.push(char::from(letter.to_ascii_lowercase()));
            byte = self.next();
        }
        while matches!(byte, Some(b' ' | b'\t')) {
            byte = self.next();
        }
        match byte {
            None | Some(b'\n') => Ok((key, None)),
            Some(b'=') => Ok((key, Some(self.value()?))),
            Some(_) => Err(self.error("a key is followed by something else than `=`")),
        }
    }

    fn value(&mut self) -> Result<Vec<u8>, GitSettingsError> {
        let (mut value, mut quoted, mut ends_at) = (Vec::new(), false, 0);
        loop {
            let byte = match self.next() {
                None | Some(b'\n') if quoted => return Err(self.error("the quotes of a value do not end")),
                None | Some(b'\n') => break,
                Some(0) => return Err(self.error("a value has a zero byte in it")),
                Some(b'"') => {
                    quoted = !quoted;
                    ends_at = value.len();
                    continue;
                }
                Some(b'#' | b';') if !quoted => {
                    self.skip_comment();
                    break;
                }
                Some(blank @ (b' ' | b'\t' | b'\r')) if !quoted => {
                    // Blanks at the beginning are none, and those at the end are cut off.
                    value.extend((!value.is_empty()).then_some(blank));
                    continue;
                }
                Some(b'\\') => match self.escaped()? {
                    Some(byte) => byte,
                    None => continue,
                },
                Some(byte) => byte,
            };
            value.push(byte);
            ends_at = value.len();
        }
        value.truncate(ends_at);
        Ok(value)
    }

    /// Reads the byte after a backslash and returns its meaning; before a line end, nothing.
    fn escaped(&mut self) -> Result<Option<u8>, GitSettingsError> {
        match self.next() {
            Some(b'\n') => Ok(None),
            Some(b't') => Ok(Some(b'\t')),
            Some(b'b') => Ok(Some(0x08)),
            Some(b'n') => Ok(Some(b'\n')),
            Some(byte @ (b'\\' | b'"')) => Ok(Some(byte)),
            _ => Err(self.error("a backslash before something that it does not go with")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// One line per setting.
    fn read(text: &str) -> String {
        let line = |setting: GitSetting| {
            let inner = setting.subsection.map(|name| format!(".{}", name.escape_ascii()));
            let value = setting.value.map(|value| format!("={}", value.escape_ascii()));
            [setting.section, inner.unwrap_or_default(), ".".into(), setting.key, value.unwrap_or_default()]
                .concat()
        };
        match git_settings(text.as_bytes()) {
            Ok(settings) => settings.into_iter().map(line).collect::<Vec<_>>().join(" | "),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn read_as_git_reads_them() {
        let rows = [
            ("", ""),
            ("[core]\n\tbare = false\n", "core.bare=false"),
            ("\u{feff}[Core]\r\n\tFileMode\r\n", "core.filemode"),
            ("[core] bare = true # no\n; no\n[a]b=c", "core.bare=true | a.b=c"),
            ("[filter \"a \\\"b\\\\\"]\nclean = x", "filter.a \\\"b\\\\.clean=x"),
            ("[branch.Main]\nremote=o", "branch.main.remote=o"),
            ("[a]\nb = \"x # y\" ; z", "a.b=x # y"),
            ("[a]\nb = one \\\n two  ", "a.b=one  two"),
            ("[a]\nb = \" x \"  ", "a.b= x "),
            ("[a]\nb = x\\ty\\n", "a.b=x\\ty\\n"),
            ("[a]\nb = \"\"", "a.b="),
            ("[a]\nb = x\ty \t", "a.b=x\\ty"),
            ("b = c", "line 1: a key stands before every section"),
            ("[a]\nb = \"x\n", "line 2: the quotes of a value do not end"),
            ("[a]\nb = \\x", "line 2: a backslash before something that it does not go with"),
            ("[a \"b\nc\"]", "line 1: the quotes of a section do not end"),
            ("[a \"b\" ]", "line 1: the section does not end"),
            ("[a b]", "line 1: a section goes on without quotes"),
            ("[a\n", "line 1: the name of the section does not end"),
            ("[a]\n1 = 2", "line 2: neither a section nor a key"),
            ("[a]\nb c", "line 2: a key is followed by something else than `=`"),
            ("[a]\nb = x\0y", "line 2: a value has a zero byte in it"),
        ];
        for (text, expected) in rows {
            assert_eq!(read(text), expected, "{text:?}");
        }
    }

    #[test]
    fn settings_that_make_git_run_something_are_known() {
        let rows = [
            ("[core]\nfsmonitor = x", true),
            ("[core]\nbare = x", false),
            ("[filter \"a\"]\nclean = x", true),
            ("[alias]\na = log", false),
            ("[alias]\na = !log", true),
            ("[branch \"a\"]\nremote = x", false),
        ];
        for (text, expected) in rows {
            assert_eq!(git_settings(text.as_bytes()).unwrap()[0].is_command(), expected, "{text}");
        }
    }

    #[test]
    fn a_setting_is_found_by_its_name() {
        let settings = git_settings(b"[core]\nbare\n[filter \"x\"]\nclean=a\n[alias]\nx=!y").unwrap();
        let is = |name: &str| settings.iter().map(|setting| setting.is(name)).collect::<Vec<_>>();
        assert_eq!(is("core.bare"), [true, false, false]);
        assert_eq!(is("filter.*.clean"), [false, true, false]);
        assert_eq!(is("filter.clean"), [false, false, false]);
        assert_eq!(is("alias.*"), [false, false, true]);
        assert!(settings[0].is_true() && !settings[1].is_true());
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let lines = bytes.split(|byte| *byte == b'\n').count();
            if let Err(error) = git_settings(&bytes) {
                prop_assert!((1..=lines).contains(&error.line));
            }
        }

        #[test]
        fn what_was_quoted_is_read_back(value in "[ -~\t\n]{0,40}", name in "[ -~]{0,20}") {
            let quoted = |text: &str| text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
            let name_quoted = name.replace('\\', "\\\\").replace('"', "\\\"");
            let text = format!("[x \"{name_quoted}\"]\n\tkey = \"{}\"\n", quoted(&value));
            let read = git_settings(text.as_bytes()).unwrap();
            prop_assert_eq!(read.len(), 1);
            prop_assert_eq!(read[0].subsection.as_deref(), Some(name.as_bytes()));
            prop_assert_eq!(read[0].value.as_deref(), Some(value.as_bytes()));
        }
    }
}
