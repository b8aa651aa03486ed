//! The tours of the README, typed line by line.

use offshoot_needs::needs;
use offshoot_tests::document;
use offshoot_tests::product::Place;

use crate::typist::Typist;

/// What people see who follow the page at a terminal, where much is different: colours, pagers, questions, jobs.
#[needs(UserNamespace, "bash")]
#[test]
fn the_tours_of_the_readme_are_true_at_a_terminal() {
    let place = Place::new();
    let steps = document::tours();
    let mut typist = Typist::new(&place);
    let printed: Vec<_> = steps.iter().map(|step| typist.command(&step.command)).collect();
    let problems = document::problems(&place, &steps, &printed);
    assert!(problems.is_empty(), "README.md does not tell the truth:\n{}", problems.join("\n"));
}
