//! Showing long output a page at a time.

use std::io::{self, IsTerminal, Write};
use std::process::{Command, Stdio};

use offshoot_engine::exec::Signals;

use crate::context::Context;
use crate::error::Result;
use crate::output::for_people;

/// What shells answer with where there is no such command.
const NOT_FOUND: i32 = 127;
/// Leaves short output alone, shows colours, and leaves the screen as it is at the end.
const USUAL: &str = "less -FRX";

/// Shows text that may have colours in it: through a pager where somebody looks at a terminal, else directly.
pub(crate) fn show(context: &Context, text: &str, wanted: bool) -> Result<()> {
    let pager = command(&context.config().ui.pager, |name| {
        std::env::var(name).ok().filter(|value| !value.is_empty())
    });
    match pager {
        Some(pager) if wanted && io::stdout().is_terminal() && !text.is_empty() => {
            let coloured = context.output.is_coloured();
            let plain = || anstream::adapter::strip_str(text).to_string();
            let shown = if coloured { text.to_owned() } else { plain() };
            if page(&pager, &for_people(&shown, true)) {
                return Ok(());
            }
            context.output.hint(format!("the pager `{pager}` was not found"));
            context.output.text(text)
        }
        _ => context.output.text(text),
    }
}

/// Which command pages: the first that is set; none where it says so.
fn command(setting: &str, variable: impl Fn(&str) -> Option<String>) -> Option<String> {
    let set = |name: &str| variable(name);
    let configured = Some(setting.to_owned()).filter(|setting| setting != "auto");
    let chosen = set("OFFSHOOT_PAGER").or(configured).or_else(|| set("PAGER"));
    let chosen = chosen.unwrap_or_else(|| USUAL.to_owned());
    Some(chosen).filter(|pager| !matches!(pager.trim(), "" | "never" | "cat"))
}

/// Runs a pager; false where there is no such command. One that is left early has shown enough.
fn page(pager: &str, text: &[u8]) -> bool {
    let child = Command::new("/bin/sh").args(["-c", pager]).stdin(Stdio::piped()).spawn();
    let Ok(mut child) = child else { return false };
    // Ctrl-C is for the pager. Taken over after it has started, or it would not get it either.
    let _signals = Signals::take_over();
    if let Some(mut input) = child.stdin.take() {
        // Where it was left early, the rest is not wanted.
        drop(input.write_all(text));
    }
    child.wait().map_or(true, |status| status.code() != Some(NOT_FOUND))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(setting: &str, variables: &[(&str, &str)]) -> Option<String> {
        command(setting, |name| {
            let found = variables.iter().find(|(variable, _)| *variable == name);
            found.map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn the_nearest_choice_counts() {
        let both = [("OFFSHOOT_PAGER", "mine"), ("PAGER", "more")];
        assert_eq!(chosen("auto", &both).as_deref(), Some("mine"));
        assert_eq!(chosen("configured", &both[1..]).as_deref(), Some("configured"));
        assert_eq!(chosen("auto", &both[1..]).as_deref(), Some("more"));
        assert_eq!(chosen("auto", &[]).as_deref(), Some(USUAL));
        for none in ["never", "cat", " "] {
            assert_eq!(chosen(none, &both[1..]), None, "{none}");
            assert_eq!(chosen("auto", &[("OFFSHOOT_PAGER", none)]), None, "{none}");
        }
    }
}
