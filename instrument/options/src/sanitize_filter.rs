//! [Rules](vkabort_record::rules) that select where the sanitizer plants checks.
//!
//! ```text
//! report entry=cull; ignore function=*
//! ```

use std::str::FromStr;
use vkabort_record::rules::{Rules, Subject, file_texts};
use vkabort_record::site::ModuleHash;

/// Rules that select where the sanitizer plants checks.
///
/// Names of Vulkan objects are given after their modules are rewritten, so they cannot select.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SanitizeFilter(Rules<PlaceSubject>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PlaceSubject {
    Entry,
    File,
    Function,
    Module,
}

impl Subject for PlaceSubject {
    const NAMES: &'static [(&'static str, Self)] = &[
        ("entry", Self::Entry),
        ("file", Self::File),
        ("function", Self::Function),
        ("module", Self::Module),
    ];
}

/// A place in a module where a check could be planted.
#[derive(Clone, Copy, Debug)]
pub struct PlantingPlace<'a> {
    /// The debug name of the function, as in [`vkabort_record::site::Site::function`].
    pub function: &'a str,
    /// The source file and line, if they are known.
    pub location: Option<(&'a str, u32)>,
    /// Names of the entry points that can reach it.
    pub entry_points: &'a [&'a str],
    /// Hashes of the module: as a pipeline specialises it, and as the application created it. Reports may name either.
    pub modules: [ModuleHash; 2],
}

impl FromStr for SanitizeFilter {
    type Err = String;

    /// # Errors
    ///
    /// The first invalid rule, with an example of a valid one.
    fn from_str(text: &str) -> Result<Self, String> {
        text.parse().map(Self)
    }
}

impl SanitizeFilter {
    /// Whether checks are planted there.
    pub fn selects(&self, place: &PlantingPlace<'_>) -> bool {
        self.0.reports(|subject| match subject {
            PlaceSubject::Entry => place.entry_points.iter().map(|name| (*name).to_owned()).collect(),
            PlaceSubject::File => place
                .location
                .map_or_else(Vec::new, |(file, line)| file_texts(file, line)),
            PlaceSubject::Function => vec![place.function.to_owned()],
            PlaceSubject::Module => place.modules.iter().map(ToString::to_string).collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checks_are_planted_where_the_first_matching_rule_selects() {
        let place = PlantingPlace {
            function: "walk",
            location: Some(("shaders/bvh.comp", 31)),
            entry_points: &["main", "trace"],
            modules: [0xab, 0xcd].map(ModuleHash),
        };
        let selects = |rules: &str| {
            let filter: SanitizeFilter = rules.parse().expect("rules");
            filter.selects(&place)
        };
        assert!(selects(""));
        assert!(!selects("ignore function=w*"));
        assert!(selects("report entry=trace; ignore function=*"));
        assert!(!selects("report entry=other; ignore file=bvh.comp:31"));
        assert!(selects("ignore file=bvh.comp:32"));
        assert!(!selects("ignore module=00000000000000ab"));
        assert!(!selects("ignore module=00000000000000cd"));
        let error = "ignore pipeline=x"
            .parse::<SanitizeFilter>()
            .expect_err("not a subject");
        assert!(error.contains("one of entry, file, function, module"), "{error}");
        let nowhere = PlantingPlace {
            location: None,
            ..place
        };
        let filter: SanitizeFilter = "ignore file=*".parse().expect("rules");
        assert!(filter.selects(&nowhere));
    }
}
