import Glibc
import RelayTool

/// Writes files into a folder that is new or empty. What is there is never changed.
enum PackageWriter {
    /// Throws `.usage` for a folder that is not empty, and `.cannotCreate` with the path for what cannot be made.
    static func write(_ files: [ServiceTemplate.File], into folder: String) throws(CLIFailure) {
        try prepare(folder)
        var made: Set = [folder]
        for file in files {
            var place = folder
            for part in file.path.split(separator: "/").dropLast() {
                place += "/\(part)"
                if made.insert(place).inserted, mkdir(place, 0o777) != 0, errno != EEXIST { throw failure(place) }
            }
            try write(file, to: "\(folder)/\(file.path)")
        }
    }
    private static func prepare(_ folder: String) throws(CLIFailure) {
        if mkdir(folder, 0o777) == 0 { return }
        guard errno == EEXIST else { throw failure(folder) }
        guard let stream = opendir(folder) else { throw failure(folder) }
        defer { closedir(stream) }
        while let entry = readdir(stream) {
            // The name is a C string within the entry.
            let name = withUnsafeBytes(of: &entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != "." && name != ".." {
                throw CLIFailure(
                    .usage, "'\(folder)' is not empty (there is '\(name)'): name a folder that is new or empty")
            }
        }
    }
    private static func write(_ file: ServiceTemplate.File, to path: String) throws(CLIFailure) {
        // Not what somebody else put there meanwhile.
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, file.isExecutable ? 0o777 : 0o666)
        guard descriptor >= 0 else { throw failure(path) }
        defer { close(descriptor) }
        var rest = Array(file.text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { throw failure(path) }
            rest = rest.dropFirst(count)
        }
    }
    private static func failure(_ path: String) -> CLIFailure {
        CLIFailure(.cannotCreate, "cannot make '\(path)': \(String(cString: strerror(errno)))")
    }
}
