//! The table at the end of a run: minutes per step, what failed, what was not run and how to install it.

use std::time::Duration;

use anyhow::bail;

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    Passed,
    Failed,
    /// What was not run, and the command that installs what it needs.
    NotRun(String),
}

pub(super) struct Line {
    pub(super) name: &'static str,
    pub(super) took: Duration,
    pub(super) outcome: Outcome,
}

/// Prints the table; an error if a step failed.
pub(super) fn print(lines: &[Line]) -> anyhow::Result<()> {
    println!("\n{}", render(lines));
    let failed: Vec<_> = lines.iter().filter(|line| line.outcome == Outcome::Failed).map(|line| line.name).collect();
    if !failed.is_empty() {
        bail!("failed: {}", failed.join(", "));
    }
    Ok(())
}

fn render(lines: &[Line]) -> String {
    let mut text = format!("{:<10}  {:>7}  result\n", "step", "minutes");
    for line in lines {
        let result = match line.outcome {
            Outcome::Passed => "PASS",
            Outcome::Failed => "FAIL",
            Outcome::NotRun(_) => "not run",
        };
        text += &format!("{:<10}  {:>7}  {result}\n", line.name, minutes(line.took));
    }
    let (passed, failed) = (count(lines, &Outcome::Passed), count(lines, &Outcome::Failed));
    let total = lines.iter().map(|line| line.took).sum();
    let verdict = if failed == 0 { "PASS" } else { "FAIL" };
    text += &format!("{:<10}  {:>7}  {verdict}\n", "total", minutes(total));

    let notes: Vec<_> = lines
        .iter()
        .filter_map(|line| match &line.outcome {
            Outcome::NotRun(note) => Some(note.as_str()),
            Outcome::Passed | Outcome::Failed => None,
        })
        .collect();
    let skipped = if notes.is_empty() { String::new() } else { format!(", {} skipped", notes.len()) };
    text += &format!("\n{passed} passed, {failed} failed{skipped}\n");
    if !notes.is_empty() {
        text += &format!("Not run: {}.\n", notes.join(", "));
    }
    text
}

fn count(lines: &[Line], outcome: &Outcome) -> usize {
    lines.iter().filter(|line| line.outcome == *outcome).count()
}

fn minutes(took: Duration) -> String {
    format!("{:.1}", took.as_secs_f64() / 60.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(name: &'static str, seconds: u64, outcome: Outcome) -> Line {
        Line { name, took: Duration::from_secs(seconds), outcome }
    }

    #[test]
    fn a_failure_shows_in_the_table_the_count_and_the_result() {
        let lines = [line("fmt", 3, Outcome::Passed), line("clippy", 93, Outcome::Failed)];
        let text = render(&lines);
        assert_eq!(
            text,
            "\
step        minutes  result
fmt             0.1  PASS
clippy          1.6  FAIL
total           1.6  FAIL

1 passed, 1 failed
"
        );
        assert_eq!(print(&lines).unwrap_err().to_string(), "failed: clippy");
    }

    #[test]
    fn what_was_not_run_is_one_closing_line() {
        let not_run = |note: &str| Outcome::NotRun(note.to_owned());
        let lines = [
            line("fmt", 0, Outcome::Passed),
            line("journeys", 0, not_run("journeys (`get-a-browser`)")),
            line("deny", 0, not_run("licences (`get-deny`)")),
        ];
        let text = render(&lines);
        assert!(
            text.ends_with(
                "\n1 passed, 0 failed, 2 skipped\nNot run: journeys (`get-a-browser`), licences (`get-deny`).\n"
            ),
            "{text}"
        );
        assert!(print(&lines).is_ok());
    }
}
