//! What is taken out of outputs, and what is not.

use offshoot_tests::product::Place;
use offshoot_tests::redact::Redactor;

#[test]
fn ids_are_taken_out_and_hashes_of_git_are_not() {
    let mut redactor = Redactor::of_document(&Place::new());
    let said = redactor.text("01m8rv2k3d4e of 01m8rv2k3d4e5f6g7h8j9kamnp, git 0123456789ab");
    assert_eq!(said, "[short] of [id], git 0123456789ab");
}
