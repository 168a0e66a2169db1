use super::*;

#[test]
fn parses_words_one_by_one() {
    let text = "kind=cpu, native=abort+data,lose=execute:3,hang=2:500,refuse=memory:*,refuse=map:2:host,memory=bar+amd,ext_fault,delay=wait";
    let settings = Settings::parse(text).expect("valid words");
    assert!(
        settings.cpu && settings.native_abort && settings.native_data && !settings.native_fault && settings.ext_fault
    );
    assert_eq!(settings.lose_execute, Nth::At(3));
    assert_eq!(
        (settings.hang, settings.hang_for),
        (Nth::At(2), Some(Duration::from_millis(500)))
    );
    let refused = [
        (Refused::Memory, Nth::Every, vk::Result::ERROR_OUT_OF_DEVICE_MEMORY),
        (Refused::Map, Nth::At(2), vk::Result::ERROR_OUT_OF_HOST_MEMORY),
    ];
    assert_eq!(settings.refuse, refused);
    assert_eq!(settings.memory, ["bar", "amd"]);
    assert!(settings.delay_until_wait && settings.delay.is_zero());
}

#[test]
fn an_unknown_word_is_named() {
    for text in [
        "hnag=1",
        "lose=later:1",
        "native=all",
        "hang=0",
        "ext_fault=1",
        "memory=fast",
    ] {
        assert_eq!(Settings::parse(&format!("kind=gpu,{text}")), Err(text.to_owned()));
    }
    let documented = Settings::parse("kind=gpu,devices=1,api=1.3,memory=vram+host+cached,messages=1");
    assert!(documented.is_ok());
    assert_eq!(Settings::parse(""), documented);
}
