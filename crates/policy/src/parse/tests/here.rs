//! Here-documents.

use super::check;

#[test]
fn bodies() {
    check("cat <<E\na $x $(b)\nE\nc", &["cat from text a_\"$\"_\"$\"\\n", "b apart", "c"]);
    check("cat <<'E'\na $(b)\nE\n", &["cat from text a_$(b)\\n"]);
    check("cat <<-E | sh\n\ta\n\tE\nb", &["cat from text a\\n apart", "sh from 0 apart", "b"]);
    check("a <<A; b <<B\n1\nA\n2\nB\n", &["a from text 1\\n", "b from text 2\\n"]);
    check("cat <<E\n\\$(a) \\`b\\` \"\nE", &["cat from text $(a)_`b`_\"\\n"]);
    check("cat <<E\na\\\nE\nb\nE\n", &["cat from text aE\\nb\\n"]);
    check("cat <<E", &["cat from text ''"]);
    check("cat <<E >f\nE", &["cat >f from text ''"]);
}

#[test]
fn groups_read_them() {
    check(
        "{ sh; a <f; } <<E\nrm x\nE",
        &["sh from text rm_x\\n", "a <f from file f", "from text rm_x\\n"],
    );
    check("x=$(cat <<E\na )\nE\n)", &["cat from text a_)\\n apart", "x=\"$\""]);
    check("f() { cat <<E\n$(a)\nE\n}", &["cat from text \"$\"\\n", "a apart"]);
}

#[test]
fn those_that_shells_read_differently() {
    check(
        "cat <<E $(a\n)\nE",
        &["a apart", "cat $ from text ''", "? a line ends before its here-document"],
    );
    check(
        "a $(cat <<E)\nb",
        &[
            "cat from text  apart",
            "b",
            "? a here-document has no body before the parenthesis closes",
        ],
    );
    check("cat <<$x\n$x", &["$", "? a here-document has an unusual delimiter"]);
}
