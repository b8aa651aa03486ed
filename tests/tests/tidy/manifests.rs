//! Rules about `Cargo.toml` files.

use toml::{Table, Value};

use crate::listing::Listing;

/// One crate's manifest.
pub(crate) struct Manifest {
    pub(crate) path: String,
    /// The directory it lies in, empty for the top one.
    pub(crate) directory: String,
    pub(crate) name: String,
    pub(crate) table: Table,
}

/// One entry of a manifest's dependencies.
pub(crate) struct Dependency<'a> {
    pub(crate) name: &'a str,
    pub(crate) value: &'a Value,
    /// Whether only tests, examples and benchmarks have it.
    pub(crate) dev: bool,
}

impl Manifest {
    /// The manifests of all crates, that is, of all packages.
    pub(crate) fn all(listing: &Listing) -> Vec<Self> {
        listing
            .ending("Cargo.toml")
            .filter_map(|(path, text)| {
                let table = parse(path, &text);
                let name = table.get("package")?.get("name")?.as_str()?.to_owned();
                let directory = path.trim_end_matches("Cargo.toml").trim_end_matches('/');
                Some(Self { path: path.to_owned(), directory: directory.to_owned(), name, table })
            })
            .collect()
    }

    /// The path of a file of the crate.
    pub(crate) fn file(&self, path: &str) -> String {
        if self.directory.is_empty() {
            path.to_owned()
        } else {
            format!("{}/{path}", self.directory)
        }
    }

    /// Dependencies of every kind and for every platform.
    pub(crate) fn dependencies(&self) -> Vec<Dependency<'_>> {
        let platforms = self.table.get("target").and_then(Value::as_table);
        let tables = platforms
            .into_iter()
            .flat_map(|platforms| platforms.values())
            .filter_map(Value::as_table)
            .chain([&self.table]);
        let mut found = Vec::new();
        for table in tables {
            for kind in ["dependencies", "dev-dependencies", "build-dependencies"] {
                let entries = table.get(kind).and_then(Value::as_table);
                for (name, value) in entries.into_iter().flatten() {
                    let dev = kind == "dev-dependencies";
                    found.push(Dependency { name, value, dev });
                }
            }
        }
        found
    }

    /// Whether the crate holds procedural macros.
    pub(crate) fn makes_macros(&self) -> bool {
        self.targets("lib").iter().any(|lib| lib.get("proc-macro") == Some(&Value::Boolean(true)))
    }

    /// The explicit targets of a kind, such as `bin`.
    pub(crate) fn targets(&self, kind: &str) -> Vec<&Table> {
        match self.table.get(kind) {
            Some(Value::Array(targets)) => targets.iter().filter_map(Value::as_table).collect(),
            Some(Value::Table(target)) => vec![target],
            _ => Vec::new(),
        }
    }
}

pub(crate) fn parse(path: &str, text: &str) -> Table {
    text.parse().unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Versions and features are said once, in the workspace.
pub(crate) fn check_dependencies(listing: &Listing) -> Vec<String> {
    let mut problems = Vec::new();
    for manifest in Manifest::all(listing) {
        for dependency in manifest.dependencies() {
            let inherited = dependency.value.get("workspace").and_then(Value::as_bool);
            if inherited != Some(true) {
                problems.push(format!(
                    "{}: {} is not `workspace = true`",
                    manifest.path, dependency.name
                ));
            }
        }
    }
    problems
}

/// Every crate has the same lints.
pub(crate) fn check_lints(listing: &Listing) -> Vec<String> {
    Manifest::all(listing)
        .iter()
        .filter(|manifest| {
            let lints = manifest.table.get("lints");
            let inherited = lints.and_then(|lints| lints.get("workspace"));
            inherited.and_then(Value::as_bool) != Some(true)
        })
        .map(|manifest| format!("{}: lacks `[lints] workspace = true`", manifest.path))
        .collect()
}

/// No target is kept from the test runner.
pub(crate) fn check_targets(listing: &Listing) -> Vec<String> {
    let mut problems = Vec::new();
    for manifest in Manifest::all(listing) {
        for kind in ["lib", "bin", "test"] {
            for target in manifest.targets(kind) {
                if target.get("test").and_then(Value::as_bool) == Some(false) {
                    problems.push(format!("{}: a {kind} has `test = false`", manifest.path));
                }
            }
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;

    fn crate_with(rest: &str) -> Listing {
        let text = format!("[package]\nname = \"one\"\n{rest}");
        Listing::of(&[
            ("Cargo.toml", "[workspace]\nmembers = [\"one\"]\n"),
            ("one/Cargo.toml", &text),
        ])
    }

    #[test]
    fn dependencies_must_be_inherited() {
        let good =
            "[dependencies]\na.workspace = true\nb = { workspace = true, optional = true }\n";
        assert!(check_dependencies(&crate_with(good)).is_empty());
        for bad in [
            "[dependencies]\na = \"1\"\n",
            "[dev-dependencies]\na = { version = \"1\" }\n",
            "[build-dependencies]\na = { path = \"../a\" }\n",
            "[target.'cfg(unix)'.dependencies]\na = \"1\"\n",
            "[dependencies]\na.workspace = false\n",
        ] {
            let problems = check_dependencies(&crate_with(bad));
            assert_eq!(problems, ["one/Cargo.toml: a is not `workspace = true`"]);
        }
    }

    #[test]
    fn lints_must_be_inherited() {
        assert!(check_lints(&crate_with("[lints]\nworkspace = true\n")).is_empty());
        for bad in ["", "[lints]\nworkspace = false\n", "[lints.rust]\nunsafe_code = \"allow\"\n"] {
            assert_eq!(check_lints(&crate_with(bad)).len(), 1, "{bad}");
        }
    }

    #[test]
    fn tests_must_stay_on() {
        assert!(check_targets(&crate_with("[[bin]]\nname = \"one\"\n")).is_empty());
        for bad in ["[lib]\ntest = false\n", "[[bin]]\ntest = false\n", "[[test]]\ntest = false\n"]
        {
            assert_eq!(check_targets(&crate_with(bad)).len(), 1, "{bad}");
        }
    }
}
