import Glibc

/// What Linux says of a process.
enum ProcessState {
    /// Whether it stands still, as after SIGSTOP. A signal that was sent stops it a moment later.
    static func isStopped(_ process: Int32) -> Bool {
        guard let file = fopen("/proc/\(process)/stat", "r") else { return false }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 512)
        let count = fread(&bytes, 1, bytes.count, file)
        let text = String(decoding: bytes.prefix(count), as: UTF8.self)
        // The state follows the name, which is in parentheses.
        return text.split(separator: ")").last?.hasPrefix(" T") == true
    }
}
