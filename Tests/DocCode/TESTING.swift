// What the code of docs/TESTING.md takes from its surroundings, beside the tests that the page shows: see scripts/check-doc-code.
import RelayCore
import RelayJournal
import RelayTestKit

func given<T>() -> T { fatalError("nothing here is run") }
func journal() async throws -> EventJournal { given() }
let desk: OrderDesk = given()
nonisolated(unsafe) let relay: EventRelay = given()
nonisolated(unsafe) let harness: TestHarness = given()

// Testing's macro expands in no module of its own.
func expect(_ condition: Bool) {}
func expect<E: Error, R>(throws type: E.Type, _ body: () async throws -> R) async {}
func expect<E: Error & Equatable, R>(throws error: E, _ body: () async throws -> R) async {}

/// Around methods.
@MainActor class View {}
