//! Attempts to escape: one list of them (`escapes/attempts/*.toml`), each made inside a workspace by root and by an ordinary user, and then
//! where nothing holds it, to show that it is a real one. `docs/attacks.md` is written from the same list.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

#[path = "escapes/attempt.rs"]
mod attempt;
#[path = "escapes/page.rs"]
mod page;
#[path = "escapes/scene.rs"]
mod scene;
#[path = "escapes/trial.rs"]
mod trial;

use std::collections::BTreeSet;

use attempt::{CLASSES, Class, Control};
use offshoot_needs::needs;
use scene::Who;

/// A class of attempts as two tests: root's, and an ordinary user's.
macro_rules! classes {
    ($($class:ident)*) => {$(
        mod $class {
            use super::*;

            #[needs(Root, Overlay, UserNamespace, "git", "python3", "unshare")]
            #[test]
            fn by_root() {
                trial::hold(stringify!($class), Who::Root);
            }

            #[needs(Overlay, UserNamespace, "git", "python3", "unshare")]
            #[test]
            fn by_an_ordinary_user() {
                trial::hold(stringify!($class), Who::Ordinary);
            }
        }
    )*

    /// The classes that have tests.
    const TESTED: &[&str] = &[$(stringify!($class)),*];
    };
}

classes!(secrets links processes kernel devices mounts calls channels network proxy state shared planted arrivals terminal exhaustion);

#[test]
fn every_class_is_tried() {
    assert_eq!(TESTED, CLASSES);
}

/// Each has a name of its own, one script, what holds it, and either a place where it gets through or a reason why nobody tries that.
#[test]
fn the_list_is_whole() {
    let classes: Vec<Class> = CLASSES.iter().map(|name| Class::load(name)).collect();
    let attempts: Vec<_> = classes.iter().flat_map(|class| &class.attempts).collect();
    let names: BTreeSet<&str> = attempts.iter().map(|attempt| attempt.name.as_str()).collect();
    assert_eq!(names.len(), attempts.len(), "two attempts have one name");
    for attempt in &attempts {
        let name = &attempt.name;
        assert!(attempt.sh.is_some() != attempt.python.is_some(), "{name}: one script");
        assert!(!attempt.refused.is_empty(), "{name}: how it is refused");
        assert!(
            attempt.control.is_some() != attempt.uncontrolled.is_some(),
            "{name}: a control, or why there is none"
        );
    }
    assert!(attempts.len() >= 100, "{} attempts", attempts.len());
    let controlled = attempts.iter().filter(|attempt| attempt.control.is_some()).count();
    assert!(controlled * 3 >= attempts.len() * 2, "only {controlled} have a control");
    let by = |wanted: &dyn Fn(&Control) -> bool| {
        attempts.iter().filter(|attempt| attempt.control.as_ref().is_some_and(wanted)).count()
    };
    assert!(by(&|control| matches!(control, Control::Options(_))) > 0);
}

#[test]
fn the_page_says_what_the_list_says() {
    page::check();
}
