//! What became of repositories, for people.

use offshoot_engine::git::{GitEvent, GitNote, GitReport, InUse};
use offshoot_engine::wire;
use offshoot_protocol::Goal;

use super::listing::git_name;
use super::way_on;
use super::{DIM, NAME, WARN, count, line, paint};

/// What the main line is called among sides.
const HEAD: &str = "head";

/// A line for everything that people should know. `whose` says whose refs stay: "yours", or a workspace's.
pub(crate) fn notes(report: &GitReport, whose: &str) -> String {
    let with_before = report.notes.iter().zip(before_each(report));
    with_before.map(|(note, before)| told(note, before, whose, "")).collect()
}

/// The same for what became of a workspace that followed the folder. `folder` says what was kept there of the workspace's own.
pub(crate) fn notes_in(report: &GitReport, workspace: &str, folder: &GitReport) -> String {
    let place = format!("in {workspace}, ");
    let told = |(note, before): (&GitNote, _)| match note.event {
        GitEvent::Rewound(_) | GitEvent::Replaced(None) => followed(note, workspace, folder),
        _ => told(note, before, workspace, &place),
    };
    report.notes.iter().zip(before_each(report)).map(told).collect()
}

/// What was said before each note.
fn before_each(report: &GitReport) -> impl Iterator<Item = Option<&GitNote>> {
    std::iter::once(None).chain(report.notes.iter().map(Some))
}

/// A branch of a workspace that left its own commits to follow the folder's.
fn followed(note: &GitNote, workspace: &str, folder: &GitReport) -> String {
    let git = paint(WARN, &format!("{}:", git_name(&note.repository)));
    let (name, from) = (paint(NAME, &line(short(&note.name))), id(note.from.as_deref()));
    let is_kept = |kept: &&GitNote| kept.repository == note.repository && kept.name == note.name;
    let own = match folder.notes.iter().filter(is_kept).find_map(|kept| kept.event.kept_as()) {
        Some(kept) => {
            format!("{workspace}'s own commits are {}", paint(NAME, &line(short(kept))))
        }
        None if note.logged => format!("it was at {from}, which `git reflog` has"),
        None => format!("it was at {from}"),
    };
    format!("{git} {workspace} now follows the folder's {name}; {own}\n")
}

fn told(note: &GitNote, before: Option<&GitNote>, whose: &str, place: &str) -> String {
    let name = format!("{place}{}", paint(NAME, &line(short(&note.name))));
    let (from, to) = (id(note.from.as_deref()), id(note.to.as_deref()));
    let side = side(&note.side);
    let git = paint(WARN, &format!("{}:", git_name(&note.repository)));
    match &note.event {
        GitEvent::KeptApart(kept) => {
            let next = next(note);
            let kept = paint(NAME, &line(short(kept)));
            format!("{git} {name} was moved on both sides: {whose} stays, {side} is {kept}{next}\n")
        }
        GitEvent::NoRoom(beside, kept) => {
            let next = next(note);
            let (beside, kept) = (line(short(beside)), paint(NAME, &line(short(kept))));
            format!("{git} {name} cannot be beside {beside}: {side} is {kept}{next}\n")
        }
        GitEvent::CheckedOut(kept, why) => {
            let next = next(note);
            let kept = paint(NAME, &line(short(kept)));
            let why = match why {
                InUse::CheckedOut => "is checked out and cannot follow",
                InUse::Rebased => "is being rebased",
                InUse::Bisected => "is where git bisect started",
            };
            format!("{git} {name} {why}, so {whose} stays: {side} is {kept}{next}\n")
        }
        GitEvent::Stayed => {
            format!("{git} {name} stays at {from}, not {to}: it was changed since\n")
        }
        GitEvent::StayedInUse(_) => {
            let why = note.event.why().unwrap_or_default();
            let instead = note.to.as_ref().map(|_| format!(", not {to}")).unwrap_or_default();
            format!("{git} {name} stays at {from}{instead}: {why}\n")
        }
        GitEvent::Moved if note.from.is_none() => format!("{git} {name} was created at {to}\n"),
        GitEvent::Moved => format!("{git} {name} moved from {from} to {to}\n"),
        GitEvent::Rewound(commits) => {
            let far = match commits {
                Some(1) => " 1 commit".to_owned(),
                Some(commits) => format!(" {commits} commits"),
                None => String::new(),
            };
            format!("{git} {name} goes back{far}, from {from} to {to}{}\n", old(note))
        }
        GitEvent::Replaced(None) => {
            let side = plain(&note.side);
            let old = old(note);
            format!("{git} {name} was rewritten in {side} and moves from {from} to {to}{old}\n")
        }
        GitEvent::Replaced(Some(kept)) => {
            let kept = paint(NAME, &line(short(kept)));
            format!("{git} {name} is of another repository now; what it was, {from}, is {kept}\n")
        }
        GitEvent::Switched => {
            format!("{git} {name} is at {to} now; it was at {from}\n")
        }
        GitEvent::LeftOut { files, taken } => {
            let back = match (taken, files) {
                (true, 1) => "; `git sparse-checkout disable` brings it back",
                (true, _) => "; `git sparse-checkout disable` brings them back",
                (false, _) => "",
            };
            let (files, side) = (count(*files, "file"), plain(&note.side));
            format!(
                "{git} {place}{files} left out by the sparse checkout of {side}: gone from the working tree, still in git{back}\n"
            )
        }
        GitEvent::NotBrought(why) => {
            let why = line(why);
            format!("{git} {name} of {} was not brought: {why}\n", plain(&note.side))
        }
        GitEvent::DamagedObjects(objects) => {
            let damaged = format!("{place}{}", count(*objects, "damaged object"));
            let was = if *objects == 1 { "was" } else { "were" };
            format!("{git} {damaged} of {} {was} not brought\n", plain(&note.side))
        }
        GitEvent::Deleted => format!("{git} {name} was deleted; it was at {from}\n"),
        GitEvent::CheckoutStayed(why) => {
            let text = format!("{place}HEAD and index stay as they are: {}", line(why));
            // Below a line about the same repository it needs no name.
            match before.is_some_and(|before| before.repository == note.repository) {
                true => format!("{}{}\n", paint(DIM, &format!("  {text}")), next(note)),
                false => format!("{git} {}{}\n", paint(DIM, &text), next(note)),
            }
        }
        GitEvent::FileStayed => {
            format!("{git} {name} was changed on both sides: {whose} stays\n")
        }
        GitEvent::KeptOut(more) => {
            let (more, are, they) = match more {
                0 => (String::new(), "is", "it"),
                more => (format!(" and {more} more"), "are", "them"),
            };
            let side = plain(&note.side);
            format!(
                "{git} {name}{more} {are} deleted in git by {side}, but not on disk: .offshootignore keeps {they} out of workspaces\n"
            )
        }
        GitEvent::DirectoryStayed(kept) => {
            let stays = match kept {
                Some(kept) => {
                    let kept = paint(NAME, &line(kept));
                    format!("stays as it is: both sides changed it, and {side} is {kept}")
                }
                None => "stays as it is: it was changed or deleted on both sides".to_owned(),
            };
            format!("{} {stays}\n", directory(note, &git))
        }
        GitEvent::DirectoryKept(why) => {
            format!("{} stays as it is: {}\n", directory(note, &git), line(why))
        }
    }
}

/// Where the commit is that a ref left behind. Of a tag it is named, and most often a branch has it.
fn old(note: &GitNote) -> String {
    match (note.logged, note.name.starts_with("refs/heads/")) {
        (true, _) => "; `git reflog` has the old one".to_owned(),
        (false, true) => {
            let from = id(note.from.as_deref());
            format!("; no reflog has the old one: `git branch old {from}` keeps it")
        }
        (false, false) => String::new(),
    }
}

/// A whole directory, which may be that of another tool.
fn directory(note: &GitNote, git: &str) -> String {
    let is_module = note.repository.names().iter().any(|name| name == b"modules");
    match note.repository.name() {
        Some(name) if name.ends_with(b".git") || is_module => format!("{git} the repository"),
        _ => format!("{} {}", paint(WARN, "git:"), note.repository),
    }
}

/// What to do with a ref that was kept under another name.
fn next(note: &GitNote) -> String {
    let Some(way) = note.way.as_ref().map(wire::way_on) else { return String::new() };
    match way.goal {
        Goal::Apply | Goal::Show => format!("; `{}`", way_on::commands(&way)),
        _ => format!("\n  {}", way_on::text(&way)),
    }
}

/// What a ref points at, as people call it.
fn id(value: Option<&str>) -> String {
    let is_id = |id: &str| id.len() >= 40 && id.bytes().all(|byte| byte.is_ascii_hexdigit());
    let value = value.unwrap_or("nothing");
    line(if is_id(value) { &value[..12] } else { short(value) })
}

/// A ref as people call it.
fn short(name: &str) -> &str {
    let kinds = ["refs/heads/", "refs/tags/"];
    kinds.iter().find_map(|kind| name.strip_prefix(kind)).unwrap_or(name)
}

fn side(label: &str) -> String {
    format!("{}'s", plain(label))
}

fn plain(label: &str) -> String {
    if label == HEAD { "the folder".to_owned() } else { line(label) }
}

#[cfg(test)]
mod tests {
    use offshoot_engine::file::VaultPath;

    use super::*;

    fn said(repository: &str, event: GitEvent, from: Option<&str>) -> String {
        let note = GitNote {
            repository: VaultPath::parse(repository.as_bytes()).unwrap(),
            event,
            name: "refs/heads/main".to_owned(),
            side: "fix".to_owned(),
            from: from.map(str::to_owned),
            to: Some("0123456789abcdef0123456789abcdef01234567".to_owned()),
            way: None,
            logged: true,
        };
        anstream::adapter::strip_str(&told(&note, None, "yours", "")).to_string()
    }

    #[test]
    fn a_ref_that_was_not_there_is_created() {
        let from = Some("fedcba9876543210fedcba9876543210fedcba98");
        let moved = "git: main moved from fedcba987654 to 0123456789ab\n";
        assert_eq!(said("/.git", GitEvent::Moved, from), moved);
        let created = "git: main was created at 0123456789ab\n";
        assert_eq!(said("/.git", GitEvent::Moved, None), created);
    }

    #[test]
    fn a_reflog_is_named_only_where_there_is_one() {
        let from = Some("fedcba9876543210fedcba9876543210fedcba98".to_owned());
        let to = Some("0123456789abcdef0123456789abcdef01234567".to_owned());
        for (name, logged, end) in [
            ("refs/heads/main", true, "; `git reflog` has the old one\n"),
            (
                "refs/heads/main",
                false,
                "; no reflog has the old one: `git branch old fedcba987654` keeps it\n",
            ),
            ("refs/tags/v1", false, "from fedcba987654 to 0123456789ab\n"),
        ] {
            let note = GitNote {
                repository: VaultPath::parse(b"/.git").unwrap(),
                event: GitEvent::Replaced(None),
                name: name.to_owned(),
                side: "fix".to_owned(),
                from: from.clone(),
                to: to.clone(),
                way: None,
                logged,
            };
            let said = anstream::adapter::strip_str(&told(&note, None, "yours", "")).to_string();
            assert!(said.ends_with(end), "{said}");
        }
    }

    #[test]
    fn directories_of_other_tools_are_named() {
        let said = said("/.jj", GitEvent::DirectoryStayed(None), None);
        assert!(said.starts_with("git: /.jj stays as it is"), "{said}");
    }

    #[test]
    fn what_stays_says_why() {
        let kept = GitEvent::DirectoryKept("it was deleted or broken there");
        let stays = "the repository stays as it is: it was deleted or broken there\n";
        assert_eq!(said("/.git", kept.clone(), None), format!("git: {stays}"));
        assert_eq!(said("/.git/modules/lib", kept, None), format!("git submodule lib: {stays}"));
        let no_room = GitEvent::NoRoom(
            "refs/heads/main/x".to_owned(),
            "refs/heads/offshoot/fix/main".to_owned(),
        );
        let said = said("/.git", no_room, None);
        let expected = "git: main cannot be beside main/x: fix's is offshoot/fix/main\n";
        assert!(said.starts_with(expected), "{said}");
    }

    #[test]
    fn repositories_are_named() {
        for (repository, name) in [
            ("/.git", "git"),
            ("/lib/other/.git", "git in /lib/other"),
            ("/store", "git in /store"),
            ("/.git/modules/lib", "git submodule lib"),
            ("/.git/modules/deep/lib", "git submodule deep/lib"),
            ("/.offshoot/bound/side.git", "git directory of side"),
            ("/.offshoot/bound/side.git/modules/lib", "git submodule lib"),
        ] {
            let said = said(repository, GitEvent::Moved, None);
            assert!(said.starts_with(&format!("{name}: main was created")), "{repository}: {said}");
            if repository.ends_with(".git") {
                let said = self::said(repository, GitEvent::DirectoryStayed(None), None);
                assert!(said.starts_with(&format!("{name}: the repository stays")), "{said}");
            }
        }
    }
}
