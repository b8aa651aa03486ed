//! The README and the tour, typed line by line.

use offshoot_needs::needs;
use offshoot_tests::document;
use offshoot_tests::product::Place;

use crate::typist::Typist;

/// What people see who follow a page at a terminal, where much is different: colours, pagers, questions, jobs.
#[needs(UserNamespace, "bash")]
#[test]
fn the_tours_are_true_at_a_terminal() {
    for page in document::TOURS {
        let place = Place::new();
        let steps = document::page(page);
        let mut typist = Typist::new(&place);
        let printed: Vec<_> = steps.iter().map(|step| typist.command(&step.command)).collect();
        let problems = document::problems(&place, &steps, &printed);
        assert!(problems.is_empty(), "{page} does not tell the truth:\n{}", problems.join("\n"));
    }
}
