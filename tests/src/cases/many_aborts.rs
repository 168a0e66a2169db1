//! Many aborts in a row. Mesa nests early returns, and its compiler for CPUs ignores conditions at more than 80 levels.

use super::sanitize::SANITIZE;
use super::support::{run, same_set, same_words, without_abort};
use crate::case::{Case, cases};
use crate::glsl_debug::{Form, compile_text};
use crate::payload::Payload;
use crate::vk::{Device, Gpu};
use Place::{Callee, EntryPoint};
use anyhow::{Context as _, Result};
use std::iter::repeat_n;

pub(super) const CASES: &[Case] = cases! {
    "many_aborts::one_that_does_not_fire" => none(device, EntryPoint, 1), silent();
    "many_aborts::none_of_79_fires" => none(device, EntryPoint, 79), silent();
    "many_aborts::none_of_80_fires" => none(device, EntryPoint, 80), silent();
    "many_aborts::none_of_200_fires" => none(device, EntryPoint, 200), silent();
    "many_aborts::none_of_400_fires" => none(device, EntryPoint, 400), silent();
    "many_aborts::none_of_80_in_a_callee_fires" => none(device, Callee, 80), silent();
    "many_aborts::none_of_200_in_a_callee_fires" => none(device, Callee, 200), silent();
    "many_aborts::the_first_of_200_fires" => one(device, EntryPoint, 200, 0), logs(&["shader aborted: abort 0 at 3", "--> many.comp:6"]);
    "many_aborts::the_80th_of_200_fires" => one(device, EntryPoint, 200, 79), logs(&["shader aborted: abort 79 at 3", "--> many.comp:85"]);
    "many_aborts::the_last_of_200_fires" => one(device, EntryPoint, 200, 199), logs(&["shader aborted: abort 199 at 3", "--> many.comp:205"]);
    "many_aborts::the_first_of_200_in_a_callee_fires" => one(device, Callee, 200, 0), logs(&["shader aborted: abort 0 at 3", "--> many.comp:6"]);
    "many_aborts::the_80th_of_200_in_a_callee_fires" => one(device, Callee, 200, 79), logs(&["shader aborted: abort 79 at 3", "--> many.comp:85"]);
    "many_aborts::the_last_of_200_in_a_callee_fires" => one(device, Callee, 200, 199), logs(&["shader aborted: abort 199 at 3", "--> many.comp:205"]);
    "many_aborts::the_last_of_400_fires" => one(device, EntryPoint, 400, 399), logs(&["shader aborted: abort 399 at 3", "--> many.comp:405"]);
    "many_aborts::none_of_80_checks_fails" => checks(gpu, 80, 3), set(SANITIZE), silent();
    "many_aborts::none_of_200_checks_fails" => checks(gpu, 200, 3), set(SANITIZE), silent();
    "many_aborts::none_of_400_checks_fails" => checks(gpu, 400, 3), set(SANITIZE), silent();
    "many_aborts::the_80th_of_200_checks_fails" => checks(gpu, 200, LIMIT + 79), set(SANITIZE), logs(&["is 1000 / 0"]);
};

/// Function with the aborts.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    EntryPoint,
    Callee,
}

/// Number of invocations, and of the words that they change.
const COUNT: usize = 64;
/// A word that only one abort compares equal, with its number added.
const LIMIT: u32 = 5000;

/// The bytes of each message.
type Messages = Vec<Vec<u8>>;

/// Runs `count` aborts in a row in each invocation, with `word` for the third. Returns the words that the invocations change.
fn run_many(device: &Device<'_>, place: Place, count: u32, word: u32) -> Result<(Vec<u32>, Option<Messages>)> {
    // On one line, so that the aborts have the same lines in both places.
    let [start, end] = match place {
        EntryPoint => [
            "void main() { uint id = gl_GlobalInvocationID.x, word = words[id], sum = 0u;",
            "words[id] = sum; }",
        ],
        Callee => [
            "uint callee(uint id, uint word) { uint sum = 0u;",
            "return sum; }\nvoid main() { uint id = gl_GlobalInvocationID.x; words[id] = callee(id, words[id]); }",
        ],
    };
    let mut text = format!(
        "#version 460\n#extension GL_EXT_abort : require\nlayout(local_size_x = 32) in;\n\
         layout(std430, set = 0, binding = 0) buffer Words {{ uint words[]; }};\n{start}\n"
    );
    for k in 0..count {
        let limit = COUNT as u32 + k % 32;
        text += &format!(
            "if (word == words[{limit}u] + {k}u) abortEXT(\"abort {k} at %u\", id); sum += word; words[128u + id] = sum;\n"
        );
    }
    let spirv = compile_text("many.comp", &(text + end), Form::Lines)?;
    let mut words: Vec<u32> = (0..COUNT as u32).collect();
    *words.get_mut(3).context("no word 3")? = word;
    words.extend(repeat_n(LIMIT, COUNT).chain(repeat_n(0, COUNT)));
    let ran = run(device, &spirv, &words)?;
    if word < LIMIT {
        return Ok((ran.succeeded()?, None));
    }
    let (words, payloads) = ran.lost()?;
    Ok((words, Some(payloads)))
}

fn none(device: &Device<'_>, place: Place, count: u32) -> Result<()> {
    let (words, _) = run_many(device, place, count, 3)?;
    let expected: Vec<u32> = (0..COUNT as u32).map(|i| i * count).collect();
    same_words(&words[..COUNT], &expected)?;
    same_words(&words[2 * COUNT..], &expected)
}

/// Abort `k` of `count` fires in invocation 3.
fn one(device: &Device<'_>, place: Place, count: u32, k: u32) -> Result<()> {
    let (words, payloads) = run_many(device, place, count, LIMIT + k)?;
    let message = Payload::text(&format!("abort {k} at %u")).scalar(3_u32).bytes();
    same_set(payloads.unwrap_or_default(), vec![message])?;
    let mut expected: Vec<u32> = (0..COUNT as u32).map(|i| i * count).collect();
    expected[3] = LIMIT + k;
    same_words(&words[..COUNT], &expected)?;
    expected[3] = (LIMIT + k) * k;
    same_words(&words[2 * COUNT..], &expected)
}

/// Runs `count` divisions in a row in each invocation, with `word` for the third: of which division `word - LIMIT` is one by zero.
fn checks(gpu: &Gpu, count: u32, word: u32) -> Result<()> {
    let divisions = (0..count).map(|k| format!("sum += 1000u / (words[{}u] + {k}u - word);\n", COUNT as u32 + k % 32));
    let text = format!(
        "#version 460\nlayout(local_size_x = 32) in;\n\
         layout(std430, set = 0, binding = 0) buffer Words {{ uint words[]; }};\n\
         void main() {{ uint id = gl_GlobalInvocationID.x, word = words[id], sum = 0u;\n{}words[id] = sum; }}",
        divisions.collect::<String>()
    );
    let mut words: Vec<u32> = (0..COUNT as u32).collect();
    *words.get_mut(3).context("no word 3")? = word;
    words.extend(repeat_n(LIMIT, COUNT));
    let sum = |word: u32| {
        (0..count).try_fold(0_u32, |sum, k| {
            1000_u32
                .checked_div((LIMIT + k).wrapping_sub(word))
                .map(|part| sum + part)
        })
    };
    // An invocation whose check fails does not store.
    let expected: Vec<u32> = words[..COUNT].iter().map(|word| sum(*word).unwrap_or(*word)).collect();
    let after = run(
        &without_abort(gpu)?,
        &compile_text("checks.comp", &text, Form::Lines)?,
        &words,
    )?
    .succeeded()?;
    same_words(&after[..COUNT], &expected)
}
