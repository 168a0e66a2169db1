//! Plots of measurements as SVG.

use anyhow::{Result, anyhow};
use plotters::prelude::*;
use std::collections::BTreeMap;
use std::path::Path;
use vkabort_tests::measure::measurement::Measurement;

/// A plot with logarithmic axes.
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

type Curve = Vec<(f64, f64)>;

impl Plot<'_> {
    /// The curves by driver and variant.
    fn curves(&self, all: &[Measurement]) -> BTreeMap<String, Curve> {
        let mut curves: BTreeMap<String, Curve> = BTreeMap::new();
        for one in all.iter().filter(|one| one.metric == self.metric) {
            if let (Some(x), Some(y)) = (first_number(&one.subject), one.value)
                // The axes are logarithmic.
                && x > 0.0
                && y > 0.0
            {
                let name = format!("{}, {}", one.driver, one.variant);
                curves.entry(name).or_default().push((x, y));
            }
        }
        curves
            .values_mut()
            .for_each(|curve| curve.sort_by(|one, other| one.0.total_cmp(&other.0)));
        curves
    }

    /// Draws the plot; nothing if there are no values.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub fn draw(&self, all: &[Measurement], path: &Path) -> Result<()> {
        let curves = self.curves(all);
        let points = || curves.values().flatten();
        let range = |value: fn(&(f64, f64)) -> f64| {
            let low = points().map(value).fold(f64::INFINITY, f64::min);
            let high = points().map(value).fold(0.0, f64::max);
            low / 1.2..high * 1.2
        };
        if curves.is_empty() {
            return Ok(());
        }
        let root = SVGBackend::new(path, (900, 560)).into_drawing_area();
        let failed = |error: &dyn std::fmt::Display| anyhow!("cannot draw {}: {error}", path.display());
        root.fill(&WHITE).map_err(|error| failed(&error))?;
        let mut chart = ChartBuilder::on(&root)
            .caption(self.title, ("sans-serif", 20))
            .margin(12)
            .x_label_area_size(44)
            .y_label_area_size(76)
            .build_cartesian_2d(range(|point| point.0).log_scale(), range(|point| point.1).log_scale())
            .map_err(|error| failed(&error))?;
        chart
            .configure_mesh()
            .x_desc(self.x)
            .y_desc(self.y)
            .draw()
            .map_err(|error| failed(&error))?;
        for (index, (name, curve)) in curves.iter().enumerate() {
            let color = Palette99::pick(index).stroke_width(2);
            chart
                .draw_series(LineSeries::new(curve.iter().copied(), color).point_size(3))
                .map_err(|error| failed(&error))?
                .label(name)
                .legend(move |(x, y)| PathElement::new([(x, y), (x + 18, y)], color));
        }
        chart
            .configure_series_labels()
            .position(SeriesLabelPosition::UpperLeft)
            .background_style(WHITE.mix(0.8))
            .border_style(BLACK)
            .draw()
            .map_err(|error| failed(&error))?;
        root.present().map_err(|error| failed(&error))
    }
}

/// The first number in a text.
fn first_number(text: &str) -> Option<f64> {
    let start = text.find(|character: char| character.is_ascii_digit())?;
    let rest = text.get(start..)?;
    let digits = rest.split(|character: char| !character.is_ascii_digit()).next()?;
    digits.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_number_of_a_subject_is_its_abscissa() {
        assert_eq!(first_number("message of 64 KiB"), Some(64.0));
        assert_eq!(first_number("copy.comp"), None);
    }
}
