//! Tests of [`super`].

use super::*;

const KEYS: [&str; 3] = ["trap", "log_file", "on_abort"];

fn of(environment: &[(&str, &str)]) -> Sources {
    let pairs = environment.iter().map(|(name, value)| (name.into(), value.into()));
    Sources::of_process(pairs, Vec::new(), Vec::new())
}

#[test]
fn a_settings_file_is_parsed_like_by_the_khronos_library() {
    let text = "# all of it\nkhronos_validation.trap = hang\n vkabort_shader_abort.log_file = /a b/c=d # x\n\n\
                vkabort_shader_abort.trap fault\n";
    let sources = Sources::from_parts(Vec::new(), text, Vec::new());
    let value = sources.value("log_file").expect("a value");
    assert_eq!(
        (value.text.as_str(), value.origin.as_str()),
        ("/a b/c=d", "vk_layer_settings.txt, line 3")
    );
    assert_eq!(sources.value("trap"), None);
    assert_eq!(
        sources.problems(&KEYS),
        ["vk_layer_settings.txt, line 5: `vkabort_shader_abort.trap` has no value: write `key = value`"]
    );
}

#[test]
fn each_name_without_effect_is_reported_once_with_the_nearest_one() {
    let file = "vkabort_shader_abort.tarp = hang\nvkabort_shader_abort.tarp = fault\ntrap = hang\n";
    let environment = vec![("VK_VKABORT_SHADER_ABORT_TARP".to_owned(), "hang".to_owned())];
    let application = vec![("on_abrot".to_owned(), "lose".to_owned())];
    let problems = Sources::from_parts(environment, file, application).problems(&KEYS);
    assert_eq!(
        problems,
        [
            "`VK_VKABORT_SHADER_ABORT_TARP` is not a variable of this layer and has no effect. Did you mean \
             `VK_VKABORT_SHADER_ABORT_TRAP`?",
            "vk_layer_settings.txt, line 1: `tarp` is not a setting of this layer and has no effect. Did you mean `trap`?",
            "vk_layer_settings.txt, line 3: `trap` is not a setting of this layer and has no effect. Did you mean \
             `vkabort_shader_abort.trap`?",
            "VK_EXT_layer_settings: `on_abrot` is not a setting of this layer and has no effect. Did you mean `on_abort`?",
        ]
    );
}

#[test]
fn a_settings_path_without_a_file_is_reported() {
    let missing = of(&[(FILE_VARIABLE, "/no/such/file.txt")]);
    let text = "VK_LAYER_SETTINGS_PATH = /no/such/file.txt: there is no file /no/such/file.txt";
    assert_eq!(missing.problems(&KEYS), [text]);
    let folder = std::env::temp_dir().join(format!("vkabort-sources-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let name = folder.to_string_lossy().into_owned();
    assert!(of(&[(FILE_VARIABLE, &name)]).problems(&KEYS)[0].ends_with("vk_layer_settings.txt"));
    std::fs::write(folder.join(FILE_NAME), b"vkabort_shader_abort.trap = hang \xff\n").expect("a file");
    let found = of(&[(FILE_VARIABLE, &name)]);
    assert_eq!(found.problems(&KEYS), Vec::<String>::new());
    assert_eq!(found.file(), Some(folder.join(FILE_NAME).as_path()));
    let value = found.value("trap").expect("a value");
    assert!(
        value.origin.ends_with("vk_layer_settings.txt, line 1"),
        "{}",
        value.origin
    );
    let registered = folder.join("registered.txt");
    std::fs::write(&registered, "vkabort_shader_abort.trap = fault\n").expect("a file");
    let files = vec![folder.join("missing.txt"), registered.clone()];
    let found = Sources::of_process([(FILE_VARIABLE.into(), name.into())], files, Vec::new());
    assert_eq!(
        found.file(),
        Some(registered.as_path()),
        "the registry precedes the variable"
    );
    let _ = std::fs::remove_dir_all(&folder);
}

#[test]
fn secure_execution_reads_the_application_only() {
    let sources = Sources::of_secure_execution(vec![("trap".into(), "hang".into())]);
    assert!(sources.only_application && sources.file().is_none());
    assert_eq!(
        sources.value("trap").map(|value| value.origin).as_deref(),
        Some("VK_EXT_layer_settings")
    );
    assert_eq!(sources.problems(&KEYS), Vec::<String>::new());
}
