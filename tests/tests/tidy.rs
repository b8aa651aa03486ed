//! Rules of the repository that no compiler checks. Each is a function over a listing of files, so that its own unit
//! tests can show it fail; this file applies them to the repository as it is.

#[path = "tidy/circles.rs"]
mod circles;
#[path = "tidy/documents.rs"]
mod documents;
#[path = "tidy/edges.rs"]
mod edges;
#[path = "tidy/examples.rs"]
mod examples;
#[path = "tidy/features.rs"]
mod features;
#[path = "tidy/imports.rs"]
mod imports;
#[path = "tidy/kinds.rs"]
mod kinds;
#[path = "tidy/lexer.rs"]
mod lexer;
#[path = "tidy/listing.rs"]
mod listing;
#[path = "tidy/manifests.rs"]
mod manifests;
#[path = "tidy/modules.rs"]
mod modules;
#[path = "tidy/names.rs"]
mod names;
#[path = "tidy/paths.rs"]
mod paths;
#[path = "tidy/sources.rs"]
mod sources;

use listing::{Listing, repository_root};

/// Fails with every problem, one a line.
#[track_caller]
fn assert_none(problems: &[String]) {
    assert!(problems.is_empty(), "{} problem(s):\n  {}", problems.len(), problems.join("\n  "));
}

#[test]
fn crates_depend_on_each_other_as_allowed() {
    assert_none(&edges::check(&Listing::of_repository(), edges::RULES));
}

#[test]
fn few_files_import_one_another() {
    assert_none(&circles::check(&Listing::of_repository()));
}

#[test]
fn public_types_have_names_of_their_own() {
    assert_none(&names::check(&Listing::of_repository()));
}

#[test]
fn what_the_library_offers_has_examples() {
    assert_none(&examples::check(&Listing::of_repository()));
}

#[test]
fn every_kind_of_event_can_be_asked_for() {
    assert_none(&kinds::check(&Listing::of_repository(), kinds::COMPUTED));
}

#[test]
fn dependencies_come_from_the_workspace() {
    assert_none(&manifests::check_dependencies(&Listing::of_repository()));
}

#[test]
fn the_program_has_the_same_features_in_tests() {
    assert_none(&features::check(&features::of_users(), &features::of_tests()));
}

#[test]
fn every_crate_has_the_lints_of_the_workspace() {
    assert_none(&manifests::check_lints(&Listing::of_repository()));
}

#[test]
fn no_target_turns_its_tests_off() {
    assert_none(&manifests::check_targets(&Listing::of_repository()));
}

#[test]
fn crates_say_what_they_are() {
    assert_none(&sources::check_crate_docs(&Listing::of_repository()));
}

#[test]
fn lib_files_hold_only_modules_and_exports() {
    assert_none(&sources::check_lib_files(&Listing::of_repository()));
}

#[test]
fn nothing_is_left_unfinished() {
    assert_none(&sources::check_unfinished(&Listing::of_repository()));
}

#[test]
fn files_are_of_readable_length() {
    assert_none(&sources::check_length(&Listing::of_repository()));
}

#[test]
fn every_source_file_is_compiled() {
    assert_none(&modules::check_reachable(&Listing::of_repository()));
}

#[test]
fn modules_are_named_for_their_files() {
    assert_none(&modules::check_names(&Listing::of_repository()));
}

#[test]
fn no_file_names_a_place_on_somebodys_machine() {
    let forbidden = paths::of_this_machine(&repository_root());
    assert_none(&paths::check_places(&Listing::of_repository(), &forbidden));
}

#[test]
fn packages_come_from_crates_io() {
    assert_none(&paths::check_registries(&Listing::of_repository()));
}

#[test]
fn the_licences_are_there() {
    assert_none(&documents::check_licences(&Listing::of_repository()));
}

#[test]
fn the_changelog_is_open() {
    assert_none(&documents::check_changelog(&Listing::of_repository()));
}

#[test]
fn links_in_documents_lead_somewhere() {
    assert_none(&documents::check_links(&Listing::of_repository()));
}
