//! Where commands begin and end in what a shell starts with.

/// What begins an assignment that is a command of its own.
const DECLARATIONS: [&str; 8] = [
    "export ",
    "declare -x ",
    "declare -gx ",
    "typeset -x ",
    "typeset -gx ",
    "readonly ",
    "local ",
    "alias ",
];
/// The same in shells that assign without an equals sign.
const SETTERS: [&str; 6] = ["set -gx ", "set -x ", "set -xg ", "set -Ux ", "set -g ", "setenv "];

/// A text of a shell, as far as it was read.
#[derive(Default)]
pub(super) struct ShellText {
    quote: Option<char>,
    /// The word that ends a text within, and whether tabs may stand before it.
    here: Option<(String, bool)>,
}

impl ShellText {
    /// Whether no quote and no text within is open.
    pub(super) fn is_between_commands(&self) -> bool {
        self.quote.is_none() && self.here.is_none()
    }

    /// Reads a line.
    pub(super) fn read(&mut self, line: &str) {
        if let Some((word, tabs)) = &self.here {
            let line = if *tabs { line.trim_start_matches('\t') } else { line };
            if line == word {
                self.here = None;
            }
            return;
        }
        let mut before = ' ';
        let mut chars = line.char_indices();
        while let Some((at, c)) = chars.next() {
            match (self.quote, c) {
                (Some('\''), '\'') | (Some('"'), '"') | (Some('$'), '\'') => self.quote = None,
                (Some('"' | '$') | None, '\\') => drop(chars.next()),
                (Some(_), _) => {}
                (None, '\'') if before == '$' => self.quote = Some('$'),
                (None, '\'' | '"') => self.quote = Some(c),
                (None, '#') if before.is_whitespace() || before == ';' => break,
                (None, '<') if before != '<' && self.here.is_none() => {
                    self.here = here_word(&line[at..]);
                }
                (None, _) => {}
            }
            before = c;
        }
    }
}

/// The word that ends the text which begins in the next line: `<<WORD`, `<<-'WORD'`.
fn here_word(text: &str) -> Option<(String, bool)> {
    let rest = text.strip_prefix("<<")?;
    if rest.starts_with('<') {
        return None;
    }
    let (rest, tabs) = rest.strip_prefix('-').map_or((rest, false), |rest| (rest, true));
    let word: String = rest.trim_start().chars().take_while(|c| !is_end(*c)).collect();
    let word: String = word.chars().filter(|c| !"'\"\\".contains(*c)).collect();
    // A number is shifted, as in `$((1 << 2))`.
    let is_word = word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    is_word.then_some((word, tabs))
}

fn is_end(c: char) -> bool {
    c.is_whitespace() || ";|&()<>".contains(c)
}

/// What stands in for a line that is nothing but an assignment or a comment; none where it is more. A command that does nothing rather than an empty line, since
/// a block must not be empty.
pub(super) fn replacement(line: &str) -> Option<String> {
    let indent = &line[..line.len() - line.trim_start().len()];
    let command = line.trim_start();
    if command.starts_with('#') {
        return Some(format!("{indent}#"));
    }
    let is_setter = SETTERS.iter().any(|start| command.starts_with(start));
    let assigned =
        DECLARATIONS.iter().find_map(|start| command.strip_prefix(start)).unwrap_or(command);
    let words = plain_words(assigned)?;
    let assigns = |word: &String| {
        let name = word.split_once('=').map(|(name, _)| name.trim_end_matches('+'));
        let of_name = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
        name.is_some_and(|name| !name.is_empty() && name.chars().all(of_name))
    };
    let is_assignment = !words.is_empty() && words.iter().all(assigns);
    (is_setter || is_assignment).then(|| format!("{indent}:"))
}

/// The words of a simple command; none where there is more than one command, or a redirection.
fn plain_words(text: &str) -> Option<Vec<String>> {
    let (mut words, mut word) = (Vec::new(), String::new());
    let (mut quote, mut depth) = (None, 0_usize);
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (Some(open), c) if open == c => quote = None,
            (Some('"') | None, '\\') => {
                word.push(c);
                word.extend(chars.next());
                continue;
            }
            (Some(_), _) => {}
            (None, '\'' | '"' | '`') => quote = Some(c),
            (None, '$') if matches!(chars.peek(), Some('(' | '{')) => {
                depth += 1;
                word.push(c);
                word.extend(chars.next());
                continue;
            }
            (None, ')' | '}') if depth > 0 => depth -= 1,
            (None, '(' | '{') if depth > 0 => depth += 1,
            (None, _) if depth > 0 => {}
            (None, '#') if word.is_empty() => break,
            (None, ';' | '|' | '&' | '(' | ')' | '{' | '}' | '<' | '>') => return None,
            (None, c) if c.is_whitespace() => {
                if !word.is_empty() {
                    words.push(std::mem::take(&mut word));
                }
                continue;
            }
            (None, _) => {}
        }
        word.push(c);
    }
    if !word.is_empty() {
        words.push(word);
    }
    (quote.is_none() && depth == 0).then_some(words)
}
