//! Runs what documents show, so that none can lie.
//!
//! In a fenced block marked `console`, a line that starts with `$ ` is a command and the lines after it are what it
//! prints, errors included. A command goes on in the next line where it ends with a backslash, and in lines that start
//! with `> ` where it has a here-document. All commands of a document run in one shell, in an empty project of their own
//! with the binary in the search path. Ids, times and hashes may differ from what the document shows, `~` stands for the
//! home, `[..]` stands for any text in a line, and a line `...` for any number of lines. A command that fails has to show `error:`.

#[path = "tour/runner.rs"]
mod runner;

use std::fs;
use std::path::{Path, PathBuf};

use offshoot_needs::needs;
use offshoot_tests::document::{self, Step, steps};

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

#[test]
fn the_tours_are_true() {
    for page in document::TOURS {
        assert_true(page, &document::page(page));
    }
}

#[needs("git", "python3")]
#[test]
fn the_other_documents_are_true() {
    let mut pages = Vec::new();
    pages_below(&repository().join("docs"), &mut pages);
    assert!(!pages.is_empty(), "docs has no pages");
    let tours = document::TOURS.map(|page| repository().join(page));
    for page in pages.into_iter().filter(|page| !tours.contains(page)) {
        let text = fs::read_to_string(&page).expect("a page can be read");
        let steps = steps(&text);
        if !steps.is_empty() {
            assert_true(&page.display().to_string(), &steps);
        }
    }
}

fn pages_below(folder: &Path, pages: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder of the repository") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            pages_below(&path, pages);
        } else if path.extension().is_some_and(|end| end == "md") {
            pages.push(path);
        }
    }
    pages.sort();
}

#[track_caller]
fn assert_true(name: &str, steps: &[Step]) {
    let problems = runner::problems(steps);
    assert!(problems.is_empty(), "{name} does not tell the truth:\n{}", problems.join("\n"));
}

/// A document with everything that the runner understands.
const SAMPLE: &str = r#"
# Sample

```sh
this is not run
```

```console
$ mkdir notes && cd notes
$ cat > plan.txt <<'END'
> one
> two
> END
$ offshoot init
vault notes holds ~/project/notes: 1 file, 8 B
$ export OFFSHOOT_WORKSPACE=fix
$ offshoot workspace create \
    fix
workspace fix forked from head
```

Text between blocks.

```console
$ printf 'one\n2\n' | offshoot fs write /plan.txt
M /plan.txt
$ offshoot log
SNAPSHOT      TIME                 REASON  BY      NAMES  MESSAGE
01k00000000a  2026-01-01 00:00:00  write   tester  fix
...
$ offshoot fs cat /nowhere
error: there is no /nowhere
$ printf 'no newline'
no newline
$ offshoot diff
diff --git a/plan.txt b/plan.txt
...
-two
+2
```
"#;

#[test]
fn a_true_document_passes() {
    assert_true("the sample", &steps(SAMPLE));
}

#[test]
fn a_false_document_fails() {
    let lies = [
        ("$ echo one\n", "printed \"one\""),
        ("$ echo one\ntwo\n", "printed \"one\""),
        ("$ true\nsomething\n", "printed \"\""),
        ("$ echo one two three\none [..] four\n", "printed \"one two three\""),
        ("$ false\n", "failed with 1"),
        ("$ exit 3\n$ echo never\n", "did not come to an end"),
        ("$ offshoot fs ls\n...\n", "failed with 3"),
    ];
    for (lie, why) in lies {
        let problems = runner::problems(&steps(&format!("```console\n{lie}```\n")));
        assert!(problems.iter().any(|problem| problem.contains(why)), "{lie}: {problems:?}");
    }
}
