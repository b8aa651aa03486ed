//! Which program a command runs.

/// Programs that run a package of a registry, with the words behind them that do. Those that look in the project first, such as `npx`, are not
/// among them: anybody can put a file there.
const RUNNERS: &[(&str, &[&str])] =
    &[("uvx", &[]), ("pipx", &["run"]), ("pnpm", &["dlx"]), ("yarn", &["dlx"])];

/// The name of the program that a command runs, or of the package behind a program that runs packages. None of one that lies
/// beside the command, in the project: anybody can call a file there as they like.
pub(super) fn program<'a>(arguments: &[&'a [u8]]) -> Option<&'a [u8]> {
    let (first, rest) = arguments.split_first()?;
    if first.contains(&b'/') && !first.starts_with(b"/") {
        return None;
    }
    let name = first.rsplit(|byte| *byte == b'/').next()?;
    let runner = RUNNERS.iter().find(|(runner, _)| runner.as_bytes() == name);
    let Some((_, verbs)) = runner else { return Some(name) };
    let mut rest = rest.iter().filter(|argument| !argument.starts_with(b"-"));
    let mut package = rest.next()?;
    if !verbs.is_empty() {
        if !verbs.iter().any(|verb| verb.as_bytes() == *package) {
            return None;
        }
        package = rest.next()?;
    }
    // A version stands behind an `@` that is not the first.
    let end =
        package.iter().skip(1).position(|byte| *byte == b'@').map_or(package.len(), |at| at + 1);
    Some(&package[..end])
}
