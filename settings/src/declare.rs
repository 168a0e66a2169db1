//! The macro that turns the rows of [`crate::table`] into a struct and a table.

/// Declares every setting: `documentation, key, field: type = default, form, view`. The documentation is Markdown, and what people
/// read about the setting everywhere.
macro_rules! settings {
    ($($(#[doc = $doc:literal])+ $key:literal $field:ident: $type:ty = $default:expr, $form:expr, $view:ident;)*) => {
        /// The settings of an instance.
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub struct Settings { $($(#[doc = $doc])+ pub $field: $type,)* }

        impl Default for Settings {
            fn default() -> Self {
                Self { $($field: $default,)* }
            }
        }

        /// The settings in the order in which they are listed.
        pub const SETTINGS: &[Setting] = &[$(Row {
            key: $key,
            documentation: concat!($($doc),+),
            form: $form,
            view: View::$view,
            text: |settings| settings.$field.text(&$form),
            set: |settings, text| {
                settings.$field = SettingValue::parse(text, &$form)?;
                Ok(())
            },
        }),*];
    };
}
pub(crate) use settings;
