//! The results for people and programs: a table, a page of JSON, a part of `docs/performance.md`.

use serde::{Deserialize, Serialize};

use crate::line::{Bar, Line};
use crate::machine::Machine;
use crate::statistics::Spread;

/// The results of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Report {
    /// The day, as in `2025-11-15`.
    pub(crate) date: String,
    pub(crate) commit: String,
    pub(crate) repeats: usize,
    pub(crate) machine: Machine,
    pub(crate) lines: Vec<Line>,
}

const HEADINGS: [&str; 6] = ["what", "ours", "yardstick", "ratio", "bar", "holds"];

impl Report {
    /// For a terminal, with aligned columns.
    pub(crate) fn table(&self) -> String {
        let rows: Vec<_> = self.lines.iter().map(cells).collect();
        let widths: Vec<usize> = (0..HEADINGS.len())
            .map(|column| {
                let cells = rows.iter().map(|row| row[column].chars().count());
                cells.chain([HEADINGS[column].len()]).max().unwrap_or(0)
            })
            .collect();
        let print = |row: &[String]| {
            let padded: Vec<_> = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}")).collect();
            format!("{}\n", padded.join("  ").trim_end())
        };
        let mut text = print(&HEADINGS.map(str::to_owned));
        let mut bench = "";
        for (line, row) in self.lines.iter().zip(&rows) {
            if line.bench != bench {
                bench = &line.bench;
                text += &format!("\n{bench}\n");
            }
            text += &print(row);
        }
        text
    }

    /// For `docs/performance.md`.
    pub(crate) fn markdown(&self) -> String {
        let Machine { cores, cpu, memory_gb, kernel, filesystem, rustc, load_before } = &self.machine;
        let mut text = format!(
            "Commit {}, {}, {} repeats, on {cores} cores ({cpu}), {memory_gb} GB, Linux {kernel}, {filesystem}, {rustc}; \
             load before the run {load_before}.\n",
            self.commit, self.date, self.repeats
        );
        let mut bench = "";
        for line in &self.lines {
            if line.bench != bench {
                bench = &line.bench;
                text += &format!("\n### {bench}\n\n| {} |\n|---|---|---|---|---|---|\n", HEADINGS.join(" | "));
            }
            let mut cells = cells(line);
            if let Some(note) = &line.note {
                cells[0] += &format!(" ({note})");
            }
            text += &format!("| {} |\n", cells.join(" | "));
        }
        text
    }

    pub(crate) fn missed(&self) -> usize {
        self.lines.iter().filter(|line| line.holds == Some(false)).count()
    }
}

fn cells(line: &Line) -> [String; 6] {
    let yardstick = line
        .yardstick
        .as_ref()
        .map(|yardstick| format!("{} {}", with_unit(yardstick.figure, &line.unit), yardstick.name));
    let ratio =
        line.ratio.map(|ratio| format!("{}× ({} to {})", figure(ratio.median), figure(ratio.low), figure(ratio.high)));
    let holds = line.holds.map(|holds| if holds { "yes" } else { "NO" });
    [
        line.what.clone(),
        format!("{} ({} to {})", with_unit(line.ours, &line.unit), figure(line.ours.low), figure(line.ours.high)),
        yardstick.unwrap_or_default(),
        ratio.unwrap_or_default(),
        line.bar.map(|bar| bar_text(bar, line)).unwrap_or_default(),
        holds.unwrap_or_default().to_owned(),
    ]
}

pub(crate) fn bar_text(bar: Bar, line: &Line) -> String {
    let (sign, value) = match bar {
        Bar::AtLeast(value) => ("≥", value),
        Bar::AtMost(value) => ("≤", value),
    };
    match line.ratio {
        Some(_) => format!("{sign} {}×", figure(value)),
        None => format!("{sign} {} {}", figure(value), line.unit),
    }
}

/// The figure that a bar is about, with its unit.
pub(crate) fn judged_text(line: &Line) -> String {
    match line.ratio {
        Some(ratio) => format!("{}×", figure(ratio.median)),
        None => with_unit(line.ours, &line.unit),
    }
}

fn with_unit(spread: Spread, unit: &str) -> String {
    format!("{} {unit}", figure(spread.median))
}

/// Three significant digits; thousands separated.
pub(crate) fn figure(value: f64) -> String {
    if !value.is_finite() {
        return "?".to_owned();
    }
    let digits = if value == 0.0 { 1 } else { value.abs().log10().floor() as i32 + 1 };
    let scale = 10_f64.powi(3 - digits.max(0));
    let rounded = (value * scale).round() / scale;
    if rounded.abs() < 1_000.0 {
        let text = format!("{rounded:.3}");
        return text.trim_end_matches('0').trim_end_matches('.').to_owned();
    }
    let whole = format!("{rounded:.0}");
    let groups: Vec<_> = whole.as_bytes().rchunks(3).rev().map(String::from_utf8_lossy).collect();
    groups.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_three_digits() {
        for (value, expected) in [
            (0.0, "0"),
            (0.8347, "0.835"),
            (0.0123, "0.012"),
            (1.2, "1.2"),
            (12.345, "12.3"),
            (170.4, "170"),
            (999.7, "1,000"),
            (4_968.0, "4,970"),
            (49_955.2, "50,000"),
            (1_234_567.0, "1,230,000"),
            (f64::NAN, "?"),
        ] {
            assert_eq!(figure(value), expected);
        }
    }

    #[test]
    fn a_table_tells_what_is_missed() {
        let machine = Machine {
            cores: 2,
            cpu: "a CPU".to_owned(),
            memory_gb: 4.0,
            kernel: "6.1".to_owned(),
            filesystem: "ext4".to_owned(),
            rustc: "rustc 1.95".to_owned(),
            load_before: 0.1,
        };
        let lines = vec![
            Line::beside("append", "parts", "1/s", &[3_000.0], "bare", &[6_000.0]).bar(Bar::AtLeast(0.6)),
            Line::new("start", "ready", "ms", &[40.0]).bar(Bar::AtMost(300.0)).note("cold"),
        ];
        let report = Report { date: "2025-11-15".to_owned(), commit: "abc".to_owned(), repeats: 1, machine, lines };
        assert_eq!(report.missed(), 1);
        let table = report.table();
        assert!(
            table.contains("parts  3,000 1/s (3,000 to 3,000)  6,000 1/s bare  0.5× (0.5 to 0.5)  ≥ 0.6×    NO\n"),
            "{table}"
        );
        let page = report.markdown();
        assert!(page.contains("| ready (cold) | 40 ms (40 to 40) |  |  | ≤ 300 ms | yes |\n"), "{page}");
        let again: Report = serde_json::from_str(&serde_json::to_string(&report).unwrap()).unwrap();
        assert_eq!(again, report);
    }
}
