import Glibc

/// A file descriptor that is closed when this value goes.
struct OwnedDescriptor: ~Copyable {
    let number: Int32
    init(_ number: Int32) { self.number = number }
    deinit { close(number) }

    /// Leaves it open, for whoever takes it over.
    consuming func release() -> Int32 {
        let number = number
        discard self
        return number
    }
}
