import Glibc
import RelayCore
import RelayTestKit
import Relocation
import Testing

/// A service that the bus starts.
@Suite(.timeLimit(.minutes(2))) struct ActivationTests {
    @Test("a command starts a service that the bus can start, and a relay that only looks does not")
    func onDemand() async throws {
        var template = Array("/tmp/eventrelay-services-XXXXXX".utf8CString)
        let made = template.withUnsafeMutableBufferPointer { mkdtemp($0.baseAddress!) != nil }
        try #require(made)
        let folder = String(decoding: template.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let file = "\(folder)/\(LiveService.name).service"
        defer {
            unlink(file)
            rmdir(folder)
        }
        let bus = try PrivateBus(limits: .session, policy: "<servicedir>\(folder)</servicedir>")
        var text = """
            [D-BUS Service]
            Name=\(LiveService.name)
            Exec=\(Programs.service) --bus \(bus.address)

            """
        let descriptor = open(file, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        let isWritten = text.withUTF8 { write(descriptor, $0.baseAddress, $0.count) == $0.count }
        close(descriptor)
        try #require(isWritten)

        let looking = try EventRelay(
            following: LiveService.name, on: bus.bus, interfaces: Relocation1.self, activation: .ifRunning)
        looking.activate()
        do {
            _ = try await looking.call(Contents())
            Issue.record("a service was started")
        } catch {
            #expect((error as? RelayError)?.code == .unavailable)
        }
        let relay = try EventRelay(following: LiveService.name, on: bus.bus, interfaces: Relocation1.self)
        relay.activate()
        #expect(try await relay.call(OrderBox(label: "Kitchen", capacity: 10)).boxID == 1)
        // Now it runs, for the other one, too.
        #expect(try await looking.call(Contents()).boxes.map(\.title) == ["Kitchen"])
        // The service ends with its bus.
        await bus.stop()
    }
}
