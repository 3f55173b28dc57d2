//! Lexer of Rust source: identifiers, strings and punctuation, without comments.

/// One token and the line it begins on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// Kind and text.
    pub kind: Kind,
    /// Line number, from 1.
    pub line: usize,
}

/// The kinds of tokens that module structure depends on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An identifier or a keyword.
    Ident(String),
    /// The text between the quotes, with escapes as written.
    Str(String),
    /// `::`
    PathSep,
    /// Any other character.
    Punct(char),
}

impl Token {
    /// Returns the identifier's text.
    pub fn ident(&self) -> Option<&str> {
        match &self.kind {
            Kind::Ident(text) => Some(text),
            _ => None,
        }
    }

    /// Returns true for this punctuation character.
    pub fn is(&self, punctuation: char) -> bool {
        self.kind == Kind::Punct(punctuation)
    }
}

/// Splits source text into tokens. Comments, numbers, characters and lifetimes are dropped.
pub fn tokens(source: &str) -> Vec<Token> {
    let chars: Vec<char> = source.chars().collect();
    let at = |i: usize| chars.get(i).copied().unwrap_or('\0');
    let mut found = Vec::new();
    let (mut i, mut line) = (0, 1);
    while i < chars.len() {
        let begin = i;
        let mut kind = None;
        match at(i) {
            '/' if at(i + 1) == '/' => {
                while i < chars.len() && at(i) != '\n' {
                    i += 1;
                }
            }
            '/' if at(i + 1) == '*' => i = end_of_block_comment(&chars, i),
            '"' => {
                i = end_of_string(&chars, i + 1);
                kind = Some(Kind::Str(chars[begin + 1..i - 1].iter().collect()));
            }
            '\'' => i = end_of_quote(&chars, i),
            c if c == '_' || c.is_alphabetic() => {
                while at(i) == '_' || at(i).is_alphanumeric() {
                    i += 1;
                }
                let text: String = chars[begin..i].iter().collect();
                let hashes = (i..).take_while(|&k| at(k) == '#').count();
                if text.ends_with('r') && text.len() <= 2 && at(i + hashes) == '"' {
                    let (from, to) = raw_string(&chars, i + hashes + 1, hashes);
                    kind = Some(Kind::Str(chars[from..to].iter().collect()));
                    i = to + 1 + hashes;
                } else {
                    kind = Some(Kind::Ident(text));
                }
            }
            c if c.is_ascii_digit() => {
                while at(i) == '_' || at(i).is_alphanumeric() {
                    i += 1;
                }
            }
            ':' if at(i + 1) == ':' => {
                i += 2;
                kind = Some(Kind::PathSep);
            }
            c => {
                i += 1;
                kind = (!c.is_whitespace()).then_some(Kind::Punct(c));
            }
        }
        found.extend(kind.map(|kind| Token { kind, line }));
        line += chars[begin..i.min(chars.len())].iter().filter(|&&c| c == '\n').count();
    }
    found
}

fn end_of_block_comment(chars: &[char], mut i: usize) -> usize {
    let mut depth = 0;
    while i < chars.len() {
        match (chars[i], chars.get(i + 1)) {
            ('/', Some('*')) => (depth, i) = (depth + 1, i + 2),
            ('*', Some('/')) => (depth, i) = (depth - 1, i + 2),
            _ => i += 1,
        }
        if depth == 0 {
            break;
        }
    }
    i
}

/// Returns the position after the closing quote of a string whose text starts at `i`.
fn end_of_string(chars: &[char], mut i: usize) -> usize {
    while i < chars.len() && chars[i] != '"' {
        i += if chars[i] == '\\' { 2 } else { 1 };
    }
    i + 1
}

/// Returns where the text of a raw string begins and ends.
fn raw_string(chars: &[char], from: usize, hashes: usize) -> (usize, usize) {
    let closes = |i: usize| chars[i] == '"' && (1..=hashes).all(|k| chars.get(i + k) == Some(&'#'));
    (from, (from..chars.len()).find(|&i| closes(i)).unwrap_or(chars.len()))
}

/// Returns the position after a character literal or a lifetime that starts at `i`.
fn end_of_quote(chars: &[char], i: usize) -> usize {
    match (chars.get(i + 1), chars.get(i + 2)) {
        (Some('\\'), _) => (i + 3..chars.len()).find(|&k| chars[k] == '\'').unwrap_or(chars.len()) + 1,
        (Some(_), Some('\'')) => i + 3,
        _ => (i + 1..chars.len())
            .find(|&k| chars[k] != '_' && !chars[k].is_alphanumeric())
            .unwrap_or(chars.len()), // a lifetime
    }
}
