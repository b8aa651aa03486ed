//! Names of directories that tools fill.

/// Names that are given to build output, dependencies and caches, whatever the language.
const OUTPUTS: &[&str] = &[
    "__pycache__",
    "_build",
    "bower_components",
    "build",
    "dist",
    "htmlcov",
    "node_modules",
    "target",
    "venv",
    "zig-out",
    ".cache",
    ".dart_tool",
    ".eggs",
    ".gradle",
    ".hypothesis",
    ".mypy_cache",
    ".next",
    ".nox",
    ".nuxt",
    ".nyc_output",
    ".parcel-cache",
    ".pnpm-store",
    ".pytest_cache",
    ".ruff_cache",
    ".stack-work",
    ".svelte-kit",
    ".terraform",
    ".tox",
    ".turbo",
    ".venv",
    ".zig-cache",
];

/// Endings of such names.
const ENDINGS: &[&str] = &[".egg-info"];

/// Whether a directory of this name is usually filled by a tool.
pub(super) fn is_output_name(name: &[u8]) -> bool {
    OUTPUTS.iter().any(|known| name == known.as_bytes())
        || ENDINGS.iter().any(|ending| name.ends_with(ending.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_names_count() {
        for output in ["target", "node_modules", "__pycache__", ".venv", "app.egg-info"] {
            assert!(is_output_name(output.as_bytes()), "{output}");
        }
        for source in ["targets", "src", "Target", "builder", "cache"] {
            assert!(!is_output_name(source.as_bytes()), "{source}");
        }
    }
}
