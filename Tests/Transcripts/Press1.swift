import RelayCore

/// What the reference service has none of: a document that others change, a volatile interface, and arguments of every
/// kind.
enum Press1: EventInterface {
    static let name = "org.example.Press1"
    static let service = "org.example.Press"
    static let durability = Volatile()
    static let about: About = "A printing press."
    static var contract: Contract<Self> {
        PagePrinted.self
        PrintPages.self
        Settings.self
    }

    enum Mode: String, Codable, CaseIterable { case draft, fine }
    struct Margins: Codable, Hashable { var left: Double, right: Double, unit: String? }

    struct PagePrinted: DomainEvent {
        typealias Interface = Press1
        let number: Int32, mode: Mode, margins: Margins, tags: [String], title: String?
    }
    struct PrintPages: Command {
        typealias Interface = Press1
        static let about = About("Prints pages.", fields: ["copies": .unit("sheets", "of each page")])
        let copies: UInt8, scale: Double, isColour: Bool, mode: Mode
        let margins: Margins?, tags: [String]?, prices: [String: Int32]?, title: String?
        struct Reply: Codable, Sendable { let pages: Int32 }
        enum Refusal: String, CommandRefusal, CaseIterable {
            case jammed = "Jammed"
            var message: String { "paper is jammed; clear the press" }
        }
    }
    struct Settings: EditableDocument {
        typealias Interface = Press1
        var tray: Int32, mode: Mode, title: String?
        static let initial = Self(tray: 1, mode: .draft, title: nil)
        enum Refusal: String, CommandRefusal, CaseIterable {
            case noSuchTray = "NoSuchTray"
            var message: String { "there are trays 1 to 3" }
        }
    }

    /// Serves it until the value is stopped.
    static func start(on bus: Bus) async throws -> EventService {
        let press = try EventService(name: service, on: bus, exporting: Press1.self)
        press.handle(PrintPages.self) { command, _ in
            guard command.copies <= 3 else { throw PrintPages.Refusal.jammed }
            try press.publish(
                PagePrinted(
                    number: Int32(command.copies), mode: command.mode,
                    margins: command.margins ?? Margins(left: 1, right: 1.5, unit: nil), tags: command.tags ?? [],
                    title: command.title))
            return PrintPages.Reply(pages: Int32(command.copies))
        }
        press.handleSubmissions(of: Settings.self) { submission in
            guard (1...3).contains(submission.state.tray) else { throw Settings.Refusal.noSuchTray }
            return submission.state
        }
        try await press.start()
        return press
    }
}
