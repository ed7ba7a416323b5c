import Glibc
import RelayCore

/// Finds the files of a configuration, as systemd does: one main file, and the drop-ins of all folders.
///
/// The main file is that of the first folder which has one. Drop-ins are `NAME.d/*.conf`. They are read after it, in the
/// order of their names; of two with the same name only that of the earlier folder counts, so that a link to /dev/null
/// turns one off.
package struct ConfigurationSearch: Equatable, Sendable {
    /// The administrator's before what runs has made, before the package's.
    package static let standardFolders = [
        "/etc/eventrelay", "/run/eventrelay", "/usr/local/lib/eventrelay", "/usr/lib/eventrelay",
    ]
    /// Larger files are no configuration.
    package static let largestFile = 1 << 20

    /// `relay-service.conf`
    package let name: String
    package let folders: [String]

    package init(name: String, folders: [String] = Self.standardFolders) { (self.name, self.folders) = (name, folders) }
    /// What somebody typed: a name without a slash is looked for in the folders, anything else is a path.
    package init(typed text: String, folders: [String] = Self.standardFolders) {
        guard let slash = text.lastIndex(of: "/") else {
            self.init(name: text, folders: folders)
            return
        }
        let folder = slash == text.startIndex ? "/" : String(text[..<slash])
        self.init(name: String(text[text.index(after: slash)...]), folders: [folder])
    }

    /// The paths of the files that count, in the order in which they are read.
    package func files() -> [String] {
        var files: [String] = []
        let candidates: [String] = folders.map { "\($0)/\(name)" }
        if let main = candidates.first(where: { access($0, F_OK) == 0 }) { files.append(main) }
        var dropIns: [String: String] = [:]
        for folder in folders {
            for file in Self.entries(of: "\(folder)/\(name).d") where file.hasSuffix(".conf") && !file.hasPrefix(".") {
                if dropIns[file] == nil { dropIns[file] = "\(folder)/\(name).d/\(file)" }
            }
        }
        return files + dropIns.sorted { $0.key < $1.key }.map(\.value)
    }

    /// The same for settings that somebody has named: there must be at least one file of them.
    ///
    /// - Throws: `ConfigurationError` with the folders that have none.
    package func requiredFiles() throws(ConfigurationError) -> [String] {
        let files = files()
        if files.isEmpty {
            throw ConfigurationError("there is no \(name), and nothing in \(name).d, in \(Words.list(folders))")
        }
        return files
    }

    /// All assignments, in the order in which they count.
    ///
    /// - Parameter files: those that `files()` found.
    /// - Throws: `ConfigurationError` with the file that cannot be read, and why, or with file and line.
    package static func assignments(
        of files: [String]
    ) throws(ConfigurationError) -> [ConfigurationFile.Assignment] {
        var all: [ConfigurationFile.Assignment] = []
        for file in files {
            all += try ConfigurationFile(try text(of: file), name: file).assignments
        }
        return all
    }

    private static func entries(of folder: String) -> [String] {
        guard let directory = opendir(folder) else { return [] }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            // The name is a C array within the entry, which the next call overwrites.
            names.append(
                withUnsafePointer(to: &entry.pointee.d_name) {
                    $0.withMemoryRebound(to: CChar.self, capacity: Int(NAME_MAX) + 1) { String(cString: $0) }
                })
        }
        return names
    }

    private static func text(of file: String) throws(ConfigurationError) -> String {
        // Not to wait for the writer of a FIFO that somebody left there.
        let descriptor = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            throw ConfigurationError("\(file) cannot be read: \(String(cString: strerror(errno)))")
        }
        defer { close(descriptor) }
        let bytes: [UInt8]
        do throws(SystemError) { bytes = try OpenFile.read(descriptor, atMost: largestFile + 1) } catch {
            throw ConfigurationError("\(file) cannot be read: \(error)")
        }
        guard bytes.count <= largestFile else {
            throw ConfigurationError("\(file) has more than \(largestFile) bytes, and is no configuration")
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw ConfigurationError("\(file) is not UTF-8")
        }
        return text
    }
}
