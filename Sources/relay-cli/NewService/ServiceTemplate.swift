import RelayTool

/// The files of a new service's package, as values: nothing here touches a disk.
struct ServiceTemplate {
    struct File: Equatable {
        /// Below the package's folder.
        let path: String
        let text: String
        let isExecutable: Bool
    }
    let name: ServiceName
    /// Where Relay's sources are, as the manifest names it.
    let relay: String

    /// In the order in which they are written.
    var files: [File] {
        [Self.sources, Self.packaging, Self.debian].joined().map { path, text in
            File(path: filled(path), text: filled(text) + "\n", isExecutable: path == "debian/rules")
        }
    }
    private func filled(_ text: String) -> String {
        var result = ""
        var rest = text[...]
        while let start = rest.firstIndex(of: "@") {
            result += rest[..<start]
            rest = rest[rest.index(after: start)...]
            // A word between two of them is a place to fill; any other is itself.
            if let end = rest.firstIndex(of: "@"), let value = value(of: rest[..<end]) {
                result += value
                rest = rest[rest.index(after: end)...]
            } else {
                result += "@"
            }
        }
        return result + rest
    }
    private func value(of word: Substring) -> String? {
        switch word {
        case "NAME": name.text
        case "MODULE": name.module
        case "INTERFACE": name.interface
        case "OBJECT": name.object
        case "WORDS": name.words
        case "PROGRAM": name.program
        case "RELAY":
            Words.replacing(["\\": "\\\\", "\"": "\\\""], in: relay)
        default: nil
        }
    }
}
