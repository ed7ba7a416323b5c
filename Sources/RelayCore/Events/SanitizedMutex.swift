#if TSAN
    import Glibc

    /// Stands in for Synchronization's `Mutex` under ThreadSanitizer, which does not see that one's futex and reports every use.
    package struct SanitizedMutex<Value: ~Copyable>: ~Copyable, @unchecked Sendable {
        private let lock = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
        private let value = UnsafeMutablePointer<Value>.allocate(capacity: 1)
        package init(_ initial: consuming sending Value) {
            pthread_mutex_init(lock, nil)
            value.initialize(to: initial)
        }
        deinit {
            value.deinitialize(count: 1).deallocate()
            pthread_mutex_destroy(lock)
            lock.deallocate()
        }
        package borrowing func withLock<Result: ~Copyable, E: Error>(
            _ body: (inout sending Value) throws(E) -> sending Result
        ) throws(E) -> sending Result {
            pthread_mutex_lock(lock)
            defer { pthread_mutex_unlock(lock) }
            return try body(&value.pointee)
        }
    }
    /// Shadows the imported one in this module.
    typealias Mutex = SanitizedMutex
#endif
