//! Aborts in loops, conditions and switches: earlier stores happen, later ones do not.

use super::support::{COUNT, run_to_loss, same_set, same_words};
use crate::case::{Case, cases};
use crate::payload::Payload;
use crate::vk::Gpu;
use anyhow::Result;

pub(super) const CASES: &[Case] = cases! {
    "control_flow::loop_body" =>
        check_loop(gpu, "control_flow/loop_body.comp", "body %u %u", |word| word < 8, |word| word);
    "control_flow::for_increment" =>
        check_loop(gpu, "control_flow/for_increment.comp", "increment %u %u", |word| word < 8, |word| word + 1);
    // The condition sees 1 to 8: from after the first iteration to before the regular end of the loop.
    "control_flow::do_while_condition" => check_loop(
        gpu, "control_flow/do_while_condition.comp", "condition %u %u", |word| (1..=8).contains(&word), |word| word
    );
    "control_flow::while_condition" =>
        check_loop(gpu, "control_flow/while_condition.comp", "header %u %u", |word| word <= 8, |word| word);
    "control_flow::switch" => switch(gpu);
    "control_flow::loops_around_callees_with_loops" => nested(gpu);
};

/// Expected result of one invocation: the words at offsets 0, 64 and 128, and its message.
#[derive(Default)]
struct Model {
    own: u32,
    second: u32,
    third: u32,
    message: Option<Payload>,
}

/// Compares a shader with a model of it. Word `i` holds the iteration in which invocation `i` aborts; the values cover
/// every iteration and none.
fn check(gpu: &Gpu, shader: &str, model: impl Fn(u32, u32) -> Model) -> Result<()> {
    let words: Vec<u32> = (0..COUNT as u32).map(|i| i % 11).collect();
    let before = [words.clone(), vec![0; 2 * COUNT]].concat();
    let (after, payloads) = run_to_loss(gpu, shader, &before)?;
    let models: Vec<Model> = words.iter().zip(0..).map(|(&word, i)| model(i, word)).collect();
    let parts: [fn(&Model) -> u32; 3] = [|model| model.own, |model| model.second, |model| model.third];
    let expected: Vec<u32> = parts.iter().flat_map(|part| models.iter().map(part)).collect();
    let messages = models.into_iter().filter_map(|model| model.message);
    same_set(payloads, messages.map(Payload::bytes).collect())?;
    same_words(&after, &expected)
}

fn message(format: &str, i: u32, k: u32) -> Option<Payload> {
    Some(Payload::text(format).scalar(i).scalar(k))
}

/// Checks a loop whose aborting invocations leave `second` and the message `text`; the others add 1000 to their word.
fn check_loop(gpu: &Gpu, shader: &str, text: &str, aborts: fn(u32) -> bool, second: fn(u32) -> u32) -> Result<()> {
    check(gpu, shader, |i, word| Model {
        own: if aborts(word) { word } else { word + 1000 },
        second: if aborts(word) { second(word) } else { 8 },
        message: aborts(word).then(|| message(text, i, word)).flatten(),
        ..Model::default()
    })
}

fn switch(gpu: &Gpu) -> Result<()> {
    check(gpu, "control_flow/switch.comp", |i, word| {
        let mut model = Model {
            own: word,
            ..Model::default()
        };
        for k in 0..8 {
            match k & 3 {
                0 | 3 if word == k => model.message = message("switch %u %u", i, k),
                2 if word == 2 => model.message = message("case %u %u", i, k),
                0 => model.second += 11,
                1 => model.second += 10,
                2 => model.second += 100,
                _ => continue,
            }
            if model.message.is_some() {
                return model;
            }
            model.third += 1;
        }
        model.own += 1000;
        model
    })
}

fn nested(gpu: &Gpu) -> Result<()> {
    check(gpu, "control_flow/nested.comp", |i, word| {
        let mut model = Model {
            own: word,
            ..Model::default()
        };
        for outer in [0, 4] {
            if word == outer || word == outer + 2 {
                model.message = message("nested %u %u", i, word);
                return model;
            }
            model.second += 1;
        }
        model.own += 1004;
        model
    })
}
