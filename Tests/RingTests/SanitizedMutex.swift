#if TSAN
    import RelayCore

    /// See there: ThreadSanitizer does not know Synchronization's.
    typealias Mutex = SanitizedMutex
#endif
