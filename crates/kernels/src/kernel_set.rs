//! Sets of kernels that a primitive compiles together.

/// Declares a struct of kernels, one field per module of `frazil_shaders` that is in scope, and its `new`,
/// which compiles them. The terms in parentheses are the parameters of `new`; each kernel lists the
/// specialization constants that it takes from them.
macro_rules! kernel_set {
    ($(#[$meta:meta])* struct $set:ident($($term:ident),+) {
        $($kernel:ident { $($constant:ident $(: $value:expr)?),+ },)+
    }) => {
        $(#[$meta])*
        struct $set {
            $($kernel: frazil_vk::Kernel<$kernel::Interface>,)+
        }

        impl $set {
            fn new(device: &frazil_vk::Device, $($term: u32),+) -> frazil_vk::Result<Self> {
                Ok(Self {
                    $($kernel: frazil_vk::Kernel::specialized(
                        device,
                        &$kernel::Specialization { $($constant $(: $value)?),+ },
                    )?,)+
                })
            }
        }
    };
}
pub(crate) use kernel_set;
