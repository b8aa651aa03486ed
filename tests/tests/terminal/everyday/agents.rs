//! Several at work on one project.

use offshoot_needs::needs;

use super::Session;

#[needs(Overlay, UserNamespace, "bash")]
#[test]
fn two_agents_meet_and_a_person_decides() {
    let files = [("menu.txt", "soup\nfish\ncake\n"), ("prices.txt", "soup 4\nfish 9\ncake 3\n")];
    let mut session = Session::new(&files);
    session.types(&[
        "offshoot init",
        "offshoot exec -w ada -- sed -i 's/fish/trout/' menu.txt prices.txt",
        "offshoot exec -w bob -- sh -c 'sed -i s/fish/cod/ menu.txt; echo tea 2 >> prices.txt'",
        "offshoot merge ada bob --into both",
        "offshoot conflicts -w both",
        "offshoot resolve menu.txt --theirs -w both",
        "offshoot diff -w both",
        "offshoot commit -w both -m 'A new menu'",
        "cat menu.txt prices.txt",
    ]);
    insta::assert_snapshot!(session.text());
}
