//! Results that are being read back from the device.

/// Result that is being read back from the device.
pub trait PendingResult<T> {
    /// Returns true if the result has arrived.
    ///
    /// # Errors
    /// The device was lost.
    fn is_ready(&self) -> frazil_vk::Result<bool>;

    /// Waits for the result.
    ///
    /// # Errors
    /// The device was lost, or the recorder was never submitted.
    fn wait(self: Box<Self>) -> frazil_vk::Result<T>;
}

/// A solver's own pending result behind [`PendingResult`].
struct Forwarded<P, R, W> {
    own: P,
    is_ready: R,
    wait: W,
}

impl<T, P, R, W> PendingResult<T> for Forwarded<P, R, W>
where
    R: Fn(&P) -> frazil_vk::Result<bool>,
    W: FnOnce(P) -> frazil_vk::Result<T>,
{
    fn is_ready(&self) -> frazil_vk::Result<bool> {
        (self.is_ready)(&self.own)
    }

    fn wait(self: Box<Self>) -> frazil_vk::Result<T> {
        (self.wait)(self.own)
    }
}

/// Makes a [`PendingResult`] of a solver's own one, from its methods; `wait` also converts the value to the
/// type that all solvers share.
pub(crate) fn forwarded<T, P: 'static>(
    own: P,
    is_ready: impl Fn(&P) -> frazil_vk::Result<bool> + 'static,
    wait: impl FnOnce(P) -> frazil_vk::Result<T> + 'static,
) -> Box<dyn PendingResult<T>> {
    Box::new(Forwarded { own, is_ready, wait })
}
