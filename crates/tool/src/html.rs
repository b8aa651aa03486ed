//! Pages of HTML as text.

/// Elements of which nothing is text.
const SILENT: [&str; 8] =
    ["script", "style", "noscript", "template", "svg", "iframe", "object", "canvas"];
/// Elements that stand on lines of their own.
const BLOCKS: [&str; 29] = [
    "address",
    "article",
    "aside",
    "blockquote",
    "dd",
    "details",
    "div",
    "dl",
    "dt",
    "figure",
    "footer",
    "form",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "header",
    "hr",
    "li",
    "main",
    "nav",
    "ol",
    "p",
    "section",
    "table",
    "tr",
    "ul",
];
/// Characters by name; those that pages have mostly.
const NAMED: [(&str, &str); 22] = [
    ("amp", "&"),
    ("lt", "<"),
    ("gt", ">"),
    ("quot", "\""),
    ("apos", "'"),
    ("nbsp", " "),
    ("ndash", "–"),
    ("mdash", "—"),
    ("hellip", "…"),
    ("copy", "©"),
    ("reg", "®"),
    ("lsquo", "‘"),
    ("rsquo", "’"),
    ("ldquo", "“"),
    ("rdquo", "”"),
    ("bull", "•"),
    ("middot", "·"),
    ("times", "×"),
    ("rarr", "→"),
    ("larr", "←"),
    ("para", "¶"),
    ("sect", "§"),
];

/// The text of a page: headings with `#`, elements of lists with `-`, code as it stands.
pub(crate) fn text_of(html: &str) -> String {
    let mut out = Out::default();
    let mut rest = html;
    while let Some(at) = rest.find('<') {
        out.text(&rest[..at]);
        rest = &rest[at..];
        if let Some(comment) = rest.strip_prefix("<!--") {
            rest = comment.find("-->").map_or("", |end| &comment[end + 3..]);
            continue;
        }
        let is_tag =
            rest[1..].starts_with(|it: char| it.is_ascii_alphabetic() || "/!?".contains(it));
        if !is_tag {
            out.text("<");
            rest = &rest[1..];
            continue;
        }
        let end = end_of_tag(rest);
        let (tag, behind) = (&rest[1..end], rest.get(end + 1..).unwrap_or_default());
        rest = behind;
        let name: String = tag
            .trim_start_matches('/')
            .chars()
            .take_while(char::is_ascii_alphanumeric)
            .map(|letter| letter.to_ascii_lowercase())
            .collect();
        if SILENT.contains(&name.as_str()) && !tag.starts_with('/') && !tag.ends_with('/') {
            rest = behind_element(rest, &name);
            continue;
        }
        out.tag(&name, tag.starts_with('/'));
    }
    out.text(rest);
    out.finished()
}

/// Where a tag ends: `>` within quotes is none.
fn end_of_tag(text: &str) -> usize {
    let mut quote = None;
    for (at, byte) in text.bytes().enumerate() {
        match (byte, quote) {
            (b'>', None) => return at,
            (b'"' | b'\'', None) => quote = Some(byte),
            (byte, Some(open)) if byte == open => quote = None,
            _ => {}
        }
    }
    text.len()
}

/// What follows the end of an element.
fn behind_element<'t>(text: &'t str, name: &str) -> &'t str {
    let mut from = 0;
    while let Some(at) = text[from..].find("</") {
        let start = from + at + 2;
        let found = text.as_bytes().get(start..start + name.len());
        if found.is_some_and(|it| it.eq_ignore_ascii_case(name.as_bytes())) {
            let end = text[start..].find('>').map_or(text.len(), |end| start + end + 1);
            return &text[end..];
        }
        from = start;
    }
    ""
}

/// The text as it grows.
#[derive(Default)]
struct Out {
    text: String,
    /// How many line ends stand before what comes next.
    breaks: usize,
    space: bool,
    /// Within how many elements white space stays.
    kept: usize,
}

impl Out {
    fn text(&mut self, raw: &str) {
        let decoded = decoded(raw);
        if self.kept > 0 {
            self.start();
            self.text.push_str(&decoded);
            return;
        }
        for letter in decoded.chars() {
            if letter.is_whitespace() {
                self.space = true;
            } else {
                self.start();
                self.text.push(letter);
            }
        }
    }

    /// Brings what has to stand before the next letter.
    fn start(&mut self) {
        if self.breaks > 0 && !self.text.is_empty() {
            self.text.truncate(self.text.trim_end_matches(' ').len());
            self.text.push_str(&"\n".repeat(self.breaks));
        } else if self.space && !self.text.is_empty() && !self.text.ends_with([' ', '\n']) {
            self.text.push(' ');
        }
        (self.breaks, self.space) = (0, false);
    }

    fn mark(&mut self, mark: &str) {
        self.start();
        self.text.push_str(mark);
    }

    fn tag(&mut self, name: &str, closes: bool) {
        let heading = name.strip_prefix('h').and_then(|it| it.parse::<usize>().ok());
        match (name, closes) {
            ("br", _) => self.breaks = self.breaks.max(1),
            ("pre", false) => {
                self.breaks = self.breaks.max(2);
                self.kept += 1;
            }
            ("pre", true) => {
                self.kept = self.kept.saturating_sub(1);
                self.breaks = self.breaks.max(2);
            }
            ("li", false) => {
                self.breaks = self.breaks.max(1);
                self.mark("- ");
            }
            ("td" | "th", true) => self.mark(" | "),
            ("p" | "table" | "ul" | "ol", _) => self.breaks = self.breaks.max(2),
            ("title", true) => self.breaks = self.breaks.max(2),
            _ => {
                if let Some(depth) = heading.filter(|depth| (1..=6).contains(depth)) {
                    self.breaks = self.breaks.max(2);
                    if !closes {
                        self.mark(&format!("{} ", "#".repeat(depth)));
                    }
                } else if BLOCKS.contains(&name) {
                    self.breaks = self.breaks.max(1);
                }
            }
        }
    }

    fn finished(self) -> String {
        let lines: Vec<&str> = self.text.lines().map(str::trim_end).collect();
        lines.join("\n").trim().to_owned()
    }
}

/// The text with characters in place of their names.
fn decoded(raw: &str) -> String {
    let mut out = String::with_capacity(raw.len());
    let mut rest = raw;
    while let Some(at) = rest.find('&') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let end = rest.bytes().take(12).position(|byte| byte == b';');
        let found = end.and_then(|end| Some((character(&rest[1..end])?, end)));
        match found {
            Some((character, end)) => {
                out.push_str(&character);
                rest = &rest[end + 1..];
            }
            None => {
                out.push('&');
                rest = &rest[1..];
            }
        }
    }
    out + rest
}

fn character(name: &str) -> Option<String> {
    if let Some(number) = name.strip_prefix('#') {
        let code = match number.strip_prefix(['x', 'X']) {
            Some(hex) => u32::from_str_radix(hex, 16).ok()?,
            None => number.parse().ok()?,
        };
        return char::from_u32(code).map(String::from);
    }
    NAMED.iter().find(|(known, _)| *known == name).map(|(_, text)| (*text).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_become_text() {
        let page = "<!doctype html><html><head><title>A &amp; B</title><style>p { color: red }</style>\
            <script>if (a < b) { document.write('<p>no</p>') }</script></head><body><!-- <p>no --> \
            <h1>Head\n ing</h1><p>One <b>bold</b>   word &#8212; and&nbsp;more.<br>Next</p>\
            <ul><li>first</li><li>second <a href=\"x>y\">link</a></li></ul>\
            <pre>fn main() {\n    a &lt; b\n}</pre><p>1 < 2 & 3</p>";
        assert_eq!(
            text_of(page),
            "A & B\n\n# Head ing\n\nOne bold word — and more.\nNext\n\n- first\n- second link\n\n\
             fn main() {\n    a < b\n}\n\n1 < 2 & 3"
        );
    }

    #[test]
    fn what_is_no_page_ends_all_the_same() {
        for text in
            ["<", "<p", "<!--", "<script>", "<a href=\"", "&", "&#x110000;", "</", "<é>", "&é;"]
        {
            drop(text_of(text));
        }
        assert_eq!(text_of("<script>x</SCRIPT >after"), "after");
        assert_eq!(text_of("a &unknown; b"), "a &unknown; b");
    }
}
