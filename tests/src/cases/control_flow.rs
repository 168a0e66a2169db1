//! Aborts in loops, conditions and switches: earlier stores happen, later ones do not.

use super::support::{COUNT, run_to_loss, same_set, same_words};
use crate::case::{Case, Context};
use crate::payload::Payload;
use anyhow::Result;

pub(super) const CASES: &[Case] = &[
    Case::new("control_flow::loop_body", loop_body),
    Case::new("control_flow::for_increment", for_increment),
    Case::new("control_flow::do_while_condition", do_while_condition),
    Case::new("control_flow::while_condition", while_condition),
    Case::new("control_flow::switch", switch),
    Case::new("control_flow::loops_around_callees_with_loops", nested),
];

/// Expected result of one invocation: the words at offsets 0, 64 and 128, and its message.
struct Model {
    own: u32,
    second: u32,
    third: u32,
    message: Option<Payload>,
}

/// Compares a shader with a model of it. Word `i` holds the iteration in which invocation `i` aborts; the values cover
/// every iteration and none.
fn check(context: &Context, shader: &str, model: impl Fn(u32, u32) -> Model) -> Result<()> {
    let words: Vec<u32> = (0..COUNT as u32).map(|i| i % 11).collect();
    let before = [words.clone(), vec![0; 2 * COUNT]].concat();
    let (after, payloads) = run_to_loss(context, shader, &before)?;
    let models: Vec<Model> = words.iter().zip(0..).map(|(&word, i)| model(i, word)).collect();
    let mut expected: Vec<u32> = models.iter().map(|model| model.own).collect();
    expected.extend(models.iter().map(|model| model.second));
    expected.extend(models.iter().map(|model| model.third));
    same_set(
        payloads,
        models
            .into_iter()
            .filter_map(|model| model.message)
            .map(Payload::bytes)
            .collect(),
    )?;
    same_words(&after, &expected)
}

fn message(format: &str, i: u32, k: u32) -> Option<Payload> {
    Some(Payload::text(format).scalar(i).scalar(k))
}

fn loop_body(context: &Context) -> Result<()> {
    check(context, "control_flow/loop_body.comp", |i, word| {
        let aborts = word < 8;
        Model {
            own: if aborts { word } else { word + 1000 },
            second: word.min(8),
            third: 0,
            message: if aborts { message("body %u %u", i, word) } else { None },
        }
    })
}

fn for_increment(context: &Context) -> Result<()> {
    check(context, "control_flow/for_increment.comp", |i, word| {
        let aborts = word < 8;
        Model {
            own: if aborts { word } else { word + 1000 },
            second: if aborts { word + 1 } else { 8 },
            third: 0,
            message: if aborts {
                message("increment %u %u", i, word)
            } else {
                None
            },
        }
    })
}

fn do_while_condition(context: &Context) -> Result<()> {
    check(context, "control_flow/do_while_condition.comp", |i, word| {
        // The condition sees 1 to 8: from after the first iteration to before the regular end of the loop.
        let aborts = (1..=8).contains(&word);
        Model {
            own: if aborts { word } else { word + 1000 },
            second: if aborts { word } else { 8 },
            third: 0,
            message: if aborts {
                message("condition %u %u", i, word)
            } else {
                None
            },
        }
    })
}

fn while_condition(context: &Context) -> Result<()> {
    check(context, "control_flow/while_condition.comp", |i, word| {
        let aborts = word <= 8;
        Model {
            own: if aborts { word } else { word + 1000 },
            second: word.min(8),
            third: 0,
            message: if aborts { message("header %u %u", i, word) } else { None },
        }
    })
}

fn switch(context: &Context) -> Result<()> {
    check(context, "control_flow/switch.comp", |i, word| {
        let mut model = Model {
            own: word,
            second: 0,
            third: 0,
            message: None,
        };
        for k in 0..8 {
            match k & 3 {
                0 => {
                    if word == k {
                        model.message = message("switch %u %u", i, k);
                        return model;
                    }
                    model.second += 11;
                }
                1 => model.second += 10,
                2 => {
                    if word == 2 {
                        model.message = message("case %u %u", i, k);
                        return model;
                    }
                    model.second += 100;
                }
                _ => {
                    if word == k {
                        model.message = message("switch %u %u", i, k);
                        return model;
                    }
                    continue;
                }
            }
            model.third += 1;
        }
        model.own += 1000;
        model
    })
}

fn nested(context: &Context) -> Result<()> {
    check(context, "control_flow/nested.comp", |i, word| {
        let mut model = Model {
            own: word,
            second: 0,
            third: 0,
            message: None,
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
