/// What the protocol rests on, one by one: a model without any of them must fail.
enum RingGuard: CaseIterable {
    /// The intent is stored before the first byte, not with the tail.
    case intentFirst
    case releaseFence
    case tailRelease
    case tailAcquire
    case acquireFence
    /// The look at the intent after the copy.
    case recheck
    /// A lapped reader goes no further than the tail that it has seen.
    case jumpWithinTail
    case writersFullFence
    case waitersFullFence
    /// The look at the tail after the flag was raised.
    case lookBeforeSleep
    /// The kernel's comparison of the flag when it puts to sleep.
    case kernelsCompare
    /// The flag is cleared before the call that wakes, not after it.
    case clearBeforeWake
    /// A claim is given back before the look at the flag, not after it (only with a waker).
    case claimBeforeLook
    /// Between the two (only with a waker).
    case wakersFullFence
}
