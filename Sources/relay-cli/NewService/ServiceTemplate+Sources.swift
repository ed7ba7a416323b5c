import RelayTool

extension ServiceTemplate {
    /// The Swift package, and its page.
    static let sources: KeyValuePairs<String, String> = [
        "Package.swift": #"""
        // swift-tools-version: 6.2
        import PackageDescription

        let package = Package(
            name: "@PROGRAM@",
            dependencies: [.package(name: "relay", path: "@RELAY@")],
            targets: [
                // The contract: service and front ends import it.
                .target(name: "@MODULE@", dependencies: [.product(name: "RelayCore", package: "relay")]),
                // The rules, and the tables: no bus.
                .target(
                    name: "@MODULE@Domain",
                    dependencies: [
                        "@MODULE@", .product(name: "RelayCore", package: "relay"),
                        .product(name: "RelayJournal", package: "relay"),
                    ]),
                .executableTarget(
                    name: "@PROGRAM@",
                    dependencies: [
                        "@MODULE@", "@MODULE@Domain", .product(name: "RelayCore", package: "relay"),
                        .product(name: "RelayJournal", package: "relay"), .product(name: "RelaySystemd", package: "relay"),
                    ]),
                .executableTarget(
                    name: "@WORDS@-cli",
                    dependencies: ["@MODULE@", .product(name: "RelayCore", package: "relay")]),
                .testTarget(
                    name: "@MODULE@Tests",
                    dependencies: [
                        "@MODULE@", "@MODULE@Domain", .product(name: "RelayCore", package: "relay"),
                        .product(name: "RelayJournal", package: "relay"), .product(name: "RelayTestKit", package: "relay"),
                    ]),
            ]
        )
        """#,
        "Sources/@MODULE@/@MODULE@1.swift": #"""
        import RelayCore

        /// What the service and its front ends agree on. Version 1: a change that breaks subscribers gets a version 2.
        public enum @MODULE@1: EventInterface {
            public static let name = "@INTERFACE@"
            /// On the system bus, packaging/@NAME@.conf decides who may call and follow it.
            public static let requirement = PeerRequirement.anyone
            public static var contract: Contract<Self> {
                NoteAdded.self
                AddNote.self
            }
        }
        /// A fact, in the past tense.
        public struct NoteAdded: DomainEvent {
            public typealias Interface = @MODULE@1
            public let noteID: Int64, text: String
            public init(noteID: Int64, text: String) { (self.noteID, self.text) = (noteID, text) }
        }
        /// A request, with its reply and the ways in which it is refused.
        public struct AddNote: Command {
            public typealias Interface = @MODULE@1
            public let text: String
            public init(text: String) { self.text = text }
            public struct Reply: Codable, Sendable {
                public let noteID: Int64
                public init(noteID: Int64) { self.noteID = noteID }
            }
            public enum Refusal: String, CommandRefusal, CaseIterable { case empty = "Empty" }
        }
        """#,
        "Sources/@MODULE@Domain/NoteBook.swift": #"""
        import @MODULE@
        import RelayCore
        import RelayJournal

        /// The notes. Their table is in the journal's file, so that a change and its event are committed together.
        public struct NoteBook: Sendable {
            let journal: EventJournal

            public init(_ journal: EventJournal) async throws {
                self.journal = journal
                try await journal.migrate(
                    "notes", by: [Migration("notes", "CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT NOT NULL)")])
            }
            public func open(on service: EventService) {
                service.handle(AddNote.self) { command, _, unit in
                    guard !command.text.isEmpty else { throw AddNote.Refusal.empty }
                    let insert: SQL = "INSERT INTO notes (text) VALUES (\(command.text)) RETURNING id"
                    let noteID = try unit.query(insert, as: Int64.self)[0]
                    try unit.publish(NoteAdded(noteID: noteID, text: command.text))
                    return AddNote.Reply(noteID: noteID)
                }
            }
        }
        """#,
        "Sources/@PROGRAM@/@MODULE@Service.swift": #"""
        import @MODULE@
        import @MODULE@Domain
        import RelayCore
        import RelayJournal
        import RelaySystemd

        @main struct @MODULE@Service: RelayProgram {
            static func run() async throws {
                let arguments = CommandLine.arguments.dropFirst()
                let isSystem = arguments.first == "--system"
                guard arguments.count == (isSystem ? 2 : 1), let folder = arguments.last else {
                    throw RelayError(.invalidArgument, "usage: @PROGRAM@ [--system] FOLDER-OF-THE-JOURNAL")
                }
                let manager = ServiceManager()
                let log = SystemLog()
                let report: @Sendable (Notice) -> Void = { notice in
                    // systemd's log with its fields, or a line on stderr.
                    if log?.write(notice) != true { Notice.log(notice) }
                }
                // A run that was started on demand may have to wait until the last one has closed the journal.
                let journal = try await manager.extendingTimeout {
                    try await EventJournal.open(
                        directory: folder, waiting: manager.isPresent ? .seconds(30) : .zero, onNotice: report)
                }
                let service = try EventService(
                    name: "@NAME@", on: isSystem ? .system : .session, exporting: @MODULE@1.self, journal: journal,
                    onNotice: report)
                try await NoteBook(journal).open(on: service)
                // Until SIGTERM; on the system bus also until nobody has used it for a minute.
                try await service.run(under: manager, idleExit: isSystem ? .seconds(60) : nil)
                journal.close()
            }
        }
        """#,
        "Sources/@WORDS@-cli/@MODULE@CLI.swift": #"""
        import @MODULE@
        import RelayCore

        @main @MainActor struct @MODULE@CLI: RelayProgram {
            static func run() async throws {
                var arguments = CommandLine.arguments.dropFirst()
                let isSystem = arguments.first == "--system"
                if isSystem { arguments = arguments.dropFirst() }
                let relay = try EventRelay(
                    following: "@NAME@", on: isSystem ? .system : .session, interfaces: @MODULE@1.self)
                switch (arguments.first, arguments.count) {
                case ("add", 2):
                    relay.activate()
                    switch await relay.outcome(of: AddNote(text: arguments.last ?? "")) {
                    case .success(let reply): print("note \(reply.noteID)")
                    case .refused(.empty): throw RelayError(.invalidArgument, "a note needs a text")
                    case .failed(let error): throw error
                    }
                case ("watch", 1):
                    // Everything that is kept, then what comes. `.resuming("…")` goes on where the last run stopped.
                    let notes = try relay.subscribe(to: NoteAdded.self, from: .beginning) { note in
                        print("#\(note.noteID) \(note.text)")
                    } onGap: { gap in
                        print(gap)
                    }
                    // It survives the end of the service. If no retry would help, the exit code says why.
                    try await relay.run(keeping: notes)
                default:
                    throw RelayError(.invalidArgument, "usage: @WORDS@-cli [--system] add TEXT | watch")
                }
            }
        }
        """#,
        "Tests/@MODULE@Tests/NoteBookTests.swift": #"""
        import @MODULE@
        import @MODULE@Domain
        import RelayCore
        import RelayJournal
        import RelayTestKit
        import Testing

        @Suite("Notes") struct NoteBookTests {
            let folder: TestFolder
            init() throws { folder = try TestFolder() }

            @Test("a note is kept with its event, and an empty one is refused") func adding() async throws {
                let journal = try EventJournal(directory: folder.path)
                let harness = TestHarness()
                let service = try EventService(
                    name: "@NAME@", on: harness.bus, exporting: @MODULE@1.self, journal: journal)
                try await NoteBook(journal).open(on: service)
                try await harness.start(service)
                let relay = try EventRelay(following: "@NAME@", on: harness.bus, interfaces: @MODULE@1.self)
                let recorder = EventRecorder(relay.publisher, of: @MODULE@1.self)
                relay.activate()
                #expect(try await relay.call(AddNote(text: "Hello")).noteID == 1)
                guard case .refused(.empty) = await relay.outcome(of: AddNote(text: "")) else {
                    Issue.record("an empty note was not refused")
                    return
                }
                try await harness.settle()
                #expect(recorder.events(of: NoteAdded.self).map(\.text) == ["Hello"])
            }
        }
        """#,
        "Tests/@MODULE@Tests/ContractTests.swift": #"""
        import @MODULE@
        import RelayTestKit
        import Testing

        @Test("the contract is as it was released, in Contracts") func contract() throws {
            try ContractFile.check(@MODULE@1.self, at: "Contracts/@INTERFACE@.contract")
        }
        """#,
        "Contracts/@INTERFACE@.contract": """
        # The contract of @INTERFACE@, for the tests to compare: see ContractFile.
        # Do not edit it: RELAY_WRITE_CONTRACTS=1 swift test
        relay-contract 1
        interface @INTERFACE@
        durable
        requires anyone

        event NoteAdded
            field noteID x
            field text s

        command AddNote
            in text s
            out noteID x
            refuses Empty
        """,
        ".gitignore": """
        /.build
        /debian/.debhelper
        /debian/@PROGRAM@
        """,
        "README.md": #"""
        # @MODULE@

        The service @NAME@, built with Relay: notes, which can be added and followed.

        | folder | is |
        | --- | --- |
        | `Sources/@MODULE@` | the contract: events and commands |
        | `Sources/@MODULE@Domain` | the rules and the tables; tested without a bus |
        | `Sources/@PROGRAM@` | the service |
        | `Sources/@WORDS@-cli` | a front end |
        | `Contracts` | the contract as it was released: a test compares it with the code |
        | `packaging` | unit, user, bus activation and policy for the system bus |
        | `debian` | the Debian package |

        ## Try it

            swift build && swift test
            .build/debug/@PROGRAM@ .build/journal &
            .build/debug/@WORDS@-cli watch &
            .build/debug/@WORDS@-cli add Hello
            relay-cli --service @NAME@ list
            busctl --user introspect @NAME@ @OBJECT@ @INTERFACE@

        Without a desktop there may be no session bus: begin with `dbus-run-session bash`. Kill the service and start it
        again: the watcher goes on at the next note.

        ## Install it

            dpkg-buildpackage --build=binary --no-sign
            sudo apt install ../@PROGRAM@_0.1.0_*.deb
            sudo adduser "$USER" @WORDS@-users    # and log in again
            @WORDS@-cli --system add Hello

        The bus starts the service when it is first called. Package, user, unit and state folder are called
        `@PROGRAM@`: no name in Debian ends with `-svc`, so the package takes nothing that the system has. Keep the ending
        if you rename them. Write your name into `debian/control`, `debian/changelog` and
        `debian/copyright` first.

        ## Make it yours

        1. Change the contract, `Sources/@MODULE@/@MODULE@1.swift`: what happens is an event, what can be asked for is a
           command. List both in `contract`.
        2. Change the rules and tables, `Sources/@MODULE@Domain/NoteBook.swift`, and their test. The service refuses to
           start while a command has no handler. An error that is no `Refusal` reaches the caller as its code alone:
           print it in the handler to see it. A table that is there is changed by one more `Migration`; while you try
           things out, remove `.build/journal` instead.
        3. Change the front end, `Sources/@WORDS@-cli/@MODULE@CLI.swift`.

        4. Run the tests. They say what a change of the contract breaks, for whom, and what to do instead. If it breaks
           nothing, or nothing was released yet, write the file in `Contracts` again:

               RELAY_WRITE_CONTRACTS=1 swift test           # what breaks nothing
               RELAY_WRITE_CONTRACTS=breaking swift test    # everything

        A field is a `Bool`, an integer, a `Double`, a `String`, an enum with raw values, a struct, an optional, or an array
        or dictionary of these. Events that are kept outlive releases: Relay's EVOLUTION.md says which changes old
        subscribers survive.
        """#,
    ]
}
