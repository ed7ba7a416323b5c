import Glibc
import RelayCore
import RelayTestKit
import TestTraits
import Testing

private enum Copying1: EventInterface {
    static let name = "org.example.Copying1"
    static let durability = Volatile()
    static var contract: Contract<Self> {
        Copy.self
        Vanish.self
    }
}
/// Reads all of a file, and returns one with the same text.
private struct Copy: Command {
    typealias Interface = Copying1
    var original: TransferredDescriptor
    struct Reply: Codable, Sendable { var copy: TransferredDescriptor }
}
/// Returns what nobody waits for.
private struct Vanish: Command {
    typealias Interface = Copying1
    var file: TransferredDescriptor
    struct Reply: Codable, Sendable { var file: TransferredDescriptor }
}

/// All that is written before the last writing end is closed.
private func text(of file: borrowing OwnedDescriptor) -> String {
    var (bytes, buffer) = ([UInt8](), [UInt8](repeating: 0, count: 256))
    while case let count = read(file.number, &buffer, buffer.count), count > 0 { bytes += buffer.prefix(count) }
    return String(decoding: bytes, as: UTF8.self)
}
/// A descriptor of a text, which ends.
private func file(with text: String) throws -> TransferredDescriptor {
    let (reading, writing) = try SystemPipe.open()
    _ = text.withCString { write(writing, $0, strlen($0)) }
    close(writing)
    return TransferredDescriptor(OwnedDescriptor(reading))
}

@Suite("Descriptors in a harness", .heavy, .tags(.g8)) struct HarnessDescriptorTests {
    private static let name = "org.example.Copier"

    @Test("go to the handler, come back with the reply, and are closed on the way if nobody takes them")
    func bothWays() async throws {
        let harness = TestHarness()
        let service = try EventService(name: Self.name, on: harness.bus, exporting: Copying1.self)
        service.handle(Copy.self) { copy, _ in
            Copy.Reply(copy: try file(with: text(of: try copy.original.take()) + "!"))
        }
        service.handle(Vanish.self) { vanish, _ in Vanish.Reply(file: vanish.file) }
        try await harness.start(service)
        let relay = try EventRelay(following: Self.name, on: harness.bus, interfaces: Copying1.self)
        relay.activate()
        for number in 1...30 {
            let reply = try await relay.call(Copy(original: try file(with: "page \(number)")))
            #expect(text(of: try reply.copy.take()) == "page \(number)!")
        }
        // The writing end goes there and back, and then nobody has it.
        let (reading, writing) = try SystemPipe.open()
        let end = OwnedDescriptor(reading)
        _ = await relay.outcome(of: Vanish(file: TransferredDescriptor(OwnedDescriptor(writing))))
        #expect(text(of: end).isEmpty)
        try await harness.stop(service)
    }
}
