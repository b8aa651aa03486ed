//! Making values fit a schema.

use serde_json::{Map, Number, Value};

use super::raw::parse;
use super::repair::Repair;
use super::schema::{Schema, is_of, kind};

/// From here on a name may have been meant.
const CLOSE: f64 = 0.7;

/// What was done to make values fit, and what could not be.
#[derive(Debug, Default)]
pub(super) struct Fitting {
    pub(super) repairs: Vec<Repair>,
    pub(super) problems: Vec<String>,
}

impl Fitting {
    /// The value as the schema wants it.
    pub(super) fn fit(&mut self, schema: Schema<'_>, value: Value, path: &str) -> Value {
        let schema = schema.resolved();
        if schema.is_never() {
            self.problem(path, "nothing fits here".to_owned());
            return value;
        }
        let mut value = value;
        for part in schema.all_of() {
            value = self.fit(part, value, path);
        }
        if let Some(values) = schema.values() {
            return self.one_of(&values, value, path);
        }
        let value = self.typed(schema, value, path);
        let value = match schema.alternatives() {
            Some(all) => self.alternative(&all, value, path),
            None => value,
        };
        match value {
            Value::Object(map) => Value::Object(self.object(schema, map, path)),
            Value::Array(all) => Value::Array(self.array(schema, all, path)),
            Value::String(text) => {
                let count = text.chars().count();
                self.bounds(schema, count as f64, ["minLength", "maxLength"], "characters", path);
                Value::String(text)
            }
            Value::Number(number) => {
                let size = number.as_f64().unwrap_or_default();
                self.bounds(schema, size, ["minimum", "maximum"], "", path);
                Value::Number(number)
            }
            other => other,
        }
    }

    fn problem(&mut self, path: &str, what: String) {
        self.problems.push(match path.is_empty() {
            true => what,
            false => format!("`{path}`: {what}"),
        });
    }

    fn repair(&mut self, path: &str, what: impl Into<String>) {
        self.repairs.push(Repair { path: path.to_owned(), what: what.into() });
    }

    /// A value of one of the types.
    fn typed(&mut self, schema: Schema<'_>, value: Value, path: &str) -> Value {
        let types = schema.types();
        if types.is_empty() || types.iter().any(|ty| is_of(&value, ty)) {
            return value;
        }
        match coerced(&value, &types) {
            Some((found, what)) => {
                self.repair(path, what);
                found
            }
            None => {
                let wanted = types.join(" or ");
                self.problem(path, format!("has to be of type {wanted}, not {}", kind(&value)));
                value
            }
        }
    }

    /// One of some values.
    fn one_of(&mut self, values: &[&Value], value: Value, path: &str) -> Value {
        if values.contains(&&value) {
            return value;
        }
        let text = match &value {
            Value::String(text) => text.trim().to_owned(),
            other => other.to_string(),
        };
        let as_text = |it: &Value| it.as_str().map_or_else(|| it.to_string(), str::to_owned);
        let alike = |it: &&&Value| as_text(it).eq_ignore_ascii_case(&text);
        let found: Vec<_> = values.iter().filter(alike).collect();
        if let [one] = found[..] {
            self.repair(path, format!("{value} was read as {one}"));
            return (*one).clone();
        }
        let all: Vec<String> = values.iter().map(ToString::to_string).collect();
        let meant = closest(&text, values.iter().map(|it| as_text(it)));
        let meant = meant.map(|it| format!("; did you mean {it:?}?")).unwrap_or_default();
        self.problem(path, format!("has to be one of {}, not {value}{meant}", all.join(", ")));
        value
    }

    /// A value that fits one of several schemas: as it is, else repaired; else the problems are those of what it is nearest to.
    fn alternative(&mut self, all: &[Schema<'_>], value: Value, path: &str) -> Value {
        let mut tried: Vec<(bool, Self, Value)> = Vec::new();
        for schema in all {
            let mut fitting = Self::default();
            let found = fitting.fit(*schema, value.clone(), path);
            if fitting.problems.is_empty() && fitting.repairs.is_empty() {
                return found;
            }
            let is_other = !schema.types().iter().any(|ty| is_of(&value, ty));
            tried.push((is_other, fitting, found));
        }
        let nearest = tried.into_iter().min_by_key(|(is_other, fitting, _)| {
            (fitting.problems.len(), *is_other, fitting.repairs.len())
        });
        let Some((_, fitting, found)) = nearest else { return value };
        self.problems.extend(fitting.problems);
        self.repairs.extend(fitting.repairs);
        found
    }

    fn object(
        &mut self,
        schema: Schema<'_>,
        map: Map<String, Value>,
        path: &str,
    ) -> Map<String, Value> {
        let (names, required) = (schema.properties(), schema.required());
        let mut found = Map::new();
        let given: Vec<String> = map.keys().cloned().collect();
        for (name, value) in map {
            let known = schema.property(&name);
            let (name, part) = match known {
                Some(part) => (name, part),
                None => match self.unknown(schema, &names, &given, &name, path) {
                    Some((meant, part)) => (meant, part),
                    // It stays, or a problem was told.
                    None => {
                        found.insert(name, value);
                        continue;
                    }
                },
            };
            let at = below(path, &name);
            let is_absent = value.is_null() && !required.contains(&name.as_str());
            if is_absent && !accepts_null(part) {
                self.repair(&at, "null was read as absent");
                continue;
            }
            let value = self.fit(part, value, &at);
            found.insert(name, value);
        }
        for name in required {
            if !found.contains_key(name) {
                self.problem(&below(path, name), "is missing".to_owned());
            }
        }
        found
    }

    /// What becomes of a property that has no schema of its own: the name that was meant, where there is only one.
    fn unknown<'s>(
        &mut self,
        schema: Schema<'s>,
        names: &[&str],
        given: &[String],
        name: &str,
        path: &str,
    ) -> Option<(String, Schema<'s>)> {
        let further = schema.further()?;
        if !further.is_never() {
            return Some((name.to_owned(), further));
        }
        let is_free = |other: &&&str| !given.iter().any(|it| it == **other);
        let same = |other: &&&str| plain(other) == plain(name);
        let meant: Vec<&&str> = names.iter().filter(is_free).filter(same).collect();
        if let [one] = meant[..]
            && let Some(part) = schema.property(one)
        {
            self.repair(&below(path, name), format!("was read as `{one}`"));
            return Some(((*one).to_owned(), part));
        }
        let meant = closest(name, names.iter().map(|it| (*it).to_owned()));
        let meant = meant.map(|it| format!("; did you mean `{it}`?")).unwrap_or_default();
        self.problem(&below(path, name), format!("there is no such argument{meant}"));
        None
    }

    fn array(&mut self, schema: Schema<'_>, all: Vec<Value>, path: &str) -> Vec<Value> {
        self.bounds(schema, all.len() as f64, ["minItems", "maxItems"], "elements", path);
        let Some(items) = schema.items() else { return all };
        let fitted = all.into_iter().enumerate();
        fitted.map(|(at, value)| self.fit(items, value, &format!("{path}[{at}]"))).collect()
    }

    fn bounds(
        &mut self,
        schema: Schema<'_>,
        size: f64,
        [least, most]: [&str; 2],
        what: &str,
        path: &str,
    ) {
        let space = if what.is_empty() { "" } else { " " };
        if let Some(bound) = schema.bound(least).filter(|bound| size < *bound) {
            self.problem(path, format!("has to be at least {bound}{space}{what}, not {size}"));
        }
        if let Some(bound) = schema.bound(most).filter(|bound| size > *bound) {
            self.problem(path, format!("has to be at most {bound}{space}{what}, not {size}"));
        }
    }
}

/// A value of another type that can have been meant in one way only, and what was done.
fn coerced(value: &Value, types: &[&str]) -> Option<(Value, String)> {
    let wants = |ty: &str| types.contains(&ty);
    let done = |found: Value, what: &str| Some((found, what.to_owned()));
    match value {
        Value::String(text) => {
            let trimmed = text.trim();
            if let Some(number) = number(trimmed, types) {
                return done(Value::Number(number), "a number was in a string");
            }
            if wants("boolean")
                && ["true", "false"].iter().any(|it| trimmed.eq_ignore_ascii_case(it))
            {
                let is_true = trimmed.eq_ignore_ascii_case("true");
                return done(Value::Bool(is_true), "a boolean was in a string");
            }
            let mut within = Vec::new();
            let inner = parse(trimmed, &mut within).ok();
            let fits = |inner: &Value| {
                wants("object") && inner.is_object() || wants("array") && inner.is_array()
            };
            match inner.filter(fits) {
                Some(inner) => done(inner, "JSON was in a string"),
                None if wants("array") => {
                    done(Value::Array(vec![value.clone()]), "one value was read as a list of one")
                }
                None => None,
            }
        }
        Value::Number(number) => {
            let whole = number.as_f64().filter(|it| it.fract() == 0.0 && it.abs() < 9e15);
            match whole {
                #[expect(clippy::cast_possible_truncation, reason = "it is whole and small")]
                Some(whole) if wants("integer") => {
                    done(Value::from(whole as i64), "a whole number was written as a fraction")
                }
                _ if wants("string") => {
                    done(Value::String(number.to_string()), "a number was read as a string")
                }
                _ if wants("array") => {
                    done(Value::Array(vec![value.clone()]), "one value was read as a list of one")
                }
                _ => None,
            }
        }
        Value::Bool(is) if wants("string") => {
            done(Value::String(is.to_string()), "a boolean was read as a string")
        }
        Value::Bool(_) | Value::Object(_) if wants("array") => {
            done(Value::Array(vec![value.clone()]), "one value was read as a list of one")
        }
        _ => None,
    }
}

/// The number that a text is, where one is wanted.
fn number(text: &str, types: &[&str]) -> Option<Number> {
    let found: Number = serde_json::from_str(text).ok()?;
    let is_whole = found.is_i64() || found.is_u64();
    let wants = |ty: &str| types.contains(&ty);
    (wants("number") || wants("integer") && is_whole).then_some(found)
}

fn accepts_null(schema: Schema<'_>) -> bool {
    let mut fitting = Fitting::default();
    drop(fitting.fit(schema, Value::Null, ""));
    fitting.problems.is_empty() && fitting.repairs.is_empty()
}

/// A name as it is whatever its style.
fn plain(name: &str) -> String {
    name.chars().filter(|it| it.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// What is closest to a word, if anything is close.
pub(crate) fn closest(word: &str, all: impl Iterator<Item = String>) -> Option<String> {
    let likeness = |other: &str| strsim::jaro_winkler(&plain(word), &plain(other));
    let found = all.map(|other| (likeness(&other), other));
    let nearest = found.max_by(|one, other| one.0.total_cmp(&other.0))?;
    (nearest.0 >= CLOSE).then_some(nearest.1)
}

fn below(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}
