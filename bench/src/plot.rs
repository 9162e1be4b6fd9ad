//! The picture in `docs/images/bench.svg`: how far every figure is from its bar.
//!
//! One axis for all: how many times better than its bar a figure is. The bar itself is the line at 1; figures to the
//! right of it hold, figures to the left miss. Colours and greys are readable on white and on black, because the
//! picture has no background of its own.

use std::path::Path;

use anyhow::{Result, anyhow};
use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use crate::line::{Bar, Line};
use crate::report::{Report, bar_text, judged_text};

const ROW: i32 = 21;
const TOP: i32 = 62;
const BOTTOM: i32 = 30;
const WIDTH: i32 = 980;
/// The left and right end of the axis; names are before it, figures after it.
const LEFT: i32 = 352;
const RIGHT: i32 = 640;
/// The axis goes from a tenth of the bar to ten times it; values beyond are drawn at the end.
const DECADES: f64 = 1.0;

const INK: RGBColor = RGBColor(118, 124, 132);
const FAINT: RGBColor = RGBColor(140, 146, 154);
const HOLDS: RGBColor = RGBColor(38, 150, 90);
const MISSED: RGBColor = RGBColor(214, 76, 64);

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

pub(crate) fn draw(report: &Report, path: &Path) -> Result<()> {
    let lines: Vec<(&Line, Bar)> = report.lines.iter().filter_map(|line| Some((line, line.bar?))).collect();
    let headings = 1 + lines.windows(2).filter(|pair| pair[0].0.bench != pair[1].0.bench).count() as i32;
    let bottom = TOP + (lines.len() as i32 + headings) * ROW;
    let mut svg = String::new();
    {
        let area = SVGBackend::with_string(&mut svg, (WIDTH as u32, (bottom + BOTTOM) as u32)).into_drawing_area();
        draw_axis(&area, bottom).map_err(|err| anyhow!("could not draw: {err}"))?;
        draw_rows(&area, &lines).map_err(|err| anyhow!("could not draw: {err}"))?;
        area.present().map_err(|err| anyhow!("could not draw: {err}"))?;
    }
    std::fs::write(path, svg)?;
    Ok(())
}

type Drawn = Result<(), DrawingAreaErrorKind<std::io::Error>>;

fn draw_axis(area: &Area<'_>, bottom: i32) -> Drawn {
    write(area, "Every figure beside its bar", (10, 18), 17, INK, HPos::Left)?;
    write(area, "missed", (axis_x(1.0) - 10, 42), 12, MISSED, HPos::Right)?;
    write(area, "holds", (axis_x(1.0) + 10, 42), 12, HOLDS, HPos::Left)?;
    write(area, "measured", (RIGHT + 20, 42), 12, INK, HPos::Left)?;
    write(area, "bar", (RIGHT + 130, 42), 12, INK, HPos::Left)?;
    for (times, label) in [(0.1, "10× worse"), (0.5, "2×"), (1.0, "the bar"), (2.0, "2×"), (10.0, "10× better")] {
        let x = axis_x(times);
        let style = if times == 1.0 { INK.stroke_width(2) } else { FAINT.mix(0.35).stroke_width(1) };
        area.draw(&PathElement::new(vec![(x, TOP - 8), (x, bottom)], style))?;
        write(area, label, (x, bottom + 14), 11, INK, HPos::Center)?;
    }
    Ok(())
}

fn draw_rows(area: &Area<'_>, lines: &[(&Line, Bar)]) -> Drawn {
    let mut y = TOP;
    let mut bench = "";
    for (line, bar) in lines {
        if line.bench != bench {
            bench = &line.bench;
            write(area, bench, (10, y + ROW / 2), 13, INK, HPos::Left)?;
            y += ROW;
        }
        let middle = y + ROW / 2;
        let colour = if line.holds == Some(true) { HOLDS } else { MISSED };
        let (from, to) = (axis_x(1.0), axis_x(bar.margin(line.judged())));
        area.draw(&Rectangle::new(
            [(from.min(to), middle - 4), (from.max(to), middle + 4)],
            colour.mix(0.55).filled(),
        ))?;
        area.draw(&Circle::new((to, middle), 5, colour.filled()))?;
        let what = match &line.yardstick {
            Some(yardstick) => format!("{} : {}", line.what, yardstick.name),
            None => line.what.clone(),
        };
        write(area, &what, (LEFT - 12, middle), 11, INK, HPos::Right)?;
        write(area, &judged_text(line), (RIGHT + 20, middle), 12, colour, HPos::Left)?;
        write(area, &bar_text(*bar, line), (RIGHT + 130, middle), 12, INK, HPos::Left)?;
        y += ROW;
    }
    Ok(())
}

fn write(area: &Area<'_>, text: &str, at: (i32, i32), size: i32, colour: RGBColor, side: HPos) -> Drawn {
    let style = ("sans-serif", size).into_text_style(area).color(&colour).pos(Pos::new(side, VPos::Center));
    area.draw(&Text::new(text.to_owned(), at, style))
}

/// The position on the axis for a margin.
fn axis_x(times: f64) -> i32 {
    let middle = f64::from(LEFT + RIGHT) / 2.0;
    let decades = times.log10().clamp(-DECADES, DECADES);
    (middle + decades / DECADES * f64::from(RIGHT - LEFT) / 2.0).round() as i32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bar_is_in_the_middle_and_better_is_to_the_right() {
        assert_eq!(axis_x(1.0), (LEFT + RIGHT) / 2);
        assert_eq!((axis_x(10.0), axis_x(1_000.0)), (RIGHT, RIGHT));
        assert_eq!((axis_x(0.1), axis_x(0.0)), (LEFT, LEFT));
        assert!(axis_x(0.5) < axis_x(1.0) && axis_x(1.0) < axis_x(2.0));
    }
}
