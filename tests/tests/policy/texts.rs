//! Random texts for the shell: all constructs, awkward quotes, and mistakes.

use offshoot_tests::rng::Rng;

/// A random text. One in four has a mistake or two, which shells may understand otherwise than they were meant.
pub(crate) fn random(rng: &mut Rng) -> String {
    let posix = rng.one_in(2);
    let mut text = Texts { rng, posix, documents: Vec::new() }.program();
    if rng.one_in(4) {
        for _ in 0..=rng.below(2) {
            text = mistaken(rng, &text);
        }
    }
    text
}

/// What means something to a shell.
pub(crate) const SPECIAL: &[&str] = &[
    "'", "\"", "`", "\\", "$", "(", ")", "{", "}", "[", "]", ";", "&", "|", "<", ">", "#", "!",
    "=", "~", "*", "?", ",", " ", "\t", "\n", "\\\n", "$(", "${", "$((", "((", "))", "[[", "]]",
    "<<", "<<<", "&>", "|&", ";;", "\r", "é", "\u{a0}", "1", "c0", "f0", " in ", " do ", " then ",
    "esac", "E\n",
];

/// A text with one place changed.
pub(crate) fn mistaken(rng: &mut Rng, text: &str) -> String {
    let mut letters: Vec<char> = text.chars().collect();
    let at = rng.below(letters.len() as u64 + 1) as usize;
    let special: Vec<char> = rng.pick(SPECIAL).unwrap().chars().collect();
    let end = if rng.one_in(2) { at } else { (at + 1 + rng.below(3) as usize).min(letters.len()) };
    let insert = if rng.one_in(3) { Vec::new() } else { special };
    letters.splice(at..end, insert);
    letters.into_iter().collect()
}

/// Words and parts of words that all shells know.
const WORDS: &str = r##"a b -x 1 if done } { ] = a= é # a# ! % @ : ~ '' "" '"' "'" \' \" \$v \\ \( "#"
$v "$v" ${v} $1 $? "$@" $# $((1+2)) {a} {} * ? [a-z] [a \* f* ${#v} ${v#a} ${v%'b'} ${v-'}'} "${v#*a}" a"b"'c'\d a1"##;
/// Those that bash reads in its own way.
const BASH_WORDS: &str = r##"$'\x41\101\n' $'a\\' $'\u41' $[1+1] {a,b} {1..3} {,x} {a,b}{c,d} {a,{b,c}}
{a,$v} \{a,b} {a,b a,b} ${v:1} ${v/a/b} a=~ a=b:~ ${v^} {z..x} {1..3..2} "{a,b}" {"a,b",c} $'\''"##;
/// Those with blanks in them, or with what confuses.
const SPACED: &[&str] = &[
    "' '",
    "\"a b\"",
    "\\ ",
    "\\\n",
    "\"\\$ \\\" \\a \\\\\"",
    "\"${v:-a b}\"",
    "\u{a0}",
    "$",
    "\"$\"",
    "\\`",
    "a\\\nb",
    "\"a\nb\"",
];

struct Texts<'r> {
    rng: &'r mut Rng,
    /// Nothing is used that only bash has.
    posix: bool,
    /// Here-documents whose bodies come after the next newline.
    documents: Vec<String>,
}

impl Texts<'_> {
    fn program(&mut self) -> String {
        let count = 1 + self.rng.below(3);
        let mut text = String::new();
        for _ in 0..count {
            let depth = 1 + self.rng.below(2);
            text.push_str(&self.and_or(depth));
            let end = self.end();
            text.push_str(&end);
        }
        text.push_str(&self.newline());
        text
    }

    fn pick(&mut self, items: &[&str]) -> String {
        (*self.rng.pick(items).unwrap()).to_owned()
    }

    fn end(&mut self) -> String {
        match self.rng.below(4) {
            0 => " & ".to_owned(),
            1 => " ;\t".to_owned(),
            2 => format!(" # it's \"$(c5)\"{}", self.newline()),
            _ => self.newline(),
        }
    }

    fn newline(&mut self) -> String {
        let mut text = "\n".to_owned();
        for document in std::mem::take(&mut self.documents) {
            text.push_str(&document);
        }
        text
    }

    fn list(&mut self, depth: u64) -> String {
        // A line must not end while a document outside waits for its body: shells differ in whose body comes.
        if !self.documents.is_empty() {
            return format!("{};", self.simple_line(depth));
        }
        let outer = std::mem::take(&mut self.documents);
        let mut text = self.and_or(depth);
        if self.rng.one_in(3) {
            text.push_str(&self.pick(&["; ", " & ", " ;"]));
            text.push_str(&self.and_or(depth));
        }
        let documents = !self.documents.is_empty();
        text.push_str(&if documents || self.rng.one_in(3) {
            self.newline()
        } else {
            ";".to_owned()
        });
        self.documents = outer;
        text
    }

    fn and_or(&mut self, depth: u64) -> String {
        let mut text = self.pipeline(depth);
        while self.rng.one_in(6) {
            text.push_str(&self.pick(&[" && ", " || ", "||", " &&\\\n"]));
            text.push_str(&self.pipeline(depth));
        }
        text
    }

    fn pipeline(&mut self, depth: u64) -> String {
        let mut text = match self.rng.below(12) {
            0 => "! ".to_owned(),
            1 if !self.posix => self.pick(&["time ", "time -p "]),
            _ => String::new(),
        };
        text.push_str(&self.command(depth));
        while self.rng.one_in(5) {
            let bar = if self.posix { "|" } else { "|&" };
            text.push_str(&self.pick(&[" | ", "|", bar]));
            text.push_str(&self.command(depth));
        }
        text
    }

    fn command(&mut self, depth: u64) -> String {
        if depth == 0 || self.rng.below(5) < 3 {
            return self.simple(depth);
        }
        let below = depth - 1;
        let mut text = self.compound(below);
        while self.rng.one_in(5) {
            text.push_str(&self.redirect(below));
        }
        text
    }

    fn compound(&mut self, below: u64) -> String {
        let list = self.list(below);
        let kinds = if self.posix { 11 } else { 16 };
        match self.rng.below(kinds) {
            0 => format!("({list})"),
            1 => format!("{{ {list}}}"),
            2 => format!("if {list} then {}else {}fi", self.list(below), self.list(below)),
            3 => format!("if x0; then c1; elif {list} then {}fi", self.list(below)),
            4 => format!("while {list} do {}break; done", self.list(below)),
            5 => format!("until {list} do c2\nbreak\ndone"),
            6 => format!("for v in {} ; do {list} done", self.words(below)),
            7 => format!(
                "case {} in {}) {list}\n;; (*) {};; esac",
                self.word(below),
                self.word(below),
                self.and_or(below)
            ),
            8 => format!("fn0() {{ {list}}}; fn0 {}", self.words(below)),
            9 => format!("fn1 () ( {list} )\nfn1"),
            11 => format!("function fn2 {{ {list}}}; fn2"),
            12 => format!(
                "[[ {} {} {} ]]",
                self.word(below),
                self.pick(&["=", "!=", "<", ">", "&&", "||", "-nt"]),
                self.word(below)
            ),
            13 => format!("(( 1 {} $({list}) ))", self.pick(&[">", "<", "+", "||"])),
            14 => format!("(({list}) ; c5)"),
            15 => format!("for (( i = 0 ; i < 1 ; i++ )) ; do {list} done"),
            _ => format!("! {{ {list}}}"),
        }
    }

    fn simple(&mut self, depth: u64) -> String {
        let mut text = String::new();
        while self.rng.one_in(6) {
            text.push_str(&self.assignment(depth));
            text.push(' ');
        }
        text.push_str(&self.program_name());
        while self.rng.below(5) < 2 {
            text.push_str(&self.pick(&[" ", " ", "\t", " \\\n"]));
            let part = match self.rng.below(6) {
                0 => self.redirect(depth),
                _ => self.word(depth),
            };
            text.push_str(&part);
        }
        text
    }

    fn program_name(&mut self) -> String {
        let name = self.pick(&["c0", "c1", "c2", "c3", "x0", "x1", "echo", ":", "export"]);
        match self.rng.below(12) {
            0 => format!("'{name}'"),
            1 => format!("\"{name}\""),
            2 => format!("\\{name}"),
            3 => name.chars().map(|letter| format!("{letter}\\\n")).collect(),
            4 if !self.posix => format!("$'{name}'"),
            5 if !self.posix => format!("{{{name},a}}"),
            6 => format!("\"\"{name}''"),
            7 => "$(c3)".to_owned(),
            _ => name,
        }
    }

    fn assignment(&mut self, depth: u64) -> String {
        let value = self.word(depth);
        match if self.posix { 9 } else { self.rng.below(8) } {
            0 => format!("a[1]={value}"),
            1 => format!("a+={value}"),
            2 => format!("a=({value} {})", self.word(depth)),
            _ => format!("a={value}"),
        }
    }

    fn redirect(&mut self, depth: u64) -> String {
        let file = self.file();
        match self.rng.below(if self.posix { 9 } else { 16 }) {
            0 => format!(" >{file}"),
            1 => format!(" >>\t{file}"),
            2 => format!(" 2>{file}"),
            3 => format!(" <>{file}"),
            4 => format!(" >|{file}"),
            5 => " </dev/null".to_owned(),
            6 => self.document(depth),
            13 => format!(" &>>{file}"),
            7 => format!(" >&{file}"),
            8 => " 2>&1".to_owned(),
            9 => format!(" 12>{file}"),
            10 => format!(" <<< {}", self.word(depth)),
            11 => format!(" > >({})", self.list(depth.saturating_sub(1))),
            12 => format!(" {{fd}}>{file}"),
            _ => format!(" &>{file}"),
        }
    }

    fn file(&mut self) -> String {
        self.pick(&[
            "f0",
            "f1",
            "'f 2'",
            "f\\3",
            "\"f4\"",
            "$'f\\x35'",
            "f{6,7}",
            "f8$v",
            "f$(c0)",
            "~",
            "f*",
            "./f9",
        ])
    }

    fn document(&mut self, depth: u64) -> String {
        let mut body = String::new();
        for _ in 0..self.rng.below(3) {
            let line = match self.rng.below(6) {
                0 => "it's $v \"".to_owned(),
                1 => "\\$(c5) \\` \\\\".to_owned(),
                2 => format!("a $({})", self.simple_line(depth)),
                3 => "a `c1 b`".to_owned(),
                4 => "a\\".to_owned(),
                _ => "\ta ${v:-b}".to_owned(),
            };
            body.push_str(&line);
            body.push('\n');
        }
        let (operator, end) = match self.rng.below(5) {
            0 => (" <<'E'", "E"),
            1 => (" <<-E", "\tE"),
            2 => (" << \\E", "E"),
            3 => (" <<\"E\"", "E"),
            _ => (" <<E", "E"),
        };
        self.documents.push(format!("{body}{end}\n"));
        operator.to_owned()
    }

    /// A simple command without documents of its own.
    fn simple_line(&mut self, depth: u64) -> String {
        let outer = std::mem::take(&mut self.documents);
        let text = format!("{} {}", self.program_name(), self.piece(depth.saturating_sub(1)));
        self.documents = outer;
        text
    }

    fn words(&mut self, depth: u64) -> String {
        let count = self.rng.below(3);
        (0..count).map(|_| self.word(depth)).collect::<Vec<_>>().join(" ")
    }

    fn word(&mut self, depth: u64) -> String {
        let count = if self.rng.one_in(2) { 1 } else { 1 + self.rng.below(3) };
        (0..count).map(|_| self.piece(depth)).collect()
    }

    fn plain(&mut self) -> String {
        match self.rng.below(8) {
            0 => self.pick(SPACED),
            1 | 2 if !self.posix => self.one_of(BASH_WORDS),
            _ => self.one_of(WORDS),
        }
    }

    fn one_of(&mut self, words: &str) -> String {
        let words: Vec<&str> = words.split_ascii_whitespace().collect();
        self.pick(&words)
    }

    fn piece(&mut self, depth: u64) -> String {
        if depth == 0 || self.rng.below(6) < 5 {
            return self.plain();
        }
        let below = depth - 1;
        match self.rng.below(if self.posix { 11 } else { 13 }) {
            0 => format!("$({})", self.list(below)),
            1 => format!("\"$({})\"", self.list(below)),
            2 => format!(
                "`{} {}`",
                self.pick(&["c0", "c1", "x0"]),
                self.pick(&["a", "'b c'", "\\$v", "\\\\\\$v", "\"a b\"", "\\`c2 d\\`"])
            ),
            3 => format!("\"`c4 {}`\"", self.pick(&["a", "\\\"b c\\\"", "\\$v", "'d'"])),
            4 => format!("${{v:-{}}}", self.word(below)),
            5 => format!(
                "\"${{v:-{}}}\"",
                self.pick(&["a", "$(c2 a)", "\"b c\"", "`c1`", "\\}", "{a,b}"])
            ),
            6 => format!("${{v+{}}}", self.piece(below)),
            7 => format!("$(( $({} ) + 1 ))", self.simple_line(below)),
            8 => "'$(c5)'".to_owned(),
            11 => format!("<({})", self.list(below)),
            9 => format!("$( ({}) )", self.list(below)),
            10 => format!("\"a$({}){}\"", self.list(below), self.pick(&["", "$v", " b", "\\\""])),
            _ => format!("${{w:={}}}", self.piece(below)),
        }
    }
}
