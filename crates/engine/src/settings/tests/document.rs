//! `docs/configuration.md` describes each key under a heading of its own, with its default and an example.

use super::*;

fn text() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/configuration.md");
    fs::read_to_string(path).unwrap()
}

/// Key and description of every heading that is a key.
fn sections(text: &str) -> Vec<(String, String)> {
    text.split("\n### `")
        .skip(1)
        .filter_map(|section| section.split_once("`\n"))
        .map(|(key, body)| {
            let end = body.find("\n## ").unwrap_or(body.len());
            (key.to_owned(), body[..end].to_owned())
        })
        .collect()
}

fn fenced_toml(body: &str) -> Option<&str> {
    let (_, rest) = body.split_once("```toml\n")?;
    rest.split_once("```").map(|(example, _)| example)
}

#[test]
fn lists_every_key_in_order_and_no_other() {
    let text = text();
    let documented = sections(&text);
    let names: Vec<&str> = documented.iter().map(|(key, _)| key.as_str()).collect();
    let keys: Vec<&str> = KEYS.iter().map(|key| key.name).collect();
    assert_eq!(names, keys);
}

#[test]
fn states_the_true_defaults() {
    let defaults = load(&Sources::default()).unwrap();
    for (key, body) in sections(&text()) {
        let kind = &keys::find(&key).unwrap().kind;
        let value = kind.to_toml(&setting(&defaults, &key).value);
        let line = format!("Default: `{value}`");
        assert!(body.contains(&line), "{key} lacks {line:?}");
        let variable = sources::variable_of(&key);
        assert!(body.contains(&variable), "{key} lacks {variable}");
    }
}

#[test]
fn shows_examples_that_load_and_set_their_key() {
    for (key, body) in sections(&text()) {
        let example = fenced_toml(&body).unwrap_or_else(|| panic!("{key} has no example"));
        let fixture = Fixture::new().file("user.toml", example);
        let user = SettingOrigin::UserFile(fixture.path("user.toml"));
        assert_eq!(fixture.origin_of(&key), user, "{key}");
        let default = load(&Sources::default()).unwrap();
        assert_ne!(
            setting(&fixture.load(), &key).value,
            setting(&default, &key).value,
            "{key}: the example shows the default"
        );
    }
}
