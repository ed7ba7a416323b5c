/// The tool's commands, as they are typed.
enum CommandName: String, CaseIterable, Sendable {
    case watch, call, list, help
}
