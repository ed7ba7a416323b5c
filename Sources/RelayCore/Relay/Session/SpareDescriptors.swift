import Glibc

/// Finds out whether this process can have more file descriptors, before it asks a service to send some.
///
/// libdbus ends a connection that has lost a descriptor on the way, and the relay would connect, ask and lose it again,
/// without end.
enum SpareDescriptors {
    /// What keeps the process from having so many more; nil: nothing.
    static func failure(for count: Int) -> SystemError? {
        var taken: [Int32] = []
        defer { for descriptor in taken { close(descriptor) } }
        for _ in 0..<count {
            // It is there for everybody, and nothing is read.
            let descriptor = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
            if descriptor < 0 { return SystemError(errno) }
            taken.append(descriptor)
        }
        return nil
    }
    /// The same in words, with what the descriptors are for.
    static func error(for count: Int, _ purpose: String) -> RelayError? {
        failure(for: count).map { cause in
            RelayError(.unavailable, "no file descriptor for \(purpose): \(cause)\(cause.remedy)", cause: cause)
        }
    }
}
