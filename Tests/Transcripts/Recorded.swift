import Foundation

/// The files of transcripts.
enum Recorded {
    /// The folder of this file.
    static let folder = String(#filePath.prefix(upTo: #filePath.lastIndex(of: "/") ?? #filePath.endIndex))
    /// RELAY_TRANSCRIPTS=FOLDER plays the files of another folder, and writes what came of them into these files.
    static let rewritten = ProcessInfo.processInfo.environment["RELAY_TRANSCRIPTS"]
    private static let place = rewritten ?? folder + "/Files"

    /// Sorted; without the ending.
    static let names: [String] = {
        let files = (try? FileManager.default.contentsOfDirectory(atPath: place)) ?? []
        return files.filter { $0.hasSuffix(".transcript") }.map { String($0.dropLast(11)) }.sorted()
    }()
    static func transcript(_ name: String) throws -> Transcript {
        try Transcript(name: name, text: try String(contentsOfFile: path(name), encoding: .utf8))
    }
    static func all() throws -> [Transcript] { try names.map(transcript) }

    static func write(_ text: String, as name: String) throws {
        try text.write(toFile: path(name), atomically: true, encoding: .utf8)
    }
    private static func path(_ name: String) -> String { "\(place)/\(name).transcript" }
}
