import RelayCore
import RelayTool
import Synchronization

@testable import relay_cli

/// A service whose objects answer Introspect, and whose other methods answer what they are told to.
final class FakeService: ServiceCaller {
    let objects: [String: String]
    let answer: @Sendable (OutgoingCall) throws -> IncomingReply
    private let log = Mutex<[OutgoingCall]>([])

    var calls: [OutgoingCall] { log.withLock { $0 } }

    init(
        objects: [String: String] = Samples.objects,
        answer: @escaping @Sendable (OutgoingCall) throws -> IncomingReply = { call in
            throw CLIFailure(.software, "not expected: \(call.member)")
        }
    ) {
        (self.objects, self.answer) = (objects, answer)
    }

    func call(_ call: OutgoingCall, timeout: Duration) async throws -> IncomingReply {
        log.withLock { $0.append(call) }
        guard call.member == "Introspect" else { return try answer(call) }
        guard let xml = objects[call.path] else { throw CLIFailure(.software, "no object '\(call.path)'") }
        return IncomingReply(signature: "s", body: try Samples.body { try $0.string(xml) })
    }
}
