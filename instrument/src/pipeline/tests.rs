//! A pass that plants aborts takes one function and one row, and its sites name the instructions that it guards.

use super::facts::PassResult;
use super::state::{Module, Pass, State};
use super::{PASSES, rewrite_with};
use crate::outcome::{Hooks, Outcome};
use vkabort_checks::Planting;
use vkabort_options::Options;
use vkabort_spirv::edit::Edits;
use vkabort_spirv::edit::emitter::Emitter;
use vkabort_spirv::edit::phi::PhiRenames;
use vkabort_spirv::error::Result;
use vkabort_spirv::lowered::{Feature, scan};
use vkabort_spirv::op::{capability, execution_mode, execution_model, storage_class};
use vkabort_spirv::words::{HEADER_WORDS, Insts};
use vkabort_spirv::{Code, Id, Inst, Literal, Words, op};

const PLANT: Pass = Pass::new("plant", |s| s.lowers(Feature::Abort), plant_at_stores);

/// Plants an abort with the message 7 in front of every store.
fn plant_at_stores(_: &State<'_>, module: &Module<'_>, _: &mut Hooks<'_>) -> Result<PassResult> {
    let index = &module.index;
    let mut edits = Edits::default();
    let mut out = Emitter::new(index);
    for (_, function) in index.functions.iter() {
        let mut renames = PhiRenames::default();
        for block in index.blocks_of(function) {
            let mut last = block.label;
            let stores = index.insts(block.offset, block.terminator);
            for store in stores.filter(|inst| inst.opcode() == op::Store) {
                let (uint, bool, message) = (out.uint(), out.bool(), out.constant(7));
                let always = out.value(op::ConstantTrue, bool, ());
                let [abort, go] = [(); 2].map(|()| out.fresh());
                let position = index.position(block, store.offset);
                out.branch_if(always, abort, go, go);
                out.label(abort);
                out.write_position(&position);
                out.code.mark_origin(&store);
                out.op(op::AbortKHR, (uint, message));
                out.label(go);
                out.write_position(&position);
                out.place(|code| edits.insert(store.offset, code));
                last = go;
            }
            renames.moved(&index.successors(block), block.label, last);
        }
        renames.apply(index, function, &mut edits);
    }
    out.finish(index, &mut edits);
    Ok((edits, None))
}

const VOID: Id = Id::new(1);
const PROCEDURE: Id = Id::new(2);
const UINT: Id = Id::new(3);
const BOOL: Id = Id::new(4);
const TRUE: Id = Id::new(5);
const ZERO: Id = Id::new(6);
const POINTER: Id = Id::new(7);
const VARIABLE: Id = Id::new(8);
const MAIN: Id = Id::new(9);
const FILE: Id = Id::new(10);
const ENTRY: Id = Id::new(11);
const HEADER: Id = Id::new(12);
const BODY: Id = Id::new(13);
const CONTINUE: Id = Id::new(14);
const MERGE: Id = Id::new(15);
const BOUND: u32 = 16;

/// A compute shader with stores before a loop at line 7, in its continue construct at line 9, and behind it at line 11.
fn module() -> Vec<u32> {
    let mut code = Code::default();
    code.words.extend([0x0723_0203, 0x10500, 0, BOUND, 0]);
    code.op(op::Capability, Literal(1));
    code.op(op::Capability, Literal(capability::AbortKHR));
    code.op(op::Extension, "SPV_KHR_abort");
    code.op(op::MemoryModel, Words(&[0, 1]));
    code.op(
        op::EntryPoint,
        (Literal(execution_model::GLCompute), MAIN, "main", VARIABLE),
    );
    let local_size = Literal(execution_mode::LocalSize);
    code.op(op::ExecutionMode, (MAIN, local_size, Words(&[1, 1, 1])));
    code.op(op::String, (FILE, "toy.comp"));
    code.op(op::TypeVoid, VOID);
    code.op(op::TypeFunction, (PROCEDURE, VOID));
    code.op(op::TypeInt, (UINT, Literal(32), Literal(0)));
    code.op(op::TypeBool, BOOL);
    code.op(op::ConstantTrue, (BOOL, TRUE));
    code.op(op::Constant, (UINT, ZERO, Literal(0)));
    let class = Literal(storage_class::Private);
    code.op(op::TypePointer, (POINTER, class, UINT));
    code.op(op::Variable, (POINTER, VARIABLE, class));
    let store = |code: &mut Code, line: u32| {
        code.op(op::Line, (FILE, Literal(line), Literal(3)));
        code.op(op::Store, (VARIABLE, ZERO));
    };
    code.op(op::Function, (VOID, MAIN, Literal(0), PROCEDURE));
    code.label(ENTRY);
    store(&mut code, 7);
    code.branch(HEADER);
    code.label(HEADER);
    code.op(op::LoopMerge, (MERGE, CONTINUE, Literal(0)));
    code.branch(BODY);
    code.label(BODY);
    code.op(op::BranchConditional, (TRUE, CONTINUE, MERGE));
    code.label(CONTINUE);
    store(&mut code, 9);
    code.op(op::BranchConditional, (TRUE, HEADER, MERGE));
    code.label(MERGE);
    store(&mut code, 11);
    code.op(op::Return, ());
    code.op(op::FunctionEnd, ());
    code.words
}

fn insts(words: &[u32], opcode: u16) -> impl Iterator<Item = Inst<'_>> {
    Insts::new(words, HEADER_WORDS).filter(move |inst| inst.opcode() == opcode)
}

#[test]
fn a_planting_pass_is_one_row_and_its_sites_name_what_it_guards() {
    let words = module();
    let mut names = Vec::new();
    let mut after_pass = |name: &'static str, _: &[u32]| names.push(name);
    let mut hooks = Hooks {
        after_pass: Some(&mut after_pass),
        place: None,
        ..Hooks::default()
    };
    let passes = [&[PLANT][..], &PASSES].concat();
    let outcome =
        rewrite_with(&passes, &words, &Options::default(), Planting::Nothing, &mut hooks).expect("a valid module");
    let Outcome::Instrumented(new) = outcome else {
        panic!("the module declares AbortKHR");
    };
    // The abort in the continue construct has moved into a function.
    assert_eq!(names, ["plant", "outline", "abort"]);
    let sites = &new.sites.sites;
    let offsets: Vec<u32> = sites.iter().map(|site| site.word_offset).collect();
    let stores: Vec<u32> = insts(&words, op::Store).map(|store| store.offset as u32).collect();
    assert_eq!(offsets, stores);
    let locations = sites.iter().filter_map(|site| site.location.as_ref());
    let lines: Vec<_> = locations.map(|at| (at.file.as_str(), at.line)).collect();
    assert_eq!(lines, [("toy.comp", 7), ("toy.comp", 9), ("toy.comp", 11)]);

    // Each abort stores the key of its own site: the function that was outlined is the last of the application's.
    assert!(scan(&new.words).is_empty());
    rspirv::dr::load_words(&new.words).expect("rspirv reads the output");
    let key_of = |store: Inst<'_>| {
        let value = insts(&new.words, op::Constant).find(|constant| constant.result() == store.stored_value())?;
        let site = value.word(3).checked_sub(4 << 14)?;
        (site < 3).then_some(site)
    };
    let stored: Vec<u32> = insts(&new.words, op::Store).filter_map(key_of).collect();
    assert_eq!(stored, [0, 2, 1]);
}
