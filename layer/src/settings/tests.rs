use super::*;

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
        (Enable::Always, OnAbort::Continue, Emulation::Partial)
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
        problems[0].contains("using no check: `loop` is not a check") && problems[0].contains("loops"),
        "{problems:?}"
    );
    let (settings, _) = resolve(&[("replace_modules", "folder")]);
    assert_eq!(implied(&settings), (Enable::Always, OnAbort::Lose, Emulation::Auto));
}
