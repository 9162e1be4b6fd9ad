//! The command that somebody meant, without the shell that only runs it and without the step into the directory in which
//! it is run anyway.
//!
//! Invariant: what is taken off changes nothing of what was run; a line that is not understood stays as it is.

/// How many shells in shells are taken off.
const MAX_DEPTH: usize = 4;

/// The script of a shell that is called only to run it: `bash -lc 'make all'`.
pub fn script_of<'a>(words: &[&'a str]) -> Option<&'a str> {
    let [shell, flags @ .., script] = words else { return None };
    let is_shell = matches!(shell.rsplit('/').next(), Some("sh" | "bash" | "zsh" | "dash" | "ksh"));
    let is_flag = |flag: &&str| flag.starts_with('-') && !flag.starts_with("--");
    let runs_script = flags.last().is_some_and(|flag| flag.ends_with('c')) && flags.iter().all(is_flag);
    (is_shell && runs_script).then_some(*script)
}

/// What was meant by a line that was run in the directory `cwd`.
pub(super) fn meant_command(line: &str, cwd: &str) -> String {
    let mut command = line.trim().to_owned();
    for _ in 0..MAX_DEPTH {
        let words = all_words(&command);
        let script = words.as_ref().and_then(|words| {
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            script_of(&words).map(|script| script.trim().to_owned())
        });
        let inner = script.or_else(|| without_step_into(&command, cwd));
        match inner.filter(|inner| !inner.is_empty()) {
            Some(inner) => command = inner,
            None => break,
        }
    }
    command
}

/// What follows `cd CWD &&`.
fn without_step_into(command: &str, cwd: &str) -> Option<String> {
    let (folder, rest) = next_word(command.strip_prefix("cd ")?)?;
    let rest = rest.trim_start().strip_prefix("&&")?;
    (folder.trim_end_matches('/') == cwd.trim_end_matches('/')).then(|| rest.trim().to_owned())
}

/// The words of a line that is one plain command.
fn all_words(line: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut rest = line.trim();
    while !rest.is_empty() {
        let (word, after) = next_word(rest)?;
        words.push(word);
        rest = after.trim_start();
    }
    Some(words)
}

/// A word as a shell reads it, and what follows it; `None` where a shell would do more than read it.
fn next_word(line: &str) -> Option<(String, &str)> {
    let line = line.trim_start();
    let mut word = String::new();
    let mut letters = line.char_indices();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '\'' => loop {
                match letters.next()?.1 {
                    '\'' => break,
                    letter => word.push(letter),
                }
            },
            '"' => loop {
                match letters.next()?.1 {
                    '"' => break,
                    '\\' => match letters.next()?.1 {
                        letter @ ('"' | '\\' | '$' | '`') => word.push(letter),
                        '\n' => (),
                        letter => word.extend(['\\', letter]),
                    },
                    letter => word.push(letter),
                }
            },
            '\\' => word.push(letters.next()?.1),
            letter if letter.is_whitespace() => return Some((word, &line[at..])),
            '|' | '&' | ';' | '<' | '>' | '(' | ')' | '$' | '`' | '*' | '?' | '#' | '~' => return None,
            letter => word.push(letter),
        }
    }
    (!line.is_empty()).then_some((word, ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_and_a_step_into_the_own_directory_are_not_what_was_meant() {
        for (line, meant) in [
            ("cargo test", "cargo test"),
            ("/bin/bash -c 'cd '\\''/repo'\\'' && make all'", "make all"),
            (r#"bash -lc "echo \"a b\" | wc""#, r#"echo "a b" | wc"#),
            ("bash -l -c 'make | tee log'", "make | tee log"),
            ("cd '/repo' && touch a && expr 1 '*' 2", "touch a && expr 1 '*' 2"),
            ("cd /repo/ && git status", "git status"),
            ("sh -c 'bash -c make'", "make"),
            // Another directory, another program, more than one command: that is what was meant.
            ("cd /repo/web && make", "cd /repo/web && make"),
            ("cd /repo; make", "cd /repo; make"),
            ("cd $HOME && make", "cd $HOME && make"),
            ("python3 -c 'print(1)'", "python3 -c 'print(1)'"),
            ("bash -c make x", "bash -c make x"),
            ("bash --rc make", "bash --rc make"),
            ("bash -c 'a' && bash -c 'b'", "bash -c 'a' && bash -c 'b'"),
            ("bash -c 'open", "bash -c 'open"),
            ("bash -c ''", "bash -c ''"),
        ] {
            assert_eq!(meant_command(line, "/repo"), meant, "{line}");
        }
    }
}
