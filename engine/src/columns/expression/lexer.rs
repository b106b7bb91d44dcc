//! Tokens of an expression.

use yunti_base::{Code, Error, Result};

/// A token.
#[derive(Clone, Debug, PartialEq)]
pub enum Token {
    /// A name or a keyword, as it is written.
    Word(String),
    /// A name in double quotes.
    Name(String),
    /// A number, as it is written.
    Number(String),
    /// A text in single quotes.
    Text(String),
    Symbol(&'static str),
    End,
}

/// A token and its place: the number of its first character, from 1.
#[derive(Clone, Debug, PartialEq)]
pub struct Placed {
    pub token: Token,
    pub place: usize,
}

/// Symbols; the longer ones first.
const SYMBOLS: [&str; 17] = ["<>", "!=", "<=", ">=", "||", "<", ">", "=", "+", "-", "*", "/", "%", "(", ")", ",", "."];

/// Returns the tokens of a text, and the end behind them. Errors: `Usage` for a character that begins none.
pub fn tokens(text: &str) -> Result<Vec<Placed>> {
    let chars: Vec<char> = text.chars().collect();
    let mut all = Vec::new();
    let mut at = 0;
    while at < chars.len() {
        let (start, c) = (at, chars[at]);
        let token = match c {
            c if c.is_whitespace() => {
                at += 1;
                continue;
            }
            '\'' | '"' => {
                let quoted = quoted(&chars, &mut at).ok_or_else(|| {
                    Error::new(Code::Usage, format!("'{text}': the quote at character {} has no end", start + 1))
                })?;
                if c == '"' { Token::Name(quoted) } else { Token::Text(quoted) }
            }
            c if c.is_alphabetic() || c == '_' => {
                while at < chars.len() && (chars[at].is_alphanumeric() || chars[at] == '_') {
                    at += 1;
                }
                Token::Word(chars[start..at].iter().collect())
            }
            c if c.is_ascii_digit() || (c == '.' && chars.get(at + 1).is_some_and(char::is_ascii_digit)) => {
                number(&chars, &mut at);
                Token::Number(chars[start..at].iter().collect())
            }
            _ => {
                let rest: String = chars[at..chars.len().min(at + 2)].iter().collect();
                let Some(symbol) = SYMBOLS.into_iter().find(|symbol| rest.starts_with(symbol)) else {
                    let what = format!("'{text}': the character {} ({c}) begins nothing known", start + 1);
                    return Err(Error::new(Code::Usage, what).hint("write names with such characters in double quotes"));
                };
                at += symbol.len();
                Token::Symbol(symbol)
            }
        };
        all.push(Placed { token, place: start + 1 });
    }
    all.push(Placed { token: Token::End, place: chars.len() + 1 });
    Ok(all)
}

/// Returns the text between quotes, in which a doubled quote is one. None if it has no end.
fn quoted(chars: &[char], at: &mut usize) -> Option<String> {
    let quote = chars[*at];
    let mut text = String::new();
    loop {
        *at += 1;
        match *chars.get(*at)? {
            c if c != quote => text.push(c),
            _ if chars.get(*at + 1) == Some(&quote) => {
                text.push(quote);
                *at += 1;
            }
            _ => {
                *at += 1;
                return Some(text);
            }
        }
    }
}

fn number(chars: &[char], at: &mut usize) {
    let digits = |at: &mut usize| {
        while chars.get(*at).is_some_and(char::is_ascii_digit) {
            *at += 1;
        }
    };
    digits(at);
    if chars.get(*at) == Some(&'.') {
        *at += 1;
        digits(at);
    }
    if matches!(chars.get(*at), Some('e' | 'E')) {
        let sign = usize::from(matches!(chars.get(*at + 1), Some('+' | '-')));
        if chars.get(*at + 1 + sign).is_some_and(char::is_ascii_digit) {
            *at += 1 + sign;
            digits(at);
        }
    }
}
