//! Programs that fill the screen, in tmux.

use offshoot_needs::needs;

use crate::console::place;
use crate::tmux::Tmux;

#[needs(UserNamespace, "bash", "tmux", "vim")]
#[test]
fn an_editor_edits() {
    let place = place();
    let tmux = Tmux::new(&place);
    tmux.line("$OFFSHOOT run -w fix -- vim -u NONE -N -i NONE README.md");
    tmux.wait_for("# Demo");
    // The lines below the text, and the last one with the name, show that all of the screen is used.
    tmux.wait_until("the editor's own screen", |screen| {
        screen.lines().filter(|line| *line == "~").count() > 15
            && screen.contains("\"README.md\" 3L")
    });
    tmux.keys(&["-l", "ggOtyped in the editor"]);
    tmux.keys(&["Escape"]);
    tmux.wait_for("typed in the editor");
    tmux.resize("60", "12");
    tmux.wait_until("fewer lines", |screen| {
        screen.lines().count() == 12 && screen.lines().filter(|line| *line == "~").count() > 4
    });
    tmux.line(":wq");
    tmux.wait_for("workspace fix: 1 modified");
    tmux.wait_for("M /README.md");
    let written = place.ok(["fs", "cat", "/README.md", "-w", "fix"]);
    assert_eq!(written, "typed in the editor\n# Demo\n\nA small project.\n");
}

#[needs(UserNamespace, "bash", "less", "tmux")]
#[test]
fn a_pager_pages() {
    let place = place();
    let tmux = Tmux::new(&place);
    tmux.line("$OFFSHOOT run -w fix --read-only -- less notes.txt");
    tmux.wait_until("the first page", |screen| screen.lines().nth(22) == Some("line 23"));
    tmux.keys(&["Space"]);
    tmux.wait_until("the second page", |screen| screen.starts_with("line 24\n"));
    tmux.resize("80", "30");
    tmux.wait_until("more of it", |screen| screen.lines().nth(28) == Some("line 52"));
    tmux.keys(&["-l", "g"]);
    tmux.wait_until("a longer page", |screen| screen.lines().nth(28) == Some("line 29"));
    tmux.keys(&["-l", "q"]);
    tmux.wait_for("workspace fix: nothing changed");
}

#[needs(UserNamespace, "bash", "tmux")]
#[test]
fn a_shell_is_a_shell() {
    let place = place();
    let tmux = Tmux::new(&place);
    tmux.line("stty -a > ../before");
    tmux.line("$OFFSHOOT run -w fix -- bash --norc");
    tmux.wait_for("bash-");
    tmux.line("PS1='inside> '");
    tmux.wait_for("\ninside>");
    // What is typed is not what is printed, so that the one cannot be taken for the other.
    tmux.line("sh -c 'echo be''gun; exec sleep 1000'");
    tmux.wait_for("\nbegun");
    tmux.keys(&["C-c"]);
    tmux.wait_for("^C\ninside>");
    tmux.line("sh -c 'echo wai''ting; exec cat'");
    tmux.wait_for("\nwaiting");
    tmux.line("first");
    tmux.wait_for("first\nfirst");
    tmux.keys(&["C-z"]);
    tmux.wait_for("Stopped");
    tmux.line("fg");
    tmux.wait_for("inside> fg\nsh -c");
    tmux.line("second");
    tmux.wait_for("second\nsecond");
    tmux.keys(&["C-c"]);
    tmux.wait_until("the prompt", |screen| screen.trim_end().ends_with("^C\ninside>"));
    tmux.line("clear; stty size");
    tmux.wait_for("24 80");
    tmux.resize("100", "30");
    tmux.wait_until("the new size", |screen| screen.lines().count() == 30);
    tmux.line("clear; stty size");
    tmux.wait_for("30 100");
    tmux.line("mv README.md GUIDE.md; exit 7");
    tmux.wait_for("R /GUIDE.md");
    tmux.line("echo code $?");
    tmux.wait_for("code 7");
    tmux.line("stty -a > ../after; stty cols 80 rows 24; echo done");
    tmux.wait_for("\ndone");
    let modes = |name: &str| {
        let text = std::fs::read_to_string(place.path().join(name)).unwrap();
        // The first line has the size, which was changed on purpose.
        text.split_once('\n').unwrap().1.to_owned()
    };
    assert_eq!(modes("before"), modes("after"));
    assert!(place.project().join("README.md").exists(), "the folder itself is not touched");
}
