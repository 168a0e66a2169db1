//! The command line.

use clap::Parser;
use std::path::PathBuf;
use std::str::FromStr;

/// A lit, textured, spinning cube whose shaders abort on request. It shows the message of an abort as text and carries on
/// with a new device.
///
/// Keys: a click aborts in the fragment shader at that pixel, V in the vertex shader on a corrupt vertex, C in a compute
/// shader that would never end; Escape ends the program.
#[derive(Debug, Parser)]
#[command(name = "vkabort-cube", version)]
pub struct Options {
    /// End after this number of frames
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub frames: Option<u64>,
    /// Write the last frame to this PNG file
    #[arg(long, value_name = "FILE", requires = "frames")]
    pub screenshot: Option<PathBuf>,
    /// Draw without a window
    #[arg(long, requires = "frames")]
    pub headless: bool,
    /// Size of the window or of the frames without one, in pixels
    #[arg(long, value_name = "WIDTH,HEIGHT", default_value = "960,720")]
    pub size: Pair<u32>,
    /// Abort in the fragment shader at this pixel
    #[arg(long, value_name = "X,Y", group = "abort", allow_hyphen_values = true)]
    pub abort_pixel: Option<Pair<i32>>,
    /// Abort in the vertex shader, on a corrupt vertex
    #[arg(long, group = "abort")]
    pub abort_vertex: bool,
    /// Abort in the compute shader, in a loop that would never end
    #[arg(long, group = "abort")]
    pub abort_compute: bool,
    /// Use no extension and shaders without aborts, for `vkabort run --sanitize`: of the aborts, only the loop that would never
    /// end is left
    #[arg(long, conflicts_with_all = ["abort_pixel", "abort_vertex"])]
    pub plain: bool,
    /// Number of the frame that aborts; the first is 0
    #[arg(long, value_name = "N", default_value_t = 30, requires = "abort")]
    pub abort_frame: u64,
}

impl Options {
    /// The abort that the command line requests.
    pub fn abort(&self) -> Option<Abort> {
        match self.abort_pixel {
            Some(Pair(pixel)) => Some(Abort::Fragment(pixel)),
            None if self.abort_vertex => Some(Abort::Vertex),
            None if self.abort_compute => Some(Abort::Compute),
            None => None,
        }
    }
}

/// A request for a shader to abort.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Abort {
    /// The fragment shader at this pixel, counted from the upper left corner.
    Fragment([i32; 2]),
    /// The vertex shader, on a corrupt vertex.
    Vertex,
    /// The compute shader, in a loop that would never end.
    Compute,
}

/// Two numbers separated by a comma.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair<T>(pub [T; 2]);

impl<T: FromStr> FromStr for Pair<T> {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parsed = text
            .split_once(',')
            .and_then(|(first, second)| Some([first.trim().parse().ok()?, second.trim().parse().ok()?]));
        parsed.map(Self).ok_or("expected two integers separated by a comma")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(words: &[&str]) -> Result<Options, String> {
        let words = [&["vkabort-cube"], words].concat();
        Options::try_parse_from(words).map_err(|error| error.to_string())
    }

    #[test]
    fn one_abort_can_be_requested() -> Result<(), String> {
        assert_eq!(parse(&[])?.abort(), None);
        assert_eq!(parse(&["--abort-vertex"])?.abort(), Some(Abort::Vertex));
        let options = parse(&["--abort-pixel", "-3,4", "--abort-frame", "5"])?;
        assert_eq!(options.abort(), Some(Abort::Fragment([-3, 4])));
        assert_eq!(options.abort_frame, 5);
        assert!(parse(&["--abort-vertex", "--abort-compute"]).is_err());
        assert!(parse(&["--plain", "--abort-compute"]).is_ok() && parse(&["--plain", "--abort-vertex"]).is_err());
        Ok(())
    }

    #[test]
    fn invalid_options_are_refused() {
        for words in [
            &["--abort-pixel", "4"][..],
            &["--size", "-1,5"],
            &["--headless"],
            &["--screenshot", "a.png"],
            &["--abort-frame", "5"],
            &["--frames", "0"],
        ] {
            assert!(parse(words).is_err(), "{words:?}");
        }
    }
}
