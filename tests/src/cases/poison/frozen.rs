//! A frozen value is the same at every use.

use super::support::run;
use super::text::{Body, Words, shader};
use crate::case::Context;
use crate::vk::{Device, Gpu};
use anyhow::{Result, ensure};

/// Freezes poison, an undefined value, a poisonous quotient and a normal one, and uses the results repeatedly: in other
/// blocks, in composites, in a callee and in a phi.
pub(super) fn frozen(context: &Context) -> Result<()> {
    let types = r"
    %one = OpConstant %uint 1
    %vec4 = OpTypeVector %uint 4
    %pair = OpTypeStruct %vec4 %bool
    %takes = OpTypeFunction %uint %uint
    %undefined = OpUndef %uint
    ";
    let code = r"
    %poison = OpPoisonKHR %uint
    %poisons = OpPoisonKHR %vec4
    %both = OpPoisonKHR %pair
    %f0 = OpFreezeKHR %uint %poison
    %f1 = OpFreezeKHR %uint %undefined
    %quotient = OpUDiv %uint %i %zero
    %f2 = OpFreezeKHR %uint %quotient
    %sum = OpIAdd %uint %poison %i
    %f3 = OpFreezeKHR %uint %sum
    %fine = OpUDiv %uint %i %one
    %f4 = OpFreezeKHR %uint %fine
    %fv = OpFreezeKHR %vec4 %poisons
    %f5 = OpCompositeExtract %uint %fv 2
    %fp = OpFreezeKHR %pair %both
    %f6 = OpCompositeExtract %uint %fp 0 3
    %fb = OpCompositeExtract %bool %fp 1
    %f7 = OpSelect %uint %fb %one %zero
    %odd = OpBitwiseAnd %uint %i %one
    %is_odd = OpIEqual %bool %odd %one
    OpSelectionMerge %merge None
    OpBranchConditional %is_odd %left %right
    %left = OpLabel
    %called = OpFunctionCall %uint %callee %f0
    OpBranch %merge
    %right = OpLabel
    OpBranch %merge
    %merge = OpLabel
    %phi = OpPhi %uint %called %left %f0 %right
    %again = OpSelect %uint %fb %one %zero
    %twice = OpCompositeExtract %uint %fp 0 3
    ";
    let mut words = Words {
        code: code.to_owned(),
        types: types.to_owned(),
        names: 0,
    };
    let pairs = [
        ("%f0", "%phi"),
        ("%f1", "%f1"),
        ("%f2", "%f2"),
        ("%f3", "%f3"),
        ("%f4", "%i"),
        ("%f5", "%f5"),
        ("%f6", "%twice"),
        ("%f7", "%again"),
    ];
    for (at, (first, second)) in (0..).zip(pairs) {
        words.store(2 * at, 16, "%i", first);
        // Arithmetic that restores the value prevents merging the two stores.
        let flipped = words.value(&format!("OpNot %uint {second}"));
        let back = words.value(&format!("OpNot %uint {flipped}"));
        words.store(2 * at + 1, 16, "%i", &back);
    }
    let body = Body {
        capabilities: String::new(),
        types: words.types,
        code: words.code,
    };
    let callee = "
    %callee = OpFunction %uint None %takes
    %parameter = OpFunctionParameter %uint
    %callee_entry = OpLabel
    %refrozen = OpFreezeKHR %uint %parameter
    OpReturnValue %refrozen
    OpFunctionEnd
    ";
    let gpu = Gpu::open(context)?;
    let device = Device::new(&gpu)?;
    for mode in [true, false] {
        let mut assembly = shader(&body, mode) + callee;
        if !mode {
            // Division by zero is poison only under the mode.
            assembly = assembly.replace("OpUDiv %uint %i %zero", "OpUDiv %uint %i %one");
        }
        let after = run(&device, &assembly, &[0xDEAD; 64 * 16])?;
        for (i, invocation) in after.chunks_exact(16).enumerate() {
            for (number, (pair, (name, _))) in invocation.chunks_exact(2).zip(pairs).enumerate() {
                ensure!(pair[0] == pair[1], "{name} of invocation {i} is {pair:?}");
                ensure!(
                    number != 4 || pair[0] == i as u32,
                    "{name} of invocation {i} is {pair:?}"
                );
            }
        }
    }
    Ok(())
}
