//! Plots of measurements as SVG.

use anyhow::{Result, anyhow};
use plotters::prelude::*;
use std::collections::BTreeMap;
use std::path::Path;
use vkabort_runner::Measurement;
use vkabort_runner::measurements::number;
use vkabort_tests::measure::shaders::Variant;

/// A plot with a panel per driver and logarithmic axes.
pub struct Plot<'a> {
    /// Title.
    pub title: &'a str,
    /// Label of the horizontal axis: the first number in each subject.
    pub x: &'a str,
    /// Label of the vertical axis: the value of `metric`.
    pub y: &'a str,
    /// The metric.
    pub metric: &'a str,
}

/// Size of a panel.
const PANEL: (u32, u32) = (450, 320);
/// Heights of the title and of the legend below it.
const HEADER: (u32, u32) = (36, 26);

/// Points by variant, in the order of tables.
type Curves = Vec<(String, Vec<(f64, f64)>)>;

impl Plot<'_> {
    /// The curves by driver.
    fn panels(&self, all: &[Measurement]) -> BTreeMap<String, Curves> {
        let mut panels: BTreeMap<String, Curves> = BTreeMap::new();
        for one in all.iter().filter(|one| one.metric == self.metric) {
            if let (Some(x), Some(y)) = (first_number(&one.subject), one.value)
                // The axes are logarithmic.
                && x > 0.0
                && y > 0.0
            {
                let curves = panels.entry(one.driver.clone()).or_default();
                match curves.iter_mut().find(|(variant, _)| *variant == one.variant) {
                    Some((_, curve)) => curve.push((x, y)),
                    None => curves.push((one.variant.clone(), vec![(x, y)])),
                }
            }
        }
        panels
    }

    /// Draws a panel per driver, all with the same axes; nothing if there are no values.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub fn draw(&self, all: &[Measurement], path: &Path) -> Result<()> {
        let panels = self.panels(all);
        let points = || panels.values().flatten().flat_map(|(_, curve)| curve);
        let range = |value: fn(&(f64, f64)) -> f64| {
            let low = points().map(value).fold(f64::INFINITY, f64::min);
            let high = points().map(value).fold(0.0, f64::max);
            labelled(low / 1.2, high * 1.2).log_scale()
        };
        if panels.is_empty() {
            return Ok(());
        }
        let mut variants: Vec<&str> = Vec::new();
        for (variant, _) in panels.values().flatten() {
            if !variants.contains(&variant.as_str()) {
                variants.push(variant);
            }
        }
        variants.sort_by_key(|name| variant_order(name));
        let colors = colors(&variants);
        let color = |variant: &str| {
            let number = variants.iter().position(|other| *other == variant).unwrap_or_default();
            let index = colors.get(number).copied().unwrap_or_default();
            COLORS[index % COLORS.len()].stroke_width(2)
        };
        let columns = panels.len().min(2);
        let rows = panels.len().div_ceil(columns);
        let legend: i32 = variants.iter().map(|variant| legend_width(variant)).sum();
        let size = (
            (PANEL.0 * u32::try_from(columns)?).max(u32::try_from(legend)?),
            HEADER.0 + HEADER.1 + PANEL.1 * u32::try_from(rows)?,
        );
        let failed = |error: &dyn std::fmt::Display| anyhow!("cannot draw {}: {error}", path.display());
        let root = SVGBackend::new(path, size).into_drawing_area();
        root.fill(&WHITE).map_err(|error| failed(&error))?;
        let root = root
            .titled(self.title, ("sans-serif", 20))
            .map_err(|error| failed(&error))?;
        let (legend, root) = root.split_vertically(HEADER.1);
        let mut x = 16;
        for variant in &variants {
            let line = PathElement::new([(x, 13), (x + 22, 13)], color(variant));
            legend.draw(&line).map_err(|error| failed(&error))?;
            let text = Text::new((*variant).to_owned(), (x + 28, 6), ("sans-serif", 14));
            legend.draw(&text).map_err(|error| failed(&error))?;
            x += legend_width(variant);
        }
        for (area, (driver, curves)) in root.split_evenly((rows, columns)).iter().zip(&panels) {
            let mut chart = ChartBuilder::on(area)
                .caption(driver, ("sans-serif", 15))
                .margin(10)
                // Half of the last label.
                .margin_right(26)
                .x_label_area_size(38)
                .y_label_area_size(64)
                .build_cartesian_2d(range(|point| point.0), range(|point| point.1))
                .map_err(|error| failed(&error))?;
            chart
                .configure_mesh()
                .light_line_style(TRANSPARENT)
                .x_labels(6)
                .y_labels(6)
                .x_label_formatter(&|value| number(*value))
                .y_label_formatter(&|value| number(*value))
                .x_desc(self.x)
                .y_desc(self.y)
                .draw()
                .map_err(|error| failed(&error))?;
            for (variant, curve) in curves {
                let series = LineSeries::new(curve.iter().copied(), color(variant)).point_size(3);
                chart.draw_series(series).map_err(|error| failed(&error))?;
            }
        }
        root.present().map_err(|error| failed(&error))
    }
}

/// Width of a variant in the legend, in pixels.
fn legend_width(variant: &str) -> i32 {
    56 + 8 * i32::try_from(variant.len()).unwrap_or_default()
}

/// A range with two powers of ten at least: only they have labels.
fn labelled(low: f64, high: f64) -> std::ops::Range<f64> {
    let (first, last) = (low.log10().ceil(), high.log10().floor());
    if last > first {
        low..high
    } else {
        10f64.powf(low.log10().floor())..10f64.powf(high.log10().ceil())
    }
}

/// Colours of the variants that are told apart with any colour vision (Okabe and Ito).
const COLORS: [RGBColor; 6] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(86, 180, 233),
    RGBColor(230, 159, 0),
];

/// Colours of those variants that share a plot with others of the same place modulo the number of colours.
const OWN_COLORS: [(Variant, usize); 4] = [
    (Variant::Native, 5),
    (Variant::Prints, 0),
    (Variant::Printf, 4),
    (Variant::PrintfWithRoom, 2),
];

/// Colours of the variants of a plot, by their index in [`COLORS`]: a variant has its own one, so that it is the same in all plots,
/// unless another one of this plot has it.
fn colors(variants: &[&str]) -> Vec<usize> {
    let mut chosen: Vec<usize> = Vec::with_capacity(variants.len());
    for variant in variants {
        let own = OWN_COLORS.iter().find(|(of, _)| of.name() == *variant);
        let own = own.map_or_else(|| variant_order(variant), |(_, color)| *color);
        let mut candidates = (own..own + COLORS.len()).map(|index| index % COLORS.len());
        let free = candidates.find(|index| !chosen.contains(index));
        chosen.push(free.unwrap_or(own % COLORS.len()));
    }
    chosen
}

/// The first number in a text.
fn first_number(text: &str) -> Option<f64> {
    let start = text.find(|character: char| character.is_ascii_digit())?;
    let rest = text.get(start..)?;
    let digits = rest.split(|character: char| !character.is_ascii_digit()).next()?;
    digits.parse().ok()
}

/// Names of the variants in the order of tables.
pub fn variants() -> [&'static str; Variant::ALL.len()] {
    Variant::ALL.map(Variant::name)
}

/// Place of a variant in tables.
fn variant_order(name: &str) -> usize {
    let all = variants();
    all.iter().position(|other| *other == name).unwrap_or(all.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_axis_has_two_labels() {
        assert_eq!(labelled(1.2, 34.0), 1.0..100.0);
        assert_eq!(labelled(0.5, 34.0), 0.5..34.0);
        assert_eq!(labelled(1.2, 3.4), 1.0..10.0);
    }

    #[test]
    fn no_two_variants_of_a_plot_have_one_colour() {
        use Variant::{Layer, Native, Printf, PrintfWithRoom, Return, Unchecked};
        let of = |variants: &[Variant]| colors(&variants.iter().map(|variant| variant.name()).collect::<Vec<_>>());
        assert_eq!(of(&[Unchecked, Return, Layer, Native, Printf]), [0, 1, 3, 5, 4]);
        assert_eq!(of(&[Return, Layer, Printf, PrintfWithRoom]), [1, 3, 4, 2]);
        let six = of(&Variant::ALL[..6]);
        assert!((0..6).all(|color| six.contains(&color)), "{six:?}");
        // More than there are colours.
        assert_eq!(of(&Variant::ALL).len(), Variant::ALL.len());
    }

    #[test]
    fn the_first_number_of_a_subject_is_its_abscissa() {
        assert_eq!(first_number("message of 64 KiB"), Some(64.0));
        assert_eq!(first_number("copy.comp"), None);
    }
}
