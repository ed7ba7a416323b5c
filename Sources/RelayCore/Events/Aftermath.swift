/// What is left to do once a publisher's lock is released: waking, and letting go of what others may have a `deinit` for.
///
/// Nearly always none or one of each: no allocation then.
struct Aftermath: ~Copyable, Sendable {
    private var wakeup: Wakeup?
    private var moreWakeups: [Wakeup] = []
    private var released: (any AnyObject & Sendable)?
    private var moreReleased: [any AnyObject & Sendable] = []

    mutating func wake(_ wakeup: Wakeup?) {
        guard let wakeup else { return }
        if self.wakeup == nil { self.wakeup = wakeup } else { moreWakeups.append(wakeup) }
    }
    /// Keeps an object until after the lock.
    mutating func release(_ object: (any AnyObject & Sendable)?) {
        guard let object else { return }
        if released == nil { released = object } else { moreReleased.append(object) }
    }
    consuming func run() {
        wakeup?.run()
        for wakeup in moreWakeups { wakeup.run() }
    }
}
