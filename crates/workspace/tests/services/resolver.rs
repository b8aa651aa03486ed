//! What people call things.

use offshoot_workspace::ServiceError;

use crate::support::Bench;

#[test]
fn refs_of_every_form_are_found() {
    let bench = Bench::of(&[("file", "base")]);
    let one = bench.fork("one");
    bench.write(&one, "/file", "1");
    bench.checkpoint(&one, "cp");
    bench.write(&one, "/file", "2");
    let checkpoint = bench.point("one@cp").checkpoint.unwrap();
    let snapshot = bench.point("one").snapshot;
    for (text, label, content) in [
        ("head", "head", "base"),
        ("one", "one", "2"),
        ("one@base", "one@base", "base"),
        ("one@cp", "one@cp", "1"),
        ("cp", "one@cp", "1"),
        (&one.id.to_string(), "one", "2"),
        (&one.id.short(), "one", "2"),
        (&one.id.to_string().to_uppercase(), "one", "2"),
        (&format!("{}@cp", one.id.short()), "one@cp", "1"),
        (&format!("one@{}", checkpoint.id.short()), "one@cp", "1"),
        (&checkpoint.id.short(), "one@cp", "1"),
        (&snapshot.id.short(), &snapshot.id.short(), "2"),
    ] {
        let point = bench.point(text);
        assert_eq!(point.label, label, "{text}");
        assert_eq!(bench.read_root(&point.snapshot.root, "/file").unwrap(), content, "{text}");
    }
}

#[test]
fn what_fits_several_is_not_guessed() {
    let bench = Bench::new();
    let (one, two) = (bench.fork("one"), bench.fork("two"));
    bench.checkpoint(&one, "cp");
    bench.checkpoint(&two, "cp");
    let resolver = bench.resolver();
    match resolver.point("cp", None) {
        Err(ServiceError::Ambiguous { candidates, .. }) => {
            assert_eq!(candidates, ["one@cp", "two@cp"]);
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(resolver.point("cp", Some(&two)).unwrap().label, "two@cp");
    // All ids of one day start alike.
    let shared = &one.id.to_string()[..5];
    for result in [resolver.point(shared, None).map(drop), resolver.workspace(shared).map(drop)] {
        assert!(matches!(result, Err(ServiceError::Ambiguous { .. })), "{result:?}");
    }
    assert!(matches!(resolver.operation(shared), Err(ServiceError::Ambiguous { .. })));
}

#[test]
fn too_little_of_an_id_is_an_unknown_name() {
    let bench = Bench::new();
    bench.fork("one");
    for text in ["", "0", "01", "01m"] {
        let found = bench.resolver().point(text, None);
        assert!(matches!(found, Err(ServiceError::Unknown { .. })), "{text}: {found:?}");
        let found = bench.resolver().operation(text);
        assert!(matches!(found, Err(ServiceError::Unknown { .. })), "{text}: {found:?}");
    }
}

#[test]
fn slips_get_suggestions() {
    let bench = Bench::new();
    let login = bench.fork("feature-login");
    bench.checkpoint(&login, "before-merge");
    let suggested = |text: &str| match bench.resolver().point(text, None) {
        Err(ServiceError::Unknown { suggestions, .. }) => suggestions,
        other => panic!("{other:?}"),
    };
    assert_eq!(suggested("feature-lgin"), ["feature-login"]);
    assert_eq!(suggested("before-mrege"), ["before-merge"]);
    assert_eq!(suggested("haed"), ["head"]);
    assert_eq!(suggested("feature-login@before-mrege"), ["before-merge"]);
    assert_eq!(suggested("feature-lgin@x"), ["feature-login"]);
    assert_eq!(suggested("zzz"), Vec::<String>::new());
}

#[test]
fn operations_are_found_by_the_start_of_their_ids() {
    let bench = Bench::new();
    bench.fork("one");
    let last =
        bench.history().operations(offshoot_vault::Scope::Vault, 1).unwrap().operations.remove(0);
    assert_eq!(bench.resolver().operation(&last.id.short()).unwrap(), last);
    assert!(bench.resolver().operation("zzzzzz").is_err());
}

#[test]
fn deleted_workspaces_are_found_for_undo() {
    let bench = Bench::new();
    let one = bench.fork("one");
    let one = bench.workspaces().rename(&one, "renamed").unwrap();
    // While it is there its old name is nobody's: an undo must not hit what goes by another name.
    match bench.resolver().workspace_ever("one") {
        Err(ServiceError::Unknown { suggestions, .. }) => assert_eq!(suggestions, ["renamed"]),
        other => panic!("{other:?}"),
    }
    bench.workspaces().delete(&one).unwrap();
    let resolver = bench.resolver();
    assert!(resolver.workspace("renamed").is_err());
    for text in ["renamed", "one", &one.id.short()] {
        assert_eq!(resolver.workspace_ever(text).unwrap().0, one.id, "{text}");
    }
    assert_eq!(resolver.workspace_ever(&one.id.short()).unwrap().1, "renamed");
    // One that is there has the name before one that was.
    let new = bench.fork("renamed");
    assert_eq!(resolver.workspace_ever("renamed").unwrap().0, new.id);
    assert!(matches!(resolver.workspace_ever("never"), Err(ServiceError::Unknown { .. })));
}
