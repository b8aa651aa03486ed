//! Settings of a repository, as git reads them.

/// A setting: its key in lower case, without what its section is called, and its value.
pub(crate) type Pair = (String, String);

/// All settings of a text. What git would refuse is read as far as it goes.
pub(crate) fn read(text: &[u8]) -> Vec<Pair> {
    let text = String::from_utf8_lossy(text).replace("\\\r\n", "").replace("\\\n", "");
    let (mut found, mut section) = (Vec::new(), String::new());
    for line in text.lines() {
        let mut line = line.trim();
        if let Some(rest) = line.strip_prefix('[') {
            let Some((header, after)) = header(rest) else { continue };
            (section, line) = (header, after.trim());
        }
        if line.is_empty() || line.starts_with(['#', ';']) {
            continue;
        }
        let (key, value) = line.split_once('=').unwrap_or((line, ""));
        found.push((format!("{section}.{}", key.trim().to_ascii_lowercase()), plain(value)));
    }
    found
}

/// The section that a header names, and what follows on its line.
fn header(text: &str) -> Option<(String, &str)> {
    let (mut quoted, mut escaped) = (false, false);
    let end = text.char_indices().find(|(_, letter)| {
        let ends = *letter == ']' && !quoted;
        quoted ^= *letter == '"' && !escaped;
        escaped = *letter == '\\' && !escaped;
        ends
    });
    let (end, _) = end?;
    let name = text[..end].split([' ', '\t', '"', '.']).next().unwrap_or_default();
    Some((name.to_ascii_lowercase(), &text[end + 1..]))
}

/// A value without its quotes, its escapes and a comment behind it.
fn plain(text: &str) -> String {
    let (mut value, mut quoted) = (String::new(), false);
    let mut letters = text.trim().chars();
    while let Some(letter) = letters.next() {
        match letter {
            '"' => quoted = !quoted,
            '#' | ';' if !quoted => break,
            '\\' => match letters.next() {
                Some('n') => value.push('\n'),
                Some('t') => value.push('\t'),
                Some(other) => value.push(other),
                None => {}
            },
            other => value.push(other),
        }
    }
    value.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, wanted: &[(&str, &str)]) {
        let wanted: Vec<Pair> =
            wanted.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        assert_eq!(read(text.as_bytes()), wanted, "{text:?}");
    }

    #[test]
    fn settings_are_read_as_git_does() {
        check("[core]\n\thooksPath = .husky/_\n", &[("core.hookspath", ".husky/_")]);
        check("[CORE] hooksPath=\"a b\" ; said\n", &[("core.hookspath", "a b")]);
        check("[filter \"a]b\"]\nclean = ./x \\\n --y\n", &[("filter.clean", "./x  --y")]);
        check(
            "[alias]\n# st = x\nst = \"!\\\"./a b\\\" # no\"\n",
            &[("alias.st", "!\"./a b\" # no")],
        );
        check("[diff \"x\\\"]\"]\ntextconv\n", &[("diff.textconv", "")]);
        check("[include]\npath = ../.gitconfig # mine\n", &[("include.path", "../.gitconfig")]);
        check("nonsense\n[\n[a", &[(".nonsense", "")]);
    }
}
