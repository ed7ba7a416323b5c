import RelayCore
import RelayJournal
import RelayTestKit
import TestTraits
import Testing

private enum Shelf1: EnumInterface {
    case put(Put), taken(Taken)
    static let name = "org.example.Shelf1"
    static var contract: Contract<Self> {
        put
        taken
        ListBooks.self
    }
}
private struct Put: DomainEvent {
    typealias Interface = Shelf1
    var id: Int64, title: String
}
private struct Taken: DomainEvent {
    typealias Interface = Shelf1
    var id: Int64
}
private struct Book: Codable, Equatable, Sendable { var id: Int64, title: String }
private struct ListBooks: PagedQuery {
    typealias Interface = Shelf1
    var after: Int64 = 0
    struct Reply: SnapshotReply {
        var epoch: UInt64, sequence: UInt64
        var books: [Book]
        var isLast: Bool
    }
    func next(after page: Reply) -> Self? { page.isLast ? nil : ListBooks(after: page.books.last?.id ?? .max) }
}

private final class Library: Sendable {
    static let name = "org.example.Library"
    let harness: TestHarness
    /// Goes with the last of those that use it.
    let folder: TestFolder
    let journal: EventJournal
    let service: EventService

    init(_ folder: TestFolder, _ harness: TestHarness = TestHarness(limit: .testLimit)) async throws {
        (self.harness, self.folder) = (harness, folder)
        let journal = try EventJournal(directory: folder.path, onNotice: { _ in })
        self.journal = journal
        let books = Migration("books", "CREATE TABLE IF NOT EXISTS books (id INTEGER PRIMARY KEY, title TEXT NOT NULL)")
        try await journal.migrate("books", by: [books])
        service = try EventService(name: Self.name, on: harness.bus, exporting: Shelf1.self, journal: journal)
        service.handle(ListBooks.self) { query, _ in
            try await journal.read { snapshot in
                let position = try snapshot.position(of: Shelf1.self)
                let books = try snapshot.query(
                    "SELECT id, title FROM books WHERE id > \(query.after) ORDER BY id LIMIT 4", as: Book.self)
                return ListBooks.Reply(
                    epoch: position.epoch, sequence: position.sequence, books: Array(books.prefix(3)),
                    isLast: books.count < 4)
            }
        }
        try await harness.start(service)
    }
    func put(_ id: Int64, _ title: String) async throws {
        try await service.unitOfWork { unit in
            try unit.execute("REPLACE INTO books VALUES (\(id), \(title))")
            try unit.publish(Put(id: id, title: title))
        }
    }
    func take(_ id: Int64) async throws {
        try await service.unitOfWork { unit in
            try unit.execute("DELETE FROM books WHERE id = \(id)")
            try unit.publish(Taken(id: id))
        }
    }
    func relay() throws -> EventRelay {
        try EventRelay(following: Self.name, on: harness.bus, interfaces: Shelf1.self)
    }
}

private func apply(_ event: Shelf1, _ rows: inout FollowedRows<Int64, Book>) {
    switch event {
    case .put(let book): rows[id: book.id] = Book(id: book.id, title: book.title)
    case .taken(let book): rows[id: book.id] = nil
    }
}

/// What a window does with the changes.
@MainActor private final class Window {
    private(set) var titles: [String] = []
    private(set) var updates = 0
    private let ended: Log<String>
    init(_ ended: Log<String>) { self.ended = ended }
    deinit { ended.add("ended") }

    func follow(_ relay: EventRelay) throws {
        try relay.follow(
            self, Shelf1.self, pages: ListBooks(), rows: \.books, by: \.id, applying: apply
        ) { me, list in
            me.updates += 1
            for change in list.changes {
                switch change {
                case .inserted(let books, let index): me.titles.insert(contentsOf: books.map(\.title), at: index)
                case .updated(let books, let index):
                    me.titles.replaceSubrange(index..<index + books.count, with: books.map(\.title))
                case .removed(let books, let index): me.titles.removeSubrange(index..<index + books.count)
                }
            }
            #expect(me.titles == list.rows.map(\.title))
        } onFailure: { me, error in
            me.titles = [error.message]
        }
    }
}

@Suite("A list that is kept in step", .tags(.g2)) struct FollowedListTests {
    @Test("it has all pages, then each change, over a restart of the service, and ends with its object")
    @MainActor func window() async throws {
        let folder = try TestFolder()
        var library = try await Library(folder)
        for id in Int64(1)...10 { try await library.put(id * 10, "book \(id)") }
        let relay = try library.relay()
        let ended = Log<String>()
        do {
            let window = Window(ended)
            try window.follow(relay)
            #expect(throws: RelayError.self) { try window.follow(relay) }
            relay.activate()
            #expect(await eventually { window.titles.count == 10 })
            #expect(window.updates == 1)
            try await library.put(55, "between")
            try await library.put(20, "changed")
            try await library.take(100)
            try await library.harness.settle()
            #expect(window.titles.count == 10 && window.titles[1] == "changed" && window.titles[5] == "between")
            #expect(window.updates == 4)
            try await library.harness.stop(library.service)
            library.journal.close()
            library = try await Library(folder, library.harness)
            try await library.take(10)
            #expect(await eventually { window.titles.first == "changed" })
            #expect(window.titles.count == 9)
        }
        try await library.put(5, "for nobody")
        #expect(await eventually { ended.count == 1 }, "the relay does not keep it")
        try await library.harness.stop(library.service)
    }
    @Test("a closure gets rows and differences, too, and an actor's run on it") func forms() async throws {
        actor Shelf {
            private(set) var ids: [Int64] = []
            func follow(_ relay: EventRelay) throws {
                try relay.follow(
                    self, Shelf1.self, pages: ListBooks(), rows: \.books, by: \.id, applying: apply
                ) { me, list in
                    me.ids = list.rows.map(\.id)
                } onFailure: { _, _ in
                }
            }
        }
        let library = try await Library(TestFolder())
        for id in Int64(1)...5 { try await library.put(id, "x") }
        let relay = try library.relay()
        let (shelf, changes) = (Shelf(), Log<Int>())
        try await shelf.follow(relay)
        let list = try relay.follow(Shelf1.self, pages: ListBooks(), rows: \.books, by: \.id, applying: apply) { list in
            changes.add(list.changes.count)
        } onFailure: { _ in
        }
        relay.activate()
        #expect(await eventually { await shelf.ids == [1, 2, 3, 4, 5] })
        #expect(await eventually { changes.values == [1] }, "one run of five rows")
        try await library.take(3)
        #expect(await eventually { await shelf.ids == [1, 2, 4, 5] && changes.values == [1, 1] })
        list.cancel()
        try await library.harness.stop(library.service)
    }
}
