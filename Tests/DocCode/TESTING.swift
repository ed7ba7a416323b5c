// What the code of docs/TESTING.md takes from its surroundings, beside the tests that the page shows: see scripts/check-doc-code.
import RelayCore
import RelayJournal
import RelayTestKit

func given<T>() -> T { fatalError("nothing here is run") }
func journal() async throws -> EventJournal { given() }
let desk: OrderDesk = given()
nonisolated(unsafe) let relay: EventRelay = given()
nonisolated(unsafe) let harness: TestHarness = given()

struct Lamp: EditableDocument {
    typealias Interface = Orders1
    var brightness: Int32, colour: String?
    static let initial = Self(brightness: 0, colour: nil)
}
struct LampView { let shown: [Int32] }
let view = LampView(shown: [])
let service: EventService = given()
let present: VersionedState<Lamp> = given()

struct Copy: Command {
    typealias Interface = Orders1
    var original: TransferredDescriptor
    struct Reply: Codable, Sendable { var copy: TransferredDescriptor }
}
let number = 1
func file(with text: String) throws -> TransferredDescriptor { given() }
func text(of file: borrowing OwnedDescriptor) -> String { given() }

// Testing's macro expands in no module of its own.
func expect(_ condition: Bool) {}
func expect<E: Error, R>(throws type: E.Type, _ body: () async throws -> R) async {}
func expect<E: Error & Equatable, R>(throws error: E, _ body: () async throws -> R) async {}

/// Around methods.
@MainActor class View {}
