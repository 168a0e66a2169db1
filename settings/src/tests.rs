//! Tests settings from their sources, and their descriptions in generated files.

use crate::choice::{Emulation, Enable, Level, OnAbort};
use crate::form::Form;
use crate::sources::Sources;
use crate::table::{SETTINGS, Settings, find};
use vkabort_instrument::{Arena, Checks, LoopPoll, Trap};

/// The sample.
const FILE: &str = include_str!("../../vk_layer_settings.txt");

fn sources(env: &[(&str, &str)], file: &str, api: &[(&str, &str)]) -> Sources {
    let owned = |pairs: &[(&str, &str)]| pairs.iter().map(|(k, v)| ((*k).into(), (*v).into())).collect();
    Sources::from_parts(owned(env), file, owned(api))
}

#[test]
fn settings_without_a_source_have_their_defaults() {
    let (settings, problems) = Settings::resolve(&sources(&[], "", &[]));
    assert_eq!(settings, Settings::default());
    assert_eq!(problems, Vec::<String>::new());
}

#[test]
fn the_environment_overrides_the_file_and_the_file_overrides_the_application() {
    let file = "vkabort_shader_abort.trap = hang # comment\nvkabort_shader_abort.on_abort=continue\n";
    let api = [("trap", "fault"), ("on_abort", "lose"), ("loop_poll", "all")];
    let (settings, problems) = Settings::resolve(&sources(&[("VK_SHADER_ABORT_TRAP", "return")], file, &api));
    assert_eq!(settings.trap, Trap::Return);
    assert_eq!(settings.on_abort, OnAbort::Continue);
    assert_eq!(settings.loop_poll, LoopPoll::All);
    assert_eq!(problems, Vec::<String>::new());
}

#[test]
fn in_secure_execution_only_the_application_changes_settings_and_no_file_is_written() {
    let secure = |api: &[(&str, &str)]| {
        let pairs = api.iter().map(|(k, v)| ((*k).into(), (*v).into()));
        Settings::resolve(&Sources::of_secure_execution(pairs.collect()))
    };
    let (settings, problems) = secure(&[]);
    assert_eq!((settings.emulation, settings.log_level), (Emulation::Off, Level::Off));
    assert_eq!(problems, Vec::<String>::new());
    let (settings, problems) = secure(&[("emulation", "auto"), ("log_file", "/log"), ("dump_dir", "/dump")]);
    assert_eq!(settings.emulation, Emulation::Auto);
    assert_eq!((settings.log_file, settings.dump_dir), (None, None));
    assert!(
        problems.len() == 1 && problems[0].contains("writes no file"),
        "{problems:?}"
    );
}

#[test]
fn the_longest_environment_name_wins_and_an_empty_one_counts_as_unset() {
    let env = [
        ("VK_VKABORT_SHADER_ABORT_EMULATION", ""),
        ("VK_SHADER_ABORT_EMULATION", "FORCE"),
        ("VK_EMULATION", "off"),
    ];
    let (settings, _) = Settings::resolve(&sources(&env, "", &[]));
    assert_eq!(settings.emulation, Emulation::Force);
}

#[test]
fn an_invalid_value_is_ignored_and_the_valid_ones_are_named() {
    let env = [
        ("VK_TRAP", "explode"),
        ("VK_ARENA_SIZE", "12"),
        ("VK_FILTER", "sometimes"),
    ];
    let (settings, problems) = Settings::resolve(&sources(&env, "", &[("no_such_key", "1")]));
    assert_eq!(settings, Settings::default());
    assert_eq!(problems.len(), 4);
    assert!(problems.iter().any(|p| p.contains("no_such_key")));
    assert!(
        problems
            .iter()
            .any(|p| p.contains("ignore function=check_*") && p.contains("VK_FILTER"))
    );
    assert!(
        problems
            .iter()
            .any(|p| p.contains("return, fault, hang") && p.contains("VK_TRAP"))
    );
    assert!(problems.iter().any(|p| p.contains("65536 to 1073741824")));
}

#[test]
fn the_arena_grows_until_the_largest_message_fits() {
    let env = [("VK_MAX_MESSAGE_SIZE", "2M"), ("VK_ARENA_SIZE", "1024K")];
    let (settings, problems) = Settings::resolve(&sources(&env, "", &[]));
    assert_eq!(settings.arena_size, Arena::minimum_bytes(0x20_0000));
    assert_eq!(problems.len(), 1);
}

#[test]
fn checks_imply_what_a_program_without_aborts_needs() {
    let resolve = |api: &[(&str, &str)]| Settings::resolve(&sources(&[], "", api));
    let (settings, problems) = resolve(&[("sanitize", "default")]);
    assert_eq!(problems, Vec::<String>::new());
    assert_eq!(settings.sanitize, Checks::defaults());
    let implied = |settings: &Settings| (settings.enable, settings.on_abort, settings.emulation);
    assert_eq!(
        implied(&settings),
        (Enable::Always, OnAbort::ContinueChecks, Emulation::Partial)
    );
    let (settings, _) = resolve(&[
        ("sanitize", "loops"),
        ("on_abort", "lose"),
        ("emulation", "auto"),
        ("enable", "auto"),
    ]);
    assert_eq!(implied(&settings), (Enable::Always, OnAbort::Lose, Emulation::Auto));
    let (settings, _) = resolve(&[("sanitize", "off")]);
    assert_eq!(settings, Settings::default());
    let (settings, problems) = resolve(&[("sanitize", "loop")]);
    assert_eq!(settings, Settings::default());
    assert!(
        problems[0].contains("using none. Did you mean `loops`? Valid values: default, all, loops, "),
        "{problems:?}"
    );
    let (settings, _) = resolve(&[("replace_modules", "folder")]);
    assert_eq!(implied(&settings), (Enable::Always, OnAbort::Lose, Emulation::Auto));
}

#[test]
fn the_sample_sets_nothing_and_its_lines_are_the_defaults() {
    assert_eq!(
        Settings::resolve(&sources(&[], FILE, &[])),
        (Settings::default(), vec![])
    );
    let sample = Sources::from_parts(Vec::new(), FILE, Vec::new());
    assert!(SETTINGS.iter().all(|setting| sample.value(setting.key).is_none()));
    let lines = FILE.lines().filter_map(|line| line.strip_prefix("#vkabort"));
    let lines: Vec<String> = lines.map(|line| format!("vkabort{line}")).collect();
    assert_eq!(lines.len(), SETTINGS.len());
    assert_eq!(
        Settings::resolve(&sources(&[], &lines.join("\n"), &[])),
        (Settings::default(), vec![])
    );
}

#[test]
fn every_text_of_a_form_is_valid_and_others_are_refused() {
    for setting in SETTINGS {
        let key = setting.key;
        assert_eq!(setting.check(&setting.default()), Ok(()), "{key}");
        assert_eq!(setting.check(""), Ok(()), "{key}");
        let names = setting.form.names();
        for row in &names {
            assert_eq!(setting.check(row.name), Ok(()), "{key} = {}", row.name);
            assert!(row.description.ends_with('.'), "{key} = {}", row.name);
        }
        if let Form::List(_) = setting.form {
            let all: Vec<&str> = names.iter().map(|row| row.name).collect();
            assert_eq!(setting.check(&all.join(", ")), Ok(()), "{key}");
            assert_eq!(setting.check("off"), Ok(()), "{key}");
        }
        if let Some((min, max)) = setting.form.range() {
            assert!(setting.check(&min.to_string()).is_ok() && setting.check(&max.to_string()).is_ok());
            for value in [i64::from(min) - 1, i64::from(max) + 1] {
                let error = setting.check(&value.to_string()).expect_err("out of range");
                assert!(error.valid.contains(&format!("{min} to {max}")), "{key}: {error:?}");
            }
        }
        if !setting.form.is_path() {
            assert!(setting.check("nonsense").is_err(), "{key}");
        }
    }
}

#[test]
fn a_misspelt_name_has_one_suggestion() {
    assert_eq!(find("arena_sise").err(), Some(Some("arena_size")));
    assert_eq!(find("nothing_like_it").err(), Some(None));
    let setting = find("sanitize").expect("a setting");
    let error = setting.check("loops,brekas").expect_err("not a check");
    assert_eq!(error.nearest, Some("breaks"));
}

#[test]
fn a_word_may_take_the_place_of_a_number() {
    let sites = |text| {
        Settings::resolve(&sources(&[("VK_MAX_SITES", text)], "", &[]))
            .0
            .max_sites
    };
    assert_eq!([sites("all"), sites("0"), sites("12")], [None, Some(0), Some(12)]);
}

#[test]
fn what_a_setting_implies_is_part_of_its_description() {
    let description = |key| find(key).expect("a setting").description();
    assert!(description("sanitize").ends_with(
        " Implies `enable = always` and, unless they are set, `on_abort = continue_checks` and `emulation = partial`."
    ));
    assert!(description("replace_modules").ends_with(" Implies `enable = always`."));
    assert!(!description("trap").contains("Implies"));
}
