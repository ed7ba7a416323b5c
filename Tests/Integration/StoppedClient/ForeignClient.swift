import RelayCore
import RelayTestKit
import Synchronization

/// `gdbus monitor`: matches everything of one service, and prints it.
final class ForeignClient: Sendable {
    let program: RunningProgram
    private let last: Last
    private final class Last: Sendable {
        let number = Mutex(0)
        let lines = Mutex(0)
    }
    /// The number of the latest event that it has shown.
    var newest: Int { last.number.withLock { $0 } }

    init(_ bus: PrivateBus, of service: String) throws {
        let last = Last()
        self.last = last
        program = try RunningProgram(
            "gdbus", ["monitor", "--address", bus.address, "--dest", service], environment: Programs.environment()
        ) { line in
            last.lines.withLock { $0 += 1 }
            // /org/example/Pouring1: org.example.Pouring1.PouredOut (int64 17, 'xxx…
            let head = String(decoding: line.prefix(200), as: UTF8.self)
            guard let start = head.firstRange(of: "(int64 ")?.upperBound else { return }
            let text = head[start...].prefix { $0.isNumber }
            if let number = Int(text) { last.number.withLock { $0 = max($0, number) } }
        }
    }
    func isListening() async throws {
        _ = await eventually { last.lines.withLock { $0 } > 1 }
    }
}
