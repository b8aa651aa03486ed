//! The page that lists all attempts.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use crate::attempt::{Attempt, CLASSES, Class, Control, Place, repository};

const HEAD: &str = "\
# Attacks that are tried

A test makes every attempt on this page inside a workspace, once as root and once as an ordinary user. Each has to fail, and for the reason that is
given. An attempt could also fail because it is broken, so most are made again where the wall is missing, and have to get through there.
The last column says where that is:

| where | means |
|---|---|
| host | on the host, by the same user |
| host, root | on the host, by root; the host refuses other users as well |
| namespaces | on the host, with all capabilities over namespaces of its own |
| options | in a workspace, with these options of `exec` |
| first | in the same attempt, before the wall is asked for |
| – | nowhere; the reason is below the table |

The test has profiles of its own: `readable` shows the secrets, `unfiltered` has no filter of system calls, `unlocked` no Landlock, `keys` neither the
filter nor a keyring, `rings` allows `io_uring`, and `unmasked` shows all of `/sys`. `$OTHER` and the like are ports and addresses of its servers.

This page is written from the list in `tests/tests/escapes/attempts`, and a test compares them. [Walls](design/walls.md) describes what holds;
[the sandbox](sandbox.md) says how to change it.
";

/// Fails unless the page is what the list makes of it, and leaves the right one to be copied.
pub(crate) fn check() {
    let wanted = page();
    let path = repository().join("docs/attacks.md");
    if fs::read_to_string(&path).unwrap_or_default() != wanted {
        let right = Path::new(env!("CARGO_TARGET_TMPDIR")).join("attacks.md");
        fs::write(&right, wanted).unwrap();
        panic!("the list has changed: cp {} {}", right.display(), path.display());
    }
}

fn page() -> String {
    let classes: Vec<Class> = CLASSES.iter().map(|name| Class::load(name)).collect();
    let attempts: Vec<&Attempt> = classes.iter().flat_map(|class| &class.attempts).collect();
    let count = |wanted: &dyn Fn(&Attempt) -> bool| attempts.iter().filter(|it| wanted(it)).count();
    let at = |place: Place| {
        count(&|it| matches!(it.control, Some(Control::Place(found)) if found == place))
    };
    let mut page = HEAD.to_owned();
    writeln!(
        page,
        "\nThere are {} attempts: {} get through on the host, {} in namespaces, {} with other options, {} first, and {} have no such place.",
        attempts.len(),
        at(Place::Host),
        at(Place::Namespaces),
        count(&|it| matches!(it.control, Some(Control::Options(_)))),
        at(Place::Check),
        count(&|it| it.control.is_none()),
    )
    .unwrap();
    classes.iter().for_each(|class| table(&mut page, class));
    page
}

fn table(page: &mut String, class: &Class) {
    writeln!(page, "\n## {}\n\n{}\n", class.title, class.about).unwrap();
    page.push_str("| attempt | tries to | held by | gets through |\n|---|---|---|---|\n");
    for it in &class.attempts {
        let through = place(it);
        writeln!(page, "| {} | {} | {} | {through} |", it.name, cell(&it.tries), cell(&it.wall))
            .unwrap();
    }
    let without = class.attempts.iter().filter_map(|it| Some((it, it.uncontrolled.as_ref()?)));
    let reasons: Vec<String> = without.map(|(it, why)| format!("- {}: {why}", it.name)).collect();
    if !reasons.is_empty() {
        writeln!(page, "\nNowhere:\n\n{}", reasons.join("\n")).unwrap();
    }
}

fn place(attempt: &Attempt) -> String {
    match &attempt.control {
        Some(Control::Place(Place::Host)) if attempt.control_by_root => "host, root".to_owned(),
        Some(Control::Place(Place::Host)) => "host".to_owned(),
        Some(Control::Place(Place::Namespaces)) => "namespaces".to_owned(),
        Some(Control::Place(Place::Check)) => "first".to_owned(),
        Some(Control::Options(options)) => format!("`{}`", cell(&options.join(" "))),
        None => "–".to_owned(),
    }
}

/// A bar would end the cell.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}
