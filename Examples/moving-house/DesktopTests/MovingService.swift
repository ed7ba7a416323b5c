import Foundation
import RelayCore
import RelayTestKit
import Synchronization

/// A private bus with `relay-service` on it, and what that says to `relay-cli`.
final class MovingService: Sendable {
    let bus: PrivateBus
    private let state = Mutex<(folder: TestFolder, program: RunningProgram)?>(nil)

    init() async throws {
        bus = try PrivateBus()
        try await start(in: try TestFolder())
    }
    private func start(in folder: TestFolder) async throws {
        let program = try RunningProgram(
            Programs.service, ["--bus", bus.address, "--state-directory", folder.path],
            environment: Programs.environment())
        try await program.line(containing: "ready")
        state.withLock { $0 = (folder, program) }
    }
    func kill() async {
        guard let program = state.withLock({ $0?.program }) else { return }
        program.signal(SIGKILL)
        _ = await program.outcome()
    }
    /// Starts it again, with the journal that it left or with none.
    func restart(withJournal: Bool = true) async throws {
        let folder = withJournal ? state.withLock { $0?.folder } : nil
        try await start(in: try folder ?? TestFolder())
    }
    @discardableResult func cli(_ arguments: String...) async throws -> String {
        let outcome = try await RunningProgram.run(
            Programs.cli, ["--bus", bus.address] + arguments, environment: Programs.environment())
        if outcome.code != 0 { throw RelayError(.unavailable, "relay-cli \(arguments): \(outcome)") }
        return outcome.output.joined()
    }
    func order(_ label: String, _ capacity: Int) async throws {
        try await cli("call", "OrderBox", "label=\(label)", "capacity=\(capacity)")
    }
    func pack(_ titles: String...) async throws {
        for title in titles { try await cli("call", "DistributeItem", "title=\(title)") }
    }

    /// What the service says there is, by a program that has nothing of the window's.
    func boxes() async throws -> [ShownBox] {
        struct Contents: Decodable {
            struct Box: Decodable { let boxID: Int64, capacity: Int, title: String }
            struct Item: Decodable { let itemID: Int64, boxID: Int64, title: String }
            let boxes: [Box], items: [Item]
        }
        let text = try await cli("--json", "call", "Contents")
        let contents = try JSONDecoder().decode(Contents.self, from: Data(text.utf8))
        return contents.boxes.map { box in
            let items = contents.items.filter { $0.boxID == box.boxID }
            return ShownBox(
                id: box.boxID, title: box.title, load: "\(items.count) of \(box.capacity)",
                share: Double(items.count) / Double(box.capacity),
                items: items.map { "\($0.itemID) \($0.title)" }.sorted())
        }
    }
}

/// A box as a person sees it.
struct ShownBox: Equatable, Sendable {
    let id: Int64
    let title: String
    let load: String
    let share: Double
    /// Each with its id.
    let items: [String]
}
