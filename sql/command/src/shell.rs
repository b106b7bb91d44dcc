//! The shell: statements of a person, with history and completion. A statement ends with a semicolon.

use std::path::PathBuf;
use std::time::Instant;

use rustyline::completion::{Completer, Pair};
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::FileHistory;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{Config, Context, Editor, Helper};
use yunti_base::{Cancel, Code, Error};
use yunti_program::failure::{Failure, Outcome};
use yunti_program::terminal::signals;
use yunti_sql_front::output::Format;
use yunti_sql_front::session::Session;
use yunti_sql_front::session::run::Done;
use yunti_sql_front::statements;

use crate::flags::Flags;
use crate::print::{Printer, default_format, format_of, print_text};

const HELP: &str = "\
.tables             names of tables
.schema NAME        columns of a table
.explain QUERY;     plan of a query
.timer on|off       print the time of each statement
.mode FORMAT        format of results: table, csv, tsv, json, text
.help               this text
.quit               leave; so does ctrl-D
A statement ends with a semicolon. Ctrl-C cancels it.
";

const KEYWORDS: &str = "select from where group by order limit having distinct join left right full outer cross on using \
    with as and or not in is null between like ilike case when then else end cast union all except intersect values \
    create table view drop insert into copy to describe show tables explain analyze set over partition rows range \
    interval date timestamp exists count sum avg min max coalesce substring extract year month day asc desc nulls first \
    last offset qualify";

/// Reads and runs statements until the input ends.
pub fn run(session: &mut Session, flags: &Flags) -> Outcome {
    let failed = |e: ReadlineError| Error::new(Code::Input, format!("cannot read from the terminal: {e}"));
    let config = Config::builder().auto_add_history(false).max_history_size(10_000).map_err(failed)?.build();
    let mut editor: Editor<Assistant, FileHistory> = Editor::with_config(config).map_err(failed)?;
    editor.set_helper(Some(Assistant { names: Vec::new() }));
    let history = history_path();
    if let Some(path) = &history {
        let _ = editor.load_history(path);
    }
    let mut state = State { format: format_of(flags)?.unwrap_or_else(default_format), has_timer: true };
    loop {
        if let Some(assistant) = editor.helper_mut() {
            assistant.names = session.tables();
        }
        let line = match editor.readline("sql> ") {
            Ok(line) => line,
            Err(ReadlineError::Interrupted) => continue,
            Err(ReadlineError::Eof) => break,
            Err(e) => return Err(failed(e).into()),
        };
        if line.trim().is_empty() {
            continue;
        }
        let _ = editor.add_history_entry(line.trim());
        if let Some(path) = &history {
            let _ = path.parent().map(std::fs::create_dir_all);
            let _ = editor.save_history(path);
        }
        match line.trim().strip_prefix('.') {
            Some("quit" | "exit" | "q") => break,
            Some(command) => report(state.command(session, command))?,
            None => {
                for statement in session.split(&line).0 {
                    let run = state.statement(session, &statement);
                    let is_failed = run.is_err();
                    report(run)?;
                    if is_failed {
                        break;
                    }
                }
            }
        }
    }
    Ok(())
}

/// Prints an error, after which the shell goes on.
fn report(outcome: Outcome) -> Outcome {
    match outcome {
        Err(Failure::Error(error)) => {
            eprintln!("yunti: {error}");
            Ok(())
        }
        other => other,
    }
}

/// Returns the file of the history: below XDG_STATE_HOME, or ~/.local/state.
fn history_path() -> Option<PathBuf> {
    let state = std::env::var_os("XDG_STATE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let state = state.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".local/state")))?;
    Some(state.join("yunti/sql-history"))
}

struct State {
    format: Format,
    has_timer: bool,
}

impl State {
    fn statement(&mut self, session: &mut Session, statement: &statements::Statement) -> Outcome {
        // Each statement has its own flag: one that is set stays set.
        session.cancel = Cancel::default();
        signals::cancel_on_signals(&session.cancel);
        let started = Instant::now();
        let mut out = Printer::new(self.format);
        let done = session.run(statement, &mut out);
        let done = done.and_then(|done| out.finish().map(|()| done))?;
        let seconds = started.elapsed().as_secs_f64();
        match done {
            Done::Written(rows) => eprintln!("{rows} rows written"),
            Done::Nothing => eprintln!("done"),
            Done::Rows => {}
        }
        if self.has_timer {
            eprintln!("{seconds:.3} s");
        }
        Ok(())
    }

    fn command(&mut self, session: &mut Session, command: &str) -> Outcome {
        let (word, rest) = command.split_once(char::is_whitespace).unwrap_or((command, ""));
        let rest = rest.trim().trim_end_matches(';');
        let usage = |what: String| Failure::from(Error::new(Code::Usage, what).hint("see .help"));
        match word {
            "help" => print_text(HELP),
            "tables" => print_text(&session.tables().iter().map(|name| format!("{name}\n")).collect::<String>()),
            "schema" if !rest.is_empty() => {
                let name = if rest.contains(['/', '.', '*']) && !rest.starts_with('\'') {
                    format!("'{}'", rest.replace('\'', "''"))
                } else {
                    rest.to_string()
                };
                self.run_text(session, &format!("describe {name}"))
            }
            "explain" if !rest.is_empty() => self.run_text(session, &format!("explain {rest}")),
            "timer" => {
                self.has_timer = match rest {
                    "on" | "" => true,
                    "off" => false,
                    other => return Err(usage(format!("'.timer {other}' is neither on nor off"))),
                };
                Ok(())
            }
            "mode" => {
                self.format = Format::named(rest)?;
                Ok(())
            }
            other => Err(usage(format!("there is no command '.{other}'"))),
        }
    }

    fn run_text(&mut self, session: &mut Session, text: &str) -> Outcome {
        session.split(text).0.iter().try_for_each(|statement| self.statement(session, statement))
    }
}

/// Completes words and paths, and waits for the semicolon.
struct Assistant {
    names: Vec<String>,
}

impl Completer for Assistant {
    type Candidate = Pair;

    fn complete(&self, line: &str, at: usize, _: &Context<'_>) -> rustyline::Result<(usize, Vec<Pair>)> {
        let before = &line[..at];
        let is_in_quotes = before.matches('\'').count() % 2 == 1;
        if is_in_quotes {
            let start = before.rfind('\'').map_or(0, |quote| quote + 1);
            return Ok((start, paths(&before[start..])));
        }
        let start = before
            .rfind(|c: char| !c.is_alphanumeric() && c != '_' && c != '.')
            .map_or(0, |n| n + before[n..].chars().next().map_or(1, char::len_utf8));
        let word = before[start..].to_lowercase();
        let names = self.names.iter().map(String::as_str).chain(KEYWORDS.split_whitespace());
        let pair = |text: &str| Pair { display: text.into(), replacement: text.into() };
        Ok((start, names.filter(|name| !word.is_empty() && name.to_lowercase().starts_with(&word)).map(pair).collect()))
    }
}

/// Returns the paths that begin so; directories with a slash.
fn paths(begin: &str) -> Vec<Pair> {
    let (dir, name) = begin.rsplit_once('/').map_or(("", begin), |(dir, name)| (dir, name));
    let listed = match (dir, begin.contains('/')) {
        ("", true) => "/",
        ("", false) => ".",
        (dir, _) => dir,
    };
    let Ok(entries) = std::fs::read_dir(listed) else { return Vec::new() };
    let mut found: Vec<Pair> = entries
        .flatten()
        .filter_map(|entry| {
            let own = entry.file_name().into_string().ok().filter(|own| own.starts_with(name))?;
            let end = if entry.path().is_dir() { "/" } else { "" };
            let before = &begin[..begin.len() - name.len()];
            Some(Pair { display: format!("{own}{end}"), replacement: format!("{before}{own}{end}") })
        })
        .collect();
    found.sort_by(|a, b| a.display.cmp(&b.display));
    found
}

impl Validator for Assistant {
    fn validate(&self, context: &mut ValidationContext<'_>) -> rustyline::Result<ValidationResult> {
        let text = context.input().trim();
        let is_complete = text.is_empty() || text.starts_with('.') || statements::split(text).1;
        Ok(if is_complete { ValidationResult::Valid(None) } else { ValidationResult::Incomplete })
    }
}

impl Hinter for Assistant {
    type Hint = String;
}
impl Highlighter for Assistant {}
impl Helper for Assistant {}
