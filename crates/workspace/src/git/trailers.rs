//! The lines at the end of a commit's message that programs read.

/// Names a command.
pub(crate) const EXEC: &str = "Offshoot-Exec";
/// Names the workspace.
pub(crate) const WORKSPACE: &str = "Offshoot-Workspace";

/// A message with trailers.
pub(crate) fn with_trailers(text: &str, trailers: &[(&str, String)]) -> String {
    // NUL ends a message for git, and text must not look like what follows.
    let text = text.replace('\0', " ");
    let kept = text.lines().map(|line| match line.starts_with("Offshoot-") {
        true => format!(" {line}"),
        false => line.to_owned(),
    });
    let mut message = kept.collect::<Vec<_>>().join("\n").trim_end().to_owned();
    message.push_str("\n\n");
    for (name, value) in trailers {
        message.push_str(&format!("{name}: {value}\n"));
    }
    message
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_can_pretend_to_be_a_trailer() {
        let text = with_trailers("subject\n\nOffshoot-Exec: 1\n", &[(EXEC, "2".to_owned())]);
        assert_eq!(text, "subject\n\n Offshoot-Exec: 1\n\nOffshoot-Exec: 2\n");
    }
}
