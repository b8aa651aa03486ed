//! What a reader of TOML or JSON says about a value of the wrong kind, for people: without the names of types of the program.

/// What a text is written in, and so what its parts are called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notation {
    /// JSON, with objects.
    Json,
    /// TOML, with tables.
    Toml,
}

impl Notation {
    /// The message of a reader in the words of people. What names no kind of value stays as it is.
    pub fn explain(self, message: &str) -> String {
        let message = message.trim();
        let stripped = ["invalid type: ", "invalid value: "]
            .iter()
            .find_map(|start| message.strip_prefix(start));
        // What was found may be a text with anything in it, so the end counts.
        match stripped.and_then(|rest| rest.rsplit_once(", expected ")) {
            Some((found, expected)) => {
                let (expected, place) = match expected.find(" at line ") {
                    Some(at) => expected.split_at(at),
                    None => (expected, ""),
                };
                let (expected, found) = (self.expected(expected), self.found(found));
                format!("expected {expected}, not {found}{place}")
            }
            None if message == "wanted string or table" => "expected a text or a table".to_owned(),
            None if message.contains("untagged enum ") => {
                "it fits no form that is known".to_owned()
            }
            None => message.to_owned(),
        }
    }

    fn table(self) -> &'static str {
        match self {
            Self::Json => "an object",
            Self::Toml => "a table",
        }
    }

    fn expected(self, what: &str) -> String {
        let first = what.split_whitespace().next().unwrap_or_default();
        let known = match (what, first) {
            ("a map" | "map" | "a table", _) | (_, "struct") => self.table(),
            ("a sequence" | "sequence", _) | (_, "tuple") => "a list",
            ("a string" | "string" | "str" | "a borrowed string" | "a character", _) => "a text",
            ("a boolean" | "bool", _) => "true or false",
            ("f32" | "f64", _) => "a number",
            ("string or map" | "variant identifier" | "a unit struct", _) | (_, "enum") => {
                "one of the known names"
            }
            ("unit" | "null", _) => "nothing",
            (number, _) if is_whole_number(number) => "a whole number",
            (other, _) => other,
        };
        known.to_owned()
    }

    fn found(self, what: &str) -> String {
        let value = |text: &str| text.trim_matches('`').to_owned();
        match what.split_once(' ') {
            Some(("boolean", rest)) => value(rest),
            Some(("integer" | "float", rest)) => format!("the number {}", value(rest)),
            Some(("floating", rest)) => {
                format!("the number {}", value(rest.strip_prefix("point ").unwrap_or(rest)))
            }
            Some(("string", rest)) => format!("the text {rest}"),
            Some(("character", rest)) => format!("the text {}", value(rest)),
            Some(("unit", "value")) => "nothing".to_owned(),
            Some((_, "variant" | "struct")) => "a name".to_owned(),
            _ => match what {
                "map" => self.table().to_owned(),
                "sequence" => "a list".to_owned(),
                "null" => "null".to_owned(),
                other => other.to_owned(),
            },
        }
    }
}

fn is_whole_number(name: &str) -> bool {
    let digits = name.strip_prefix(['i', 'u']);
    let is_size = |rest: &str| rest == "size" || rest.parse::<u8>().is_ok();
    digits.is_some_and(is_size) || name.starts_with("a nonzero ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_type_of_the_program_is_named() {
        for (message, toml) in [
            (
                "invalid type: integer `3`, expected struct RawRule",
                "expected a table, not the number 3",
            ),
            ("invalid type: sequence, expected a map", "expected a table, not a list"),
            ("invalid type: map, expected a sequence", "expected a list, not a table"),
            (
                "invalid type: string \"x\", expected i64",
                "expected a whole number, not the text \"x\"",
            ),
            (
                "invalid type: string \", expected a map\", expected usize",
                "expected a whole number, not the text \", expected a map\"",
            ),
            ("invalid type: boolean `true`, expected a string", "expected a text, not true"),
            (
                "invalid type: floating point `1.5`, expected u8",
                "expected a whole number, not the number 1.5",
            ),
            (
                "invalid value: integer `-1`, expected u32",
                "expected a whole number, not the number -1",
            ),
            (
                "invalid type: integer `1`, expected a boolean",
                "expected true or false, not the number 1",
            ),
            (
                "invalid type: map, expected a text or a list",
                "expected a text or a list, not a table",
            ),
            (
                "data did not match any variant of untagged enum Foo",
                "it fits no form that is known",
            ),
            ("wanted string or table", "expected a text or a table"),
            ("unknown field `a`, expected `b`", "unknown field `a`, expected `b`"),
        ] {
            assert_eq!(Notation::Toml.explain(message), toml);
        }
        let json = "invalid type: sequence, expected struct Asked at line 1 column 2";
        assert_eq!(
            Notation::Json.explain(json),
            "expected an object, not a list at line 1 column 2"
        );
        let missing = "missing field `a` at line 1 column 2";
        assert_eq!(Notation::Json.explain(missing), missing);
    }
}
