package import CRelayShims

/// Guards a state that several threads publish through at once: like `Mutex`, for what is done in less than a
/// microsecond and wanted all the time.
///
/// Swift's `Mutex` inherits priorities, on Linux: contended, it is handed over in the kernel at each release. This one
/// goes to whoever is running. Some threads share it at nearly the rate of one, and each of them gets its turn within
/// some tenths of a millisecond (docs/internals/DECISIONS.md). Who waits for it sleeps meanwhile, so that it is no lock
/// for what waits for something else.
package struct PublishingLock<State>: ~Copyable, @unchecked Sendable {  // The state is reached under the lock alone.
    @usableFromInline let word: UnsafeMutablePointer<relay_lock>
    @usableFromInline let state: UnsafeMutablePointer<State>

    /// Both in lines of their own, beside each other: who gets the lock has fetched the first of the state with it.
    package init(_ initial: consuming sending State) {
        let offset =
            (MemoryLayout<relay_lock>.size + MemoryLayout<State>.alignment - 1)
            & ~(MemoryLayout<State>.alignment - 1)
        let memory = UnsafeMutableRawPointer.allocate(
            byteCount: offset + MemoryLayout<State>.size, alignment: max(128, MemoryLayout<State>.alignment))
        word = memory.bindMemory(to: relay_lock.self, capacity: 1)
        word.initialize(to: relay_lock())
        state = (memory + offset).bindMemory(to: State.self, capacity: 1)
        state.initialize(to: initial)
    }
    deinit {
        state.deinitialize(count: 1)
        UnsafeMutableRawPointer(word).deallocate()
    }
    /// For tests, which have no other thread meanwhile.
    var isWanted: Bool {
        get { word.pointee.wanted != 0 }
        nonmutating set { word.pointee.wanted = newValue ? 1 : 0 }
    }
    /// The two halves of `withLock`, for a path on which its closure would cost more than the lock.
    @inlinable @inline(__always) package borrowing func take() { relay_lock_take(word) }
    @inlinable @inline(__always) package borrowing func release() { relay_lock_release(word) }
    /// Calls `body` with the state, while nobody else has it. Not to be called by `body`.
    @inlinable @inline(__always)
    package borrowing func withLock<Result: ~Copyable, Failure: Error>(
        _ body: (inout sending State) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        relay_lock_take(word)
        defer { relay_lock_release(word) }
        return try body(&state.pointee)
    }
}
