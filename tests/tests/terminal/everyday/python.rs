//! Days with Python.

use offshoot_needs::needs;

use super::Session;

const TESTS: &str = "import unittest\n\nfrom twice import twice\n\n\nclass Twice(unittest.TestCase):\n    \
                     def test_two(self):\n        self.assertEqual(twice(2), 4)\n";
const CLEAN: &str = "import os\n\nfor folder, _, names in os.walk('.'):\n    for name in names:\n        \
                     if 'tmp' in name or name.endswith('.txt'):\n            os.remove(os.path.join(folder, name))\n";

#[needs(Overlay, UserNamespace, "bash", "git", "python3")]
#[test]
fn a_project_has_an_environment_and_tests() {
    let files = [
        ("twice.py", "def twice(number):\n    return number + number\n"),
        ("test_twice.py", TESTS),
        (".gitignore", ".venv\n__pycache__\n"),
    ];
    let mut session = Session::with_git(&files);
    session.types(&[
        "offshoot exec -w py -- python3 -m venv --without-pip --symlinks .venv",
        "offshoot exec -w py -- sed -i 's/number + number/number * 2/' twice.py",
        "offshoot exec -w py -- .venv/bin/python -B -m unittest -q",
        "offshoot status",
        "offshoot commit",
        "git diff --stat",
    ]);
    insta::assert_snapshot!(session.text());
}

#[needs(Overlay, UserNamespace, "bash", "python3")]
#[test]
fn a_script_deletes_too_much() {
    let files = [
        ("clean.py", CLEAN),
        ("notes/plan.txt", "a plan\n"),
        ("notes/ideas.txt", "ideas\n"),
        ("cache.tmp", "x\n"),
    ];
    let mut session = Session::new(&files);
    session.types(&[
        "offshoot exec python3 clean.py",
        "offshoot diff --name-only",
        "ls notes",
        "offshoot undo",
        "offshoot status",
        "offshoot discard",
    ]);
    insta::assert_snapshot!(session.text());
}
