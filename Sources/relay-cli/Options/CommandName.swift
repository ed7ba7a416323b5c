/// The tool's commands, as they are typed.
enum CommandName: String, CaseIterable, Sendable {
    case watch, top, history, export, call, list, status, help

    /// `watch, history and help`, each as it is typed.
    static func enumeration(_ commands: [Self], quoted: Bool = false) -> String {
        let words = commands.map { quoted ? "'\($0.rawValue)'" : $0.rawValue }
        guard let last = words.last, words.count > 1 else { return words.first ?? "" }
        return words.dropLast().joined(separator: ", ") + " and " + last
    }
}
