//! Working in a workspace, and a command that wants the network.

use offshoot_needs::needs;

use super::Session;

#[needs(Overlay, UserNamespace, "bash", "git")]
#[test]
fn an_hour_in_a_shell() {
    let mut session = Session::with_git(&[("notes.txt", "one\n"), ("src/main.c", "int main;\n")]);
    let typist = session.typist();
    typist.keys("offshoot run -w fix\r", "(fix) $ ");
    typist.keys("git mv src lib && echo two >> notes.txt\r", "(fix) $ ");
    typist.keys("git status --short\r", "(fix) $ ");
    typist.keys("echo draft > ../draft.txt\r", "(fix) $ ");
    typist.leave("exit");
    session.types(&["cat notes.txt", "offshoot diff --stat", "offshoot discard"]);
    insta::assert_snapshot!(session.text());
}

#[needs(Overlay, UserNamespace, "bash", "git")]
#[test]
fn a_command_wants_the_network() {
    let mut session = Session::with_git(&[("notes.txt", "one\n")]);
    let typist = session.typist();
    let fetch = "git ls-remote http://example.invalid/x.git";
    typist.keys(&format!("offshoot exec -w fix -- {fetch}\r"), "[y/N/always/all] ");
    typist.leave("n");
    session.types(&[&format!("CI=1 offshoot exec -w fix -- {fetch}")]);
    insta::assert_snapshot!(session.text());
}
