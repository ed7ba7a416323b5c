import Glibc
public import RelayCore

/// A folder for one test, which other users cannot enter.
///
/// The folder is removed, with its contents, when this value is released. Keep the value as long as the test runs, for
/// example as a property of the suite.
///
/// ```swift
/// @Suite struct JournalTests {
///     let folder = try! TestFolder()
///     @Test func opens() throws { _ = try EventJournal(directory: folder.path) }
/// }
/// ```
public final class TestFolder: Sendable {
    /// The path of the folder.
    public let path: String

    /// Makes a folder.
    ///
    /// - Throws: `.unavailable` if it cannot be made.
    public convenience init() throws(RelayError) { try self.init(isInMemory: false) }
    /// - Parameter isInMemory: where the system has a file system for that. For what need not survive anything.
    package init(isInMemory: Bool) throws(RelayError) {
        let memory = "/dev/shm"
        let isThere = isInMemory && access(memory, W_OK | X_OK) == 0
        let parent = isThere ? memory : getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        var template = Array("\(parent)/eventrelay-test-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else {
            let cause = SystemError(errno)
            throw RelayError(.unavailable, "no temporary folder in \(parent): \(cause)", cause: cause)
        }
        path = String(decoding: template.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
    deinit { Self.remove(path) }

    /// What is in it, sorted.
    package var names: [String] { Self.names(in: path).sorted() }
    /// What is in a folder of it, sorted.
    package func names(in folder: String) -> [String] { Self.names(in: "\(path)/\(folder)").sorted() }

    /// Writes a file, over what was there.
    package func write(_ text: String, to name: String) throws(RelayError) {
        let file = "\(path)/\(name)"
        let descriptor = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        defer { close(descriptor) }
        var text = text
        let isWritten =
            descriptor >= 0 && text.withUTF8 { Glibc.write(descriptor, $0.baseAddress, $0.count) == $0.count }
        if !isWritten {
            let cause = SystemError(errno)
            throw RelayError(.unavailable, "cannot write \(file): \(cause)", cause: cause)
        }
    }

    private static func names(in folder: String) -> [String] {
        guard let stream = opendir(folder) else { return [] }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { tuple in
                // The name ends with a NUL within the tuple that C's array is in Swift.
                tuple.withMemoryRebound(to: CChar.self, capacity: MemoryLayout.size(ofValue: tuple.pointee)) {
                    String(cString: $0)
                }
            }
            if name != "." && name != ".." { names.append(name) }
        }
        return names
    }
    /// Does not follow links.
    private static func remove(_ path: String) {
        if unlink(path) == 0 || errno == ENOENT { return }
        for name in names(in: path) { remove("\(path)/\(name)") }
        rmdir(path)
    }
}
