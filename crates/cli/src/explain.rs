//! `ringfence explain`: the manual page of a code.

use policy::Code;
use serde_json::json;

use crate::exit::Exit;
use crate::failure::Failure;
use crate::terminal::{Format, Terminal};

/// Prints the manual page of a code, or the list of all codes.
pub(crate) fn run(code: Option<&str>, terminal: &mut Terminal<'_>) -> Result<Exit, Failure> {
    let Some(text) = code else { return list(terminal) };
    let code = Code::from_id(text).ok_or_else(|| {
        Failure::usage(format!("there is no code `{text}`")).hint("`ringfence explain` lists all codes")
    })?;
    match terminal.format {
        Format::Text => write!(terminal.out, "{}", code.manual())?,
        Format::Json => {
            terminal.json(
                &json!({ "version": 1, "code": code.id(), "title": code.title(), "manual": code.manual() }),
            )?;
        }
    }
    Ok(Exit::Ok)
}

fn list(terminal: &mut Terminal<'_>) -> Result<Exit, Failure> {
    match terminal.format {
        Format::Text => {
            for code in Code::ALL {
                writeln!(terminal.out, "{code}  {}", code.title())?;
            }
        }
        Format::Json => {
            let codes: Vec<_> =
                Code::ALL.iter().map(|code| json!({ "code": code.id(), "title": code.title() })).collect();
            terminal.json(&json!({ "version": 1, "codes": codes }))?;
        }
    }
    Ok(Exit::Ok)
}
