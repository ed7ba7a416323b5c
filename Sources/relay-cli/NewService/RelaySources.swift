import Glibc
import RelayTool

/// The folder of Relay's sources, which a new package depends on by path.
enum RelaySources {
    /// Where a manifest's path leads, as the package manager reads it: from the package's folder, letter by letter.
    static func place(of path: String, from folder: String) -> String {
        if path.hasPrefix("/") { return path }
        var elements: [Substring] = []
        for element in "\(folder)/\(path)".split(separator: "/") where element != "." {
            if element == "..", let last = elements.last, last != ".." {
                elements.removeLast()
            } else if element != ".." || !folder.hasPrefix("/") {
                elements.append(element)
            }
        }
        let joined = elements.joined(separator: "/")
        return folder.hasPrefix("/") ? "/" + joined : joined.isEmpty ? "." : joined
    }
    /// Throws `.usage` for a folder that is absent or has no Relay: the package could not be built.
    static func check(_ path: String, from folder: String) throws(CLIFailure) {
        let place = place(of: path, from: folder)
        var wrong: String?
        if access(place, F_OK) != 0 {
            wrong = "cannot find Relay at '\(place)': \(String(cString: strerror(errno)))"
        } else if access("\(place)/Package.swift", R_OK) != 0 || access("\(place)/Sources/RelayCore", X_OK) != 0 {
            wrong = "'\(place)' has no sources of Relay"
        }
        guard let wrong else { return }
        let start = path.hasPrefix("/") ? "" : " ('\(path)' begins at '\(folder)')"
        throw CLIFailure(
            .usage, "\(wrong)\(start): install librelay-dev, or name a clone of Relay's repository by --relay")
    }
}
