//! Why a buffer or an arena could not be created.

use ash::vk;

/// Why a buffer or an arena could not be created.
#[derive(Debug)]
pub struct CreateError {
    /// The driver's error; `VK_ERROR_UNKNOWN` if the failure is not the driver's.
    pub result: vk::Result,
    /// The reason, for people.
    pub reason: String,
}

impl From<String> for CreateError {
    fn from(reason: String) -> Self {
        Self {
            result: vk::Result::ERROR_UNKNOWN,
            reason,
        }
    }
}

impl From<&str> for CreateError {
    fn from(reason: &str) -> Self {
        reason.to_owned().into()
    }
}

/// The function `name` of the next layer.
///
/// # Errors
/// The driver does not have the function.
pub fn require<F>(function: Option<F>, name: &str) -> Result<F, CreateError> {
    function.ok_or_else(|| format!("the driver lacks {name}").into())
}

/// Checks the result of the function `name`.
///
/// # Errors
/// The result is not `VK_SUCCESS`.
pub fn check(result: vk::Result, name: &str) -> Result<(), CreateError> {
    match result {
        vk::Result::SUCCESS => Ok(()),
        result => Err(CreateError {
            result,
            reason: format!("{name} failed: {result:?}"),
        }),
    }
}
