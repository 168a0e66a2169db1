//! Tests of source lines and statements in reports.

use super::*;

#[test]
fn a_statement_is_shown_whole_with_the_lines_around_it() {
    assert_eq!(
        text_of(over_three_lines(3)),
        "vkabort: shader aborted: (empty message)
  --> shaders/cull.comp:31:3
   |
30 |       if (i > 6) {
31 | /         abortEXT(\"bad index %u\",
32 | |             i
33 | |         );
   | |__________^
34 |       }
   |
"
    );
}

#[test]
fn a_line_without_a_column_has_no_caret() {
    let text = text_of(over_three_lines(0));
    assert!(text.contains("--> shaders/cull.comp:31\n"), "{text}");
    assert!(text.contains("31 |         abortEXT(\"bad index %u\","), "{text}");
    assert!(!text.contains('^') && !text.contains("30 |"), "{text}");
}

#[test]
fn help_is_given_only_where_the_source_is_missing() {
    assert!(!text_of(over_three_lines(3)).contains("help"));
    let file_only = SiteReport {
        snippet: None,
        location: Some(location(31, 9, None)),
        ..over_three_lines(0)
    };
    let text = text_of(file_only.clone());
    assert!(
        text.contains("\n--> shaders/cull.comp:31:9\n = help: compile with -gVS"),
        "{text}"
    );
    // A site that is not known cannot have been compiled differently.
    let unknown = SiteReport {
        word_offset: None,
        location: None,
        ..file_only
    };
    assert!(!text_of(unknown).contains("help"));
}

/// The renderer panics on ranges outside its text: none may reach it, whatever a module or a file of reports contains.
#[test]
fn wrong_positions_are_not_marked() {
    let values = [0, 1, 2, 29, 30, 31, 34, 35, u32::MAX];
    for (line, column) in values.iter().flat_map(|line| values.map(|column| (*line, column))) {
        let mut site = over_three_lines(column);
        site.location = Some(location(line, column, Some("x")));
        text_of(site.clone());
        for end in values {
            site.snippet = Some(Snippet {
                first_line: 30,
                lines: vec![String::new(), "\u{1f980}\u{301}\r\n\u{1b}".into(), "  ".into()],
                statement: Some(Span {
                    start: [line, column],
                    end: [end, line],
                }),
            });
            text_of(site.clone());
        }
        site.snippet = Some(Snippet {
            first_line: u32::MAX,
            lines: vec![],
            statement: None,
        });
        text_of(site.clone());
        site.snippet = None;
        text_of(site);
    }
}

#[test]
fn long_source_lines_are_cut_to_the_width_of_the_terminal() {
    let call = "abortEXT(\"bad index %u\", i);";
    let line = format!(
        "    if (i > 6 && {}) {call}",
        "some_condition(i) && ".repeat(6) + "true"
    );
    let column = line.find(call).expect("the call") as u32 + 1;
    let site = SiteReport {
        location: Some(location(31, column, Some(&line))),
        word_offset: Some(5),
        ..SiteReport::default()
    };
    let report = Report {
        sites: vec![site],
        ..Report::default()
    };
    for columns in [0, 40, 60, 100, 140, 1000] {
        let text = report.styled(false, columns);
        let source = text.lines().find(|line| line.starts_with("31 |")).expect("the line");
        assert!(source.chars().count() <= columns.max(40), "{columns}: {source}");
        assert!(source.contains("abortEXT("), "{columns}: {source}");
        assert_eq!(source.contains("    if (i > 6"), columns == 1000, "{columns}: {source}");
    }
}
